package telemetry

import (
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/pipeline/notify"
)

// prefix begins the names of the variables that say where telemetry is sent, and with which secrets.
const prefix = "OTEL_EXPORTER_OTLP_"

const (
	defaultTimeout = 10 * time.Second // of a message
	metricsEvery   = time.Minute
	spansEvery     = 5 * time.Second
	// defaultRatio of the records have traces: a run of a million records has a thousand.
	defaultRatio = 0.001
)

// settings reads the variables of OpenTelemetry. A variable that cannot be used is a warning, as the specification says.
type settings struct {
	getenv func(string) string
	log    *slog.Logger
}

// warn tells of a variable. Its value is not in the text, because it may be a secret.
func (s settings) warn(variable string, err error) {
	s.log.Warn("a variable of OpenTelemetry is not used: "+err.Error(), "variable", variable)
}

// get is the value of a variable without white space around it.
func (s settings) get(variable string) string { return strings.TrimSpace(s.getenv(variable)) }

// of is the variable of a signal, such as OTEL_EXPORTER_OTLP_TRACES_ENDPOINT, or else that of all signals, and its value.
func (s settings) of(signal, name string) (variable, value string) {
	variable = prefix + strings.ToUpper(signal) + "_" + name
	if value = s.get(variable); value == "" {
		variable = prefix + name
		value = s.get(variable)
	}
	return variable, value
}

// milliseconds is the duration in a variable; otherwise if there is none.
func (s settings) milliseconds(variable, value string, otherwise time.Duration) time.Duration {
	if value == "" {
		return otherwise
	}
	n, err := strconv.ParseInt(value, 10, 32)
	if err != nil || n <= 0 {
		s.warn(variable, errors.New("it must be a number of milliseconds"))
		return otherwise
	}
	return time.Duration(n) * time.Millisecond
}

// sender makes the sender of a signal; nil if the signal is off.
func (s settings) sender(signal, userAgent string, rootCAs *x509.CertPool) *sender {
	variable, endpoint := s.of(signal, "ENDPOINT")
	exporter := "OTEL_" + strings.ToUpper(signal) + "_EXPORTER"
	switch value := s.get(exporter); {
	case endpoint == "", value == "none":
		return nil
	case value != "" && value != "otlp":
		s.warn(exporter, errors.New("it must be otlp or none: nothing is sent"))
		return nil
	}
	if v, value := s.of(signal, "PROTOCOL"); value != "" && value != "http/protobuf" {
		s.warn(v, errors.New("only http/protobuf is spoken, mostly at port 4318 of a collector: set it and the endpoint, nothing is sent"))
		return nil
	}
	if u, err := url.Parse(endpoint); err == nil && variable == prefix+"ENDPOINT" {
		endpoint = u.JoinPath("v1", signal).String()
	}
	options := notify.Options{URL: endpoint, RootCAs: rootCAs, UserAgent: userAgent, Header: http.Header{"Content-Type": {"application/x-protobuf"}}}
	v, timeout := s.of(signal, "TIMEOUT")
	options.Attempt = s.milliseconds(v, timeout, defaultTimeout)
	v, text := s.of(signal, "HEADERS")
	headers, err := pairs(text)
	if err != nil {
		s.warn(v, err)
	}
	for _, h := range headers {
		options.Header.Set(h[0], h[1])
	}
	v, compression := s.of(signal, "COMPRESSION")
	switch compression {
	case "", "none":
	case "gzip":
		options.Header.Set("Content-Encoding", "gzip")
	default:
		s.warn(v, errors.New("it must be gzip or none"))
	}
	if v, path := s.of(signal, "CERTIFICATE"); path != "" {
		if options.RootCAs, err = client.LoadRootCAs(path); err != nil {
			s.warn(v, fmt.Errorf("%w: nothing is sent", err))
			return nil
		}
	}
	if v, path := s.of(signal, "CLIENT_CERTIFICATE"); path != "" {
		s.warn(v, errors.New("certificates of clients are not supported"))
	}
	notifier, err := notify.New(options)
	if err != nil {
		s.warn(variable, fmt.Errorf("%w: nothing is sent", err))
		return nil
	}
	return &sender{signal: signal, notifier: notifier, timeout: options.Attempt, gzip: compression == "gzip", log: s.log}
}

// pairs reads a list such as "name=value,other=a%20b". The error does not have the text.
func pairs(text string) (list [][2]string, err error) {
	for entry := range strings.SplitSeq(text, ",") {
		name, value, ok := strings.Cut(entry, "=")
		name, value = strings.TrimSpace(name), strings.TrimSpace(value)
		if strings.TrimSpace(entry) == "" {
			continue
		}
		value, escape := url.PathUnescape(value)
		if !ok || name == "" || escape != nil {
			err = errors.New("its entries must be name=value, with a comma between, and % only before two hexadecimal digits: other entries are left out")
			continue
		}
		list = append(list, [2]string{name, value})
	}
	return list, err
}

// sampling says which spans are sent.
type sampling struct {
	run     bool    // that of the run
	records float64 // the share of the records that have a trace, from 0 to 1
}

// sampling reads the sampler. A record has no parent, so its trace is sampled by the ratio; if the parent of the run is
// not sampled, a sampler that is based on the parent samples nothing.
func (s settings) sampling(parent *parent) sampling {
	const sampler, argument = "OTEL_TRACES_SAMPLER", "OTEL_TRACES_SAMPLER_ARG"
	name, ratio := s.get(sampler), 1.0
	if name == "" {
		name, ratio = "parentbased_traceidratio", defaultRatio
	}
	root, based := strings.CutPrefix(name, "parentbased_")
	switch root {
	case "always_on":
	case "always_off":
		ratio = 0
	default:
		if root != "traceidratio" {
			s.warn(sampler, fmt.Errorf("it must be always_on, always_off or traceidratio, or one of these after parentbased_: the ratio is %v", defaultRatio))
			based, ratio = true, defaultRatio
		}
		if text := s.get(argument); text != "" {
			given, err := strconv.ParseFloat(text, 64)
			if err == nil && given >= 0 && given <= 1 {
				ratio = given
			} else {
				s.warn(argument, fmt.Errorf("it must be a number from 0 to 1: the ratio is %v", ratio))
			}
		}
	}
	if based && parent != nil {
		if !parent.sampled {
			return sampling{}
		}
		return sampling{true, ratio}
	}
	return sampling{ratio > 0, ratio}
}

// bound is such that a number of 63 random bits is less with the probability of the ratio.
func (s sampling) bound() uint64 { return uint64(s.records * (math.MaxInt64 + 1)) }
