package main

import (
	"fmt"
	"log/slog"
	"os"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/client/embedded"
	"github.com/bulkcat/bulkcat/client/embedded/page"
)

// serviceFlags say which service answers, and how it is spoken to.
type serviceFlags struct {
	baseURL      string
	apiKeyFile   string
	websiteParam string
	productParam string
	paramIn      string
	timeout      time.Duration
	fetch        page.Mode
}

func (f *serviceFlags) bind(flags *pflag.FlagSet) {
	flags.StringVar(&f.baseURL, "base-url", "", "the hosted service's `URL`; without it the embedded service answers")
	flags.StringVar(&f.apiKeyFile, "api-key-file", "", "read the API key from `FILE` instead of BULKCAT_API_KEY")
	flags.StringVar(&f.websiteParam, "website-param", "url", "`name` of the website operation's input")
	flags.StringVar(&f.productParam, "product-param", "query", "`name` of the product operation's input")
	flags.StringVar(&f.paramIn, "param-in", "query", "`place` of the parameters: query, form or json")
	flags.DurationVar(&f.timeout, "timeout", time.Minute, "for one request, answer included")
}

// bindFetch adds what only the embedded service knows.
func (f *serviceFlags) bindFetch(flags *pflag.FlagSet) {
	f.fetch = page.Auto
	flags.Var(&f.fetch, "fetch", "whether the embedded service reads the pages of websites: auto, always or never")
}

const embeddedNotice = "The embedded service answers, on this machine. To use a hosted one, set BULKCAT_BASE_URL and BULKCAT_API_KEY."

// embeddedURL is where the embedded service lives: no address, for nothing dials it.
const embeddedURL = "http://embedded.invalid"

// service is a client and what is to be known about it.
type service struct {
	*client.HTTP
	source string // names it in stored keys, rows and the account
	hosted bool
}

// open builds the client of the service that the flags choose.
func (f *serviceFlags) open(workers int, log *slog.Logger) (service, error) {
	options := client.Options{
		BaseURL:      f.baseURL,
		WebsiteParam: f.websiteParam,
		ProductParam: f.productParam,
		ParamIn:      client.ParamIn(f.paramIn),
		Timeout:      f.timeout,
		Connections:  workers,
		UserAgent:    "bulkcat/" + version(),
	}
	if f.baseURL == "" {
		return f.openEmbedded(options, log)
	}
	key, err := f.apiKey()
	if err != nil {
		return service{}, err
	}
	options.APIKey = key
	c, err := client.New(options)
	if err != nil {
		return service{}, &usageError{err}
	}
	return service{HTTP: c, source: c.Source(), hosted: true}, nil
}

func (f *serviceFlags) openEmbedded(options client.Options, log *slog.Logger) (service, error) {
	options.BaseURL, options.InProcess = embeddedURL, true
	options.Transport = embedded.New(embedded.Options{
		Fetch:        newFetcher(f.fetch, log),
		WebsiteParam: f.websiteParam,
		ProductParam: f.productParam,
		Logger:       log,
	}).RoundTripper()
	c, err := client.New(options)
	if err != nil {
		return service{}, &usageError{err}
	}
	return service{HTTP: c, source: "embedded"}, nil
}

func newFetcher(mode page.Mode, log *slog.Logger) *page.Fetcher {
	return page.New(page.Options{Mode: mode, UserAgent: page.UserAgent(version()), Logger: log})
}

// apiKey reads the key from the file or the environment; never from a flag's value,
// which every user of the machine can see.
func (f *serviceFlags) apiKey() (string, error) {
	if f.apiKeyFile == "" {
		if key := strings.TrimSpace(os.Getenv("BULKCAT_API_KEY")); key != "" {
			return key, nil
		}
		return "", &usageError{fmt.Errorf("no API key for %s: set BULKCAT_API_KEY or --api-key-file", f.baseURL)}
	}
	text, err := os.ReadFile(f.apiKeyFile)
	if err != nil {
		return "", &usageError{fmt.Errorf("--api-key-file: %w", err)}
	}
	key := strings.TrimSpace(string(text))
	if key == "" || strings.ContainsAny(key, "\r\n") {
		return "", &usageError{fmt.Errorf("--api-key-file: %s must hold one line, the API key", f.apiKeyFile)}
	}
	return key, nil
}
