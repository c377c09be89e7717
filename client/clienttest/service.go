package clienttest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"io"
	"math"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Fault is a way in which an attempt fails.
type Fault string

// The faults.
const (
	Error500    Fault = "500"      // HTTP 500
	Error503    Fault = "503"      // HTTP 503
	Calculating Fault = "202"      // HTTP 202: the answer is not ready
	Reset       Fault = "reset"    // the connection is reset before an answer
	Truncated   Fault = "truncate" // the body is shorter than its Content-Length
	HTML        Fault = "html"     // HTTP 200 with an error page
	Slow        Fault = "slow"     // an answer whose body comes in small pieces
	Hang        Fault = "hang"     // no response until the client closes the connection
)

// Options describe the faults and the limits of a service. The zero value has none.
type Options struct {
	Key     string            // accepted API key; "" for any
	Seed    uint64            // of the random choices
	Faults  map[Fault]float64 // fraction of the attempts with a fault, 0 to 1
	Missing float64           // fraction of the inputs that always get a 404, 0 to 1

	Latency time.Duration // of every answer
	Jitter  time.Duration // most additional latency

	Rate       float64 // requests per second; 0 for no limit
	Bucket     int     // size of a burst, in requests
	RetryAfter Style   // of a 429
	RateHeader bool    // send RateLimit and RateLimit-Policy with every answer

	Quota       int64  // answers that the API key may get; 0 for no limit
	QuotaStatus int    // HTTP status of a request beyond Quota
	QuotaBody   string // body of a request beyond Quota
	UsageBroken bool   // /api/usage answers HTTP 500

	Down       func() bool // reports whether there is an outage, usage included; nil for none
	DownStatus int         // HTTP status during an outage; default 503; 403 is a ban
}

// Style is the way in which a 429 reports when to retry.
type Style string

// The styles.
const (
	Absent   Style = ""          // not at all
	Seconds  Style = "seconds"   // Retry-After, a number of seconds
	Date     Style = "date"      // Retry-After, a date
	Body     Style = "body"      // retry_after in a JSON body
	UnixTime Style = "x-reset"   // X-RateLimit-Reset, a Unix time
	IETF     Style = "ratelimit" // RateLimit, with a number of seconds
)

// Server is a faulty service. It is an http.Handler and is safe for concurrent use.
type Server struct {
	options Options

	mu       sync.Mutex
	inputs   map[string]*Record
	arrivals []time.Time // of requests for categories
	refused  int         // requests beyond the rate
	usage    int         // requests for /api/usage
	answered int64       // charged answers
	late     int         // requests beyond the quota
	tokens   float64
	filled   time.Time
}

// Record is the audit of one input.
type Record struct {
	Attempts int // requests for the input
	Answers  int // charged answers
}

// New returns a service.
func New(options Options) *Server {
	return &Server{options: options, inputs: make(map[string]*Record), tokens: float64(options.Bucket)}
}

// Audit counts the requests that a service has received.
type Audit struct {
	Inputs   map[string]Record
	Arrivals []time.Time // of requests for categories, in order
	Refused  int         // requests beyond the rate
	Usage    int         // requests for /api/usage
	Answers  int64       // charged answers
	Late     int         // requests beyond the quota
}

// Audit returns the counts so far.
func (s *Server) Audit() Audit {
	s.mu.Lock()
	defer s.mu.Unlock()
	inputs := make(map[string]Record, len(s.inputs))
	for input, r := range s.inputs {
		inputs[input] = *r
	}
	return Audit{
		Inputs: inputs, Arrivals: append([]time.Time(nil), s.arrivals...),
		Refused: s.refused, Usage: s.usage, Answers: s.answered, Late: s.late,
	}
}

// Refill adds n answers to the quota.
func (s *Server) Refill(n int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.options.Quota += n
}

// Missing reports whether an input always gets a 404.
func (s *Server) Missing(input string) bool {
	return s.chance("missing", input, 0) < s.options.Missing
}

// ServeHTTP answers a request, or fails as the options say.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if s.options.Key != "" && r.Header.Get("X-Api-Key") != s.options.Key {
		reply(w, http.StatusUnauthorized, `{"error":"unknown API key"}`)
		return
	}
	usage := r.URL.Path == "/api/usage"
	if s.options.Down != nil && s.options.Down() {
		if !usage {
			s.arrive(r)
		}
		reply(w, cmp.Or(s.options.DownStatus, http.StatusServiceUnavailable), "<html><body>Come back later</body></html>")
		return
	}
	if usage {
		s.serveUsage(w)
		return
	}
	input, attempt := s.arrive(r)
	if !s.sleep(r, s.options.Latency+time.Duration(s.chance("latency", input, attempt)*float64(s.options.Jitter))) {
		return
	}
	if wait, ok := s.take(w); !ok {
		s.refuse(w, wait)
		return
	}
	if s.exhausted() {
		reply(w, s.options.QuotaStatus, s.options.QuotaBody)
		return
	}
	if s.Missing(input) {
		reply(w, http.StatusNotFound, `{"error":"no such site"}`)
		return
	}
	s.answer(w, r, input, s.fault(input, attempt))
}

func reply(w http.ResponseWriter, status int, body string) {
	w.WriteHeader(status)
	io.WriteString(w, body)
}

// arrive adds a request to the audit and returns its input and the number of the attempt, from 1.
func (s *Server) arrive(r *http.Request) (input string, attempt int) {
	input = r.URL.Query().Get("url") + r.URL.Query().Get("query")
	s.mu.Lock()
	defer s.mu.Unlock()
	s.arrivals = append(s.arrivals, time.Now())
	record, ok := s.inputs[input]
	if !ok {
		record = new(Record)
		s.inputs[input] = record
	}
	record.Attempts++
	return input, record.Attempts
}

