package main

import (
	"net/http"
	"net/http/httptest"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// reply is a response of a service of the scripts.
type reply struct {
	status        int
	wait          time.Duration
	charset, body string // CLASS in the body stands for the classification
}

// replyForm is how a script writes a reply, and how often it comes: [N*]STATUS [wait=DURATION] [charset=NAME] [BODY].
var replyForm = regexp.MustCompile(`^(?:(\d+)\*)?(\d+)(?: wait=(\S+))?(?: charset=(\S+))?(?: (.*))?$`)

// cmdReplies starts a service that gives one reply after another, the last for ever, and has no usage operation.
func cmdReplies(ts *testscript.TestScript, _ bool, args []string) {
	var list []reply
	for _, arg := range args {
		parts := replyForm.FindStringSubmatch(arg)
		if parts == nil {
			ts.Fatalf("not a reply: %s", arg)
		}
		r := reply{charset: parts[4], body: parts[5]}
		r.status, _ = strconv.Atoi(parts[2])
		r.wait, _ = time.ParseDuration(parts[3])
		times, _ := strconv.Atoi(parts[1])
		for range max(1, times) {
			list = append(list, r)
		}
	}
	var requests atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/api/usage" {
			http.NotFound(w, r)
			return
		}
		reply := list[min(int(requests.Add(1)), len(list))-1]
		select {
		case <-time.After(reply.wait):
		case <-r.Context().Done():
		}
		if reply.charset != "" {
			w.Header().Set("Content-Type", "application/json; charset="+reply.charset)
		}
		w.WriteHeader(reply.status)
		_, _ = w.Write([]byte(strings.ReplaceAll(reply.body, "CLASS", r.URL.Query().Get("classification"))))
	}))
	ts.Defer(server.Close)
	ts.Setenv("BULKCAT_BASE_URL", server.URL)
	ts.Setenv("BULKCAT_API_KEY", ts.Getenv("KEY"))
}
