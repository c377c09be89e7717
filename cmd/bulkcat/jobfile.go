package main

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/bulkcat/bulkcat/pipeline/jobs"
)

// setFlags sets the flags that a job names. It leaves out a default that is a flag of only the other kind. The error joins an
// error for each key.
func setFlags(file *jobs.File, job jobs.Job, flags *pflag.FlagSet) error {
	var errs []error
	for _, s := range job.Settings {
		if s.Default && flags.Lookup(s.Key) == nil && isRunFlag(s.Key) {
			continue
		}
		if err := setFlag(flags, s.Key, s.Value); err != nil {
			errs = append(errs, file.ErrorAt(s.Line, "%w", err))
		}
	}
	return errors.Join(errs...)
}

func setFlag(flags *pflag.FlagSet, key string, value any) error {
	if advice := secretAdvice(key, value); advice != "" {
		return fmt.Errorf("%s: a job file holds no secrets: %s", key, advice)
	}
	flag := flags.Lookup(key)
	if flag == nil {
		if other := strings.ReplaceAll(key, "_", "-"); flags.Lookup(other) != nil {
			return fmt.Errorf("unknown key %s: write %s", key, other)
		}
		return fmt.Errorf("unknown key %s: the keys are kind, input and the names of flags", key)
	}
	if list, ok := jobs.Pairs(value); ok && key == jobs.ExpectKey {
		value = list
	}
	values, err := flagTexts(flag.Value.Type(), value)
	if err != nil {
		return fmt.Errorf("%s: %v %w", key, jobs.Quoted(value), err)
	}
	for _, text := range values {
		if err := flags.Set(key, text); err != nil {
			return err
		}
	}
	return nil
}

// flagTexts returns a value as on the command line. A list stands for a flag that is given several times.
func flagTexts(flagType string, value any) ([]string, error) {
	switch flagType {
	case "bool":
		if b, ok := value.(bool); ok {
			return []string{strconv.FormatBool(b)}, nil
		}
		return nil, errors.New("must be true or false")
	case "int", "int64":
		if n, ok := value.(int64); ok {
			return []string{strconv.FormatInt(n, 10)}, nil
		}
		return nil, errors.New("must be a whole number, without quotes")
	case "AMOUNT":
		switch n := value.(type) {
		case int64:
			return []string{strconv.FormatInt(n, 10)}, nil
		case float64:
			return []string{strconv.FormatFloat(n, 'f', -1, 64)}, nil
		}
		return nil, errors.New("must be a number, without quotes")
	case "stringArray":
		if list, ok := jobs.Texts(value); ok {
			return list, nil
		}
		return nil, errors.New("must be a text in quotes, or a list of such texts")
	}
	if text, ok := value.(string); ok {
		return []string{text}, nil
	}
	return nil, errors.New("must be a text in quotes")
}

// secretAdvice says where the secret of a key belongs; "" if the value of the key is no secret.
func secretAdvice(key string, value any) string {
	name := strings.ToLower(strings.ReplaceAll(key, "_", "-"))
	secretIn := func(text string) bool {
		return slices.ContainsFunc([]string{"key", "token", "secret", "password", "authorization", "cookie"}, func(word string) bool {
			return strings.Contains(text, word)
		})
	}
	switch {
	case name == "notify":
		return "set BULKCAT_NOTIFY"
	case name == "notify-secret":
		return "set " + notifySecret
	case name == "header":
		headers, _ := jobs.Texts(value)
		for _, header := range headers {
			header, _, _ = strings.Cut(header, ":")
			if secretIn(strings.ToLower(header)) {
				return "name a file with header-file"
			}
		}
	case secretIn(name) && !strings.HasSuffix(name, "-file"):
		return "set BULKCAT_API_KEY, or name a file with api-key-file"
	}
	return ""
}