// chance returns a number in [0,1) that depends only on the seed and the arguments.
func (s *Server) chance(purpose, input string, attempt int) float64 {
	h := fnv.New64a()
	fmt.Fprintf(h, "%d\x00%s\x00%s\x00%d", s.options.Seed, purpose, input, attempt)
	x := h.Sum64() // the high bits of FNV are weak for short strings: mix them
	x ^= x >> 33
	x *= 0xff51afd7ed558ccd
	x ^= x >> 33
	return float64(x>>11) / (1 << 53)
}

// fault returns the fault of an attempt; "" for none.
func (s *Server) fault(input string, attempt int) Fault {
	x := s.chance("fault", input, attempt)
	for _, f := range []Fault{Error500, Error503, Calculating, Reset, Truncated, HTML, Slow, Hang} {
		if x -= s.options.Faults[f]; x < 0 {
			return f
		}
	}
	return ""
}

// take takes a token of the rate, or returns the wait until there is one.
func (s *Server) take(w http.ResponseWriter) (wait time.Duration, ok bool) {
	if s.options.Rate <= 0 {
		return 0, true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	if !s.filled.IsZero() {
		s.tokens = min(float64(s.options.Bucket), s.tokens+now.Sub(s.filled).Seconds()*s.options.Rate)
	}
	s.filled = now
	if s.options.RateHeader {
		w.Header().Set("RateLimit-Policy", fmt.Sprintf(`"default";q=%d;w=1`, int(s.options.Rate)))
		w.Header().Set("RateLimit", fmt.Sprintf(`"default";r=%d;t=1`, int(s.tokens)))
	}
	if s.tokens < 1 {
		s.refused++
		return time.Duration((1 - s.tokens) / s.options.Rate * float64(time.Second)), false
	}
	s.tokens--
	return 0, true
}

func (s *Server) refuse(w http.ResponseWriter, wait time.Duration) {
	seconds := int(math.Ceil(wait.Seconds()))
	body := `{"error":"too many requests"}`
	switch s.options.RetryAfter {
	case Seconds:
		w.Header().Set("Retry-After", strconv.Itoa(seconds))
	case Date:
		w.Header().Set("Retry-After", time.Now().Add(wait).Add(time.Second-1).UTC().Format(http.TimeFormat))
	case UnixTime:
		w.Header().Set("X-RateLimit-Reset", strconv.FormatInt(time.Now().Add(wait).Unix()+1, 10))
	case IETF:
		w.Header().Set("RateLimit", fmt.Sprintf("limit=%d, remaining=0, reset=%d", int(s.options.Rate), seconds))
	case Body:
		body = fmt.Sprintf(`{"error":"too many requests","retry_after":%d}`, seconds)
	}
	reply(w, http.StatusTooManyRequests, body)
}

func (s *Server) exhausted() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.options.Quota == 0 || s.answered < s.options.Quota {
		return false
	}
	s.late++
	return true
}

func (s *Server) serveUsage(w http.ResponseWriter) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.usage++
	remaining := "unlimited"
	if s.options.Quota > 0 {
		remaining = strconv.FormatInt(max(s.options.Quota-s.answered, 0), 10)
	}
	if s.options.UsageBroken {
		reply(w, http.StatusInternalServerError, "broken")
		return
	}
	fmt.Fprintf(w, `{"plan":"test","remaining":%q}`, remaining)
}

func (s *Server) answer(w http.ResponseWriter, r *http.Request, input string, fault Fault) {
	body := s.sound(r, input)
	switch fault {
	case Error500, Error503, Calculating:
		status, _ := strconv.Atoi(string(fault))
		reply(w, status, `{"error":"try again"}`)
	case HTML:
		w.Header().Set("Content-Type", "text/html")
		reply(w, http.StatusOK, "<html><body>Bad gateway</body></html>")
	case Truncated:
		w.Header().Set("Content-Length", strconv.Itoa(len(body)))
		io.WriteString(w, body[:len(body)/2])
	case Reset:
		reset(w)
	case Hang:
		<-r.Context().Done()
	case Slow:
		for i := 0; i < len(body); i += 16 {
			io.WriteString(w, body[i:min(i+16, len(body))])
			http.NewResponseController(w).Flush()
			if !s.sleep(r, 20*time.Millisecond) {
				return
			}
		}
		s.charge(input)
	default:
		s.charge(input)
		io.WriteString(w, body)
	}
}

// charge counts an answer. Requests in flight may exceed the quota, as with services that count afterwards.
func (s *Server) charge(input string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.inputs[input].Answers++
	s.answered++
}

// sound returns the correct answer to a request, with Value(input) as the first category.
func (s *Server) sound(r *http.Request, input string) string {
	classification := r.URL.Query().Get("classification")
	entries := []map[string]any{{"value": Value(input), "confidence": 0.5}, {"value": "Everything", "confidence": 0.25}}
	if classification == "naics" {
		entries[0]["title"] = "Title of " + input
	}
	body, err := json.Marshal(map[string]any{classification: entries})
	if err != nil {
		return ""
	}
	return string(body)
}

// Value returns the first category of the correct answer to an input.
func Value(input string) string {
	return "About > " + strings.NewReplacer("<", "", ">", "").Replace(input)
}

func reset(w http.ResponseWriter) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		tcp.SetLinger(0) // RST instead of FIN
	}
	conn.Close()
}

// sleep waits, and reports whether the client is still connected.
func (s *Server) sleep(r *http.Request, d time.Duration) bool {
	if d <= 0 {
		return true
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-r.Context().Done():
		return false
	}
}
