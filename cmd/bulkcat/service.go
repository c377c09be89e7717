package main

import (
	"bytes"
	"cmp"
	"context"
	"crypto/x509"
	"fmt"
	"log/slog"
	"math"
	"os"
	"strings"
	"time"

	"github.com/spf13/pflag"
	"golang.org/x/time/rate"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/client/embedded"
	"github.com/bulkcat/bulkcat/client/embedded/page"
	"github.com/bulkcat/bulkcat/client/limits"
	"github.com/bulkcat/bulkcat/client/probe"
	"github.com/bulkcat/bulkcat/cmd/bulkcat/internal/terminal"
	"github.com/bulkcat/bulkcat/pipeline"
)

// serviceFlags say which service is asked, and how. The profile has the values that are neither on the command line nor in the
// environment.
type serviceFlags struct {
	client.Options

	flags       *pflag.FlagSet // knows which flags were set
	profilePath string
	profile     probe.Profile
	apiKeyFile  string
	key         string // the result of apiKey: the file may change, and a pipe is read once
	apiKeyFlag  string // the flag of apiKeyFile; "" for --api-key-file
	headers     []string
	headerFile  string
	caFile      string
	fetch       fetchFlags
	keyless     bool // no key is needed, because nothing will be asked
	taxonomies  customFlags
}

// mostTimeout bounds the growth of the default timeout.
const mostTimeout = 2 * time.Minute

const embeddedNotice = "The embedded service answers, on this machine.\nTo use a hosted one, set BULKCAT_BASE_URL and BULKCAT_API_KEY."

// service is an open service.
type service struct {
	pipeline.Service
	Close func()
}

// open opens the service that the flags choose, for a number of requests in flight; 0 for the default of a run.
func (f *serviceFlags) open(ctx context.Context, connections int, log *slog.Logger) (service, error) {
	if err := f.readProfile(ctx, log); err != nil {
		return service{}, &usageError{err}
	}
	options, err := f.clientOptions(ctx, connections)
	if err != nil {
		return service{}, &usageError{err}
	}
	if f.BaseURL == "" {
		return f.openEmbedded(options, log)
	}
	if err := f.taxonomies.checkHosted(); err != nil {
		return service{}, &usageError{err}
	}
	if options.APIKey, err = f.apiKey(ctx); err != nil && !f.keyless {
		return service{}, err
	}
	c, err := client.New(options)
	if err != nil {
		return service{}, &usageError{err}
	}
	terminal.LogLibraries(log, c.Hide)
	hosted := pipeline.HostedService(c)
	hosted.Rate = f.profile.RateLimit
	return service{hosted, c.Close}, nil
}

// clientOptions returns the options of the client, without the key.
func (f *serviceFlags) clientOptions(ctx context.Context, connections int) (client.Options, error) {
	options := f.Options
	if f.flags != nil && !f.flags.Changed("timeout") {
		options.MostTimeout = max(f.Timeout, mostTimeout)
	}
	options.CustomMember = f.profile.CustomMember
	options.Connections = client.MaxConnections(cmp.Or(connections, limits.DefaultInFlight))
	options.UserAgent = "bulkcat/" + version()
	var err error
	if options.Headers, err = f.readHeaders(ctx); err != nil {
		return options, err
	}
	options.RootCAs, err = f.rootCAs(ctx)
	return options, err
}

// rootCAs returns the trusted certificate authorities; nil for the authorities of the system.
func (f *serviceFlags) rootCAs(ctx context.Context) (*x509.CertPool, error) {
	if f.caFile == "" {
		return nil, nil
	}
	return parseSettings(ctx, "--ca-file", f.caFile, client.RootCAs)
}

// readProfile reads the profile, for the values of flags that are not set.
func (f *serviceFlags) readProfile(ctx context.Context, log *slog.Logger) (err error) {
	if f.profilePath == "" {
		return nil
	}
	if f.profile, err = parseSettings(ctx, "--profile", f.profilePath, probe.ParseProfile); err != nil {
		return err
	}
	for _, setting := range []struct {
		flag  string
		value *string
		found string
	}{
		{"base-url", &f.BaseURL, f.profile.BaseURL},
		{"member", &f.Member, f.profile.Member},
		{"param-in", (*string)(&f.ParamIn), string(f.profile.ParamIn)},
	} {
		if setting.found != "" && !f.flags.Lookup(setting.flag).Changed {
			*setting.value = setting.found
		}
	}
	f.WebsiteParam = cmp.Or(f.WebsiteParam, f.profile.WebsiteParam)
	f.ProductParam = cmp.Or(f.ProductParam, f.profile.ProductParam)
	if strings.TrimRight(f.BaseURL, "/") != f.profile.BaseURL {
		log.Warn("the profile is of another service than --base-url", "profile", f.profile.BaseURL)
	}
	return nil
}

// readHeaders returns the headers of the command line, and the secret headers of the file.
func (f *serviceFlags) readHeaders(ctx context.Context) ([]client.Header, error) {
	var headers []client.Header
	for _, text := range f.headers {
		h, err := client.ParseHeader(text)
		if err != nil {
			return nil, fmt.Errorf("--header: %w", err)
		}
		headers = append(headers, h)
	}
	if f.headerFile == "" {
		return headers, nil
	}
	secret, err := parseSettings(ctx, "--header-file", f.headerFile, func(text []byte) ([]client.Header, error) {
		return client.ReadHeaders(bytes.NewReader(text))
	})
	return append(headers, secret...), err
}

// files returns all files that the client or the embedded service reads.
func (f *serviceFlags) files() []string {
	return append(f.taxonomies.files(), f.apiKeyFile, f.headerFile, f.caFile, f.profilePath)
}

func (f *serviceFlags) openEmbedded(options client.Options, log *slog.Logger) (service, error) {
	if err := f.taxonomies.load(log); err != nil {
		return service{}, err
	}
	own := f.taxonomies.service(&f.fetch, log)
	own.WebsiteParam, own.ProductParam = f.WebsiteParam, f.ProductParam
	s := embedded.New(own)
	c, err := s.Client(options)
	if err != nil {
		return service{}, &usageError{err}
	}
	return service{pipeline.Service{Attempter: s, Name: "embedded", Usage: c.Usage, Free: f.fetch.mode == page.Never}, c.Close}, nil
}

// apiKey reads the key from the file or the environment, and sets f.key. There is no flag for the key itself, which would show
// the key to every user of the machine.
func (f *serviceFlags) apiKey(ctx context.Context) (key string, err error) {
	flag := cmp.Or(f.apiKeyFlag, "--api-key-file")
	if f.apiKeyFile != "" {
		f.key, err = readLine(ctx, flag, f.apiKeyFile, "the API key")
		return f.key, err
	}
	if f.key = strings.TrimSpace(os.Getenv("BULKCAT_API_KEY")); f.key == "" {
		err = &usageError{fmt.Errorf("no API key for the service: set BULKCAT_API_KEY or %s", flag)}
	}
	return f.key, err
}

// fetchFlags say how the embedded service reads pages.
type fetchFlags struct {
	mode         page.Mode
	rate         float64 // pages per second
	allowPrivate bool
}

func (f *fetchFlags) fetcher(log *slog.Logger) *page.Fetcher {
	return page.New(page.Options{
		Mode:         f.mode,
		Rate:         rate.Limit(min(f.rate, math.MaxFloat64)),
		AllowPrivate: f.allowPrivate,
		UserAgent:    page.UserAgent(version()),
		Logger:       log,
	})
}
