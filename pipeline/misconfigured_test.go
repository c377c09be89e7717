package pipeline_test

import (
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/pipeline"
	"github.com/bulkcat/bulkcat/pipeline/internal/flow"
	"github.com/bulkcat/bulkcat/reader"
	"github.com/bulkcat/bulkcat/writer"
)

// roundTrip is a service in memory.
type roundTrip func(w *httptest.ResponseRecorder, r *http.Request) error

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) {
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	w := httptest.NewRecorder()
	if err := f(w, r); err != nil {
		return nil, err
	}
	time.Sleep(5 * time.Millisecond)
	response := w.Result()
	response.Request = r
	return response, nil
}

const (
	toldUsage = `{"plan":"basic","remaining":"100000"}`
	toldPage  = "<!DOCTYPE html><title>Sign in</title>"
)

// respond answers everything with a status and a body, but usage as told, if there is a quota to tell.
func respond(status int, body, told string) roundTrip {
	return func(w *httptest.ResponseRecorder, r *http.Request) error {
		if r.URL.Path == "/api/usage" && told != "" {
			_, err := io.WriteString(w, told)
			return err
		}
		w.Header().Set("Location", "https://elsewhere.example/")
		w.WriteHeader(status)
		_, err := io.WriteString(w, body)
		return err
	}
}

// sound is a service without faults.
func sound(w *httptest.ResponseRecorder, r *http.Request) error {
	if r.URL.Path == "/api/usage" {
		_, err := io.WriteString(w, toldUsage)
		return err
	}
	_, err := io.WriteString(w, `{"product_taxonomy":[{"value":"Home & Garden","confidence":0.5}]}`)
	return err
}

// Wrong settings end a run, whatever the number of its inputs. Nothing is published, nothing is stored, and the run with
// the right settings needs no further option.
func TestWrongSettings(t *testing.T) {
	for _, tt := range []struct {
		name    string
		base    string
		serve   roundTrip
		least   int // inputs by which the settings are recognized; fewer are rejected, and not stored
		message string
	}{
		{"a path too many", "http://service/api/v1", respond(404, `{"message":"not found"}`, ""), 1, "http://service/api/v1 is probably wrong: use http://service"},
		{"the address of the operation", "http://service/x/api/v1/website/categorization", respond(404, `{"message":"not found"}`, ""), 1, "use http://service/x"},
		{"another path", "http://service/v9", respond(404, "404 page not found", ""), 1, "http://service/v9 is probably wrong"},
		{"another host, not found", "http://service", respond(404, toldPage, ""), 1, "http://service is probably wrong"},
		{"not found, but usage is", "http://service", respond(404, toldPage, toldUsage), 1, "Sign in"},
		{"gone", "http://service", respond(410, `{"message":"gone"}`, ""), 1, "http://service is probably wrong"},
		{"a page that asks to sign in", "http://service", respond(200, toldPage, ""), 1, "has never answered"},
		{"a page in place of answers", "http://service", respond(200, toldPage, toldUsage), 1, "a page in place of an answer"},
		{"text in place of answers", "http://service", respond(200, "It works!", ""), 1, "has never answered"},
		{"another shape everywhere", "http://service", respond(200, `{"ok":true}`, ""), 1, "cannot be used"},
		{"a wrong key", "http://service", respond(401, `{"message":"unknown key"}`, ""), 1, "check the API key"},
		{"a key that may not ask", "http://service", respond(403, `{"message":"forbidden"}`, ""), 1, "check the API key"},
		{"a key that may only ask for usage", "http://service", respond(401, `{"message":"forbidden"}`, toldUsage), 1, "check the API key"},
		{"a key that is forbidden to ask", "http://service", respond(403, `{"message":"forbidden"}`, toldUsage), 1, "check the API key"},
		{"another method", "http://service", respond(405, "", ""), 1, "HTTP 405"},
		{"another method, but usage is", "http://service", respond(405, "", toldUsage), 1, "HTTP 405"},
		{"another host, redirected", "http://service", respond(301, "", ""), 1, "redirects to"},
		{"redirected, but usage is not", "http://service", respond(301, "", toldUsage), 1, "redirects to"},
		{"other parameters", "http://service", respond(400, `{"message":"parameter q is missing"}`, toldUsage), 2, "the service rejects every input"},
		{"other parameters, not told", "http://service", respond(422, `{"detail":"Field required"}`, ""), 1, "the service rejects every input"},
		{"other parameters, in a gateway", "http://service", respond(422, toldPage, toldUsage), 1, "the service rejects every input"},
		{"no server", "http://service", func(*httptest.ResponseRecorder, *http.Request) error { return syscall.ECONNREFUSED }, 1, "has never answered"},
	} {
		for _, inputs := range []int{1, 2, 4, 10, 300} {
			t.Run(fmt.Sprintf("%s/%d", tt.name, inputs), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					o := hosted(t, inputs)
					o.Service = hostedService(t, tt.base, tt.serve)
					account, err := runSession(t, o)
					if inputs < tt.least {
						if err != nil || account.Counts.Rejected != int64(inputs) {
							t.Fatalf("%v, %+v", err, account.Counts)
						}
					} else if err == nil || !strings.Contains(err.Error(), tt.message) {
						t.Fatalf("ended with %v, %+v", err, account.Counts)
					}
					if stop, ok := errors.AsType[*pipeline.StopError](err); ok {
						t.Errorf("can be resumed: %v", stop)
					}
					if _, err := os.Stat(o.Output.Path); (err == nil) != (inputs < tt.least) {
						t.Errorf("the output: %v", err)
					}
					o.Service = hostedService(t, "http://service", sound)
					if account, err = runSession(t, o); err != nil || account.Counts.OK != int64(inputs) {
						t.Errorf("with the right settings: %v, %+v", err, account.Counts)
					}
				})
			})
		}
	}
}

// hosted are the options of a session over different products.
func hosted(t *testing.T, inputs int) pipeline.Options {
	input := filepath.Join(t.TempDir(), "in.txt")
	var text strings.Builder
	for i := range inputs {
		fmt.Fprintf(&text, "garden hose %d m\n", i+1)
	}
	if err := os.WriteFile(input, []byte(text.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	o := pipeline.Options{
		Kind: client.Product, Input: reader.Options{Paths: []string{input}}, Conduct: flow.Conduct{Retry: client.DefaultRetryPolicy()},
		Output: pipeline.OutputOptions{Path: filepath.Join(filepath.Dir(input), "out.csv"), Form: writer.Form{Levels: 1}, Carry: "none"},
	}
	o.Limits.Rate, o.Limits.MaxOutage = math.Inf(1), 6*time.Hour
	return o
}

func hostedService(t *testing.T, base string, serve roundTrip) pipeline.Service {
	c, err := client.New(client.Options{BaseURL: base, APIKey: "key", Transport: serve})
	if err != nil {
		t.Fatal(err)
	}
	return pipeline.HostedService(c)
}
