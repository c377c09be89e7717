package loop

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"time"

	"github.com/bulkcat/bulkcat/client/clienttest"
)

// faults are rare, because each fault costs a wait of up to a quarter of a second, but every cycle has some. No request hangs,
// because the cycle would wait for the client's timeout.
var faults = map[clienttest.Fault]float64{
	clienttest.Error500: 0.005, clienttest.Error503: 0.005, clienttest.Calculating: 0.005,
	clienttest.Reset: 0.005, clienttest.Truncated: 0.005, clienttest.HTML: 0.005, clienttest.Slow: 0.01,
}

// newService starts a service with the given faults; nil for none. Answers depend only on the seed and the input.
func (l *loop) newService(seed uint64, faults map[clienttest.Fault]float64) (*clienttest.Endpoint, error) {
	o := clienttest.Options{Seed: seed, Faults: faults, Missing: 0.03, Latency: time.Millisecond, Jitter: 4 * time.Millisecond}
	if l.Format == Free {
		o.Answer = appendCategory
	}
	return clienttest.NewEndpoint(clienttest.New(o))
}

// answered counts the inputs that were answered, and the answers beyond the first of an input.
func answered(service *clienttest.Endpoint) (inputs, twice int) {
	audit := service.Audit()
	twice = audit.Twice()
	return int(audit.Answers) - twice, twice
}

// cycle is a cycle under way.
type cycle struct {
	*loop
	dir   string
	want  *reference
	kills int
}

// run starts bulkcat until a start is not killed, and checks the files.
func (c *cycle) run(ctx context.Context) error {
	service, err := c.newService(c.want.seed, faults)
	if err != nil {
		return err
	}
	defer service.Close()
	for n, command := range commands(c.Format) {
		if err := c.repeat(ctx, service, command, c.want.statuses[n]); err != nil {
			return fmt.Errorf("%s: %w", command[0], err)
		}
	}
	c.audit(service)
	if c.Format == Free {
		err = checkBound(ctx, c.dir)
	}
	return errors.Join(err, c.complete())
}

// repeat starts a command until a start is not killed.
func (c *cycle) repeat(ctx context.Context, service *clienttest.Endpoint, command []string, status int) error {
	for {
		killed, err := c.start(ctx, service, command, status)
		if err != nil || !killed {
			return err
		}
		c.kills++
		c.report.Bound += Workers + waiting
		if err := c.published(); err != nil {
			return fmt.Errorf("after a kill: %w", err)
		}
	}
}

// start runs bulkcat once, to its end or to a kill.
func (c *cycle) start(ctx context.Context, service *clienttest.Endpoint, command []string, status int) (killed bool, err error) {
	phase := Phases[c.random.IntN(len(Phases))]
	moment := c.moment(phase, service)
	if c.kills == mostKills {
		moment = never
	}
	c.report.Starts++
	if c.kills > 0 {
		c.report.Resumes++
	}
	ended, err := start(ctx, c.Bulkcat, c.dir, command, c.want.input, service.URL(), moment)
	if err != nil {
		return false, fmt.Errorf("a start that was to be killed at its %s: %w", phase, err)
	}
	if ended.killed {
		c.report.Kills[phase]++
		return true, nil
	}
	if ended.status != status {
		return false, fmt.Errorf("exit status %d, but an undisturbed run has %d", ended.status, status)
	}
	return false, nil
}

// published checks that all published files are complete.
func (c *cycle) published() error {
	got, err := readTree(c.dir)
	if err != nil {
		return err
	}
	if _, complete := got[filepath.Join(folder, "_SUCCESS")]; c.Format == Free && !complete {
		return nil // parts of a pass whose audit has failed are written again
	}
	return got.within(c.want.tree)
}

// complete checks that the cycle's folder is equal to the folder of an undisturbed run.
func (c *cycle) complete() error {
	got, err := readTree(c.dir)
	if err != nil {
		return err
	}
	return got.same(c.want.tree)
}

// audit adds the service's counts to the report.
func (c *cycle) audit(service *clienttest.Endpoint) {
	inputs, twice := answered(service)
	twice -= c.want.twice
	c.report.Inputs += inputs
	c.report.Answers += inputs + twice
	c.report.Twice += twice
	if c.kills > 0 {
		c.report.TwiceAKill = max(c.report.TwiceAKill, twice/c.kills)
	}
}

var (
	makers = []string{"Acme", "Borealis", "Corvus", "Dörfler", "Étoile", "Falke"}
	things = []string{"Running Shoes", "Espresso Machine", "Garden Hose", "Desk Lamp", "Wool Blanket", "Bicycle Helmet", "USB Cable"}
	traits = []string{"red", "blue, matte", "10\"", "2-pack", "for children", "refurbished"}
)

// makeInput returns a CSV of n records: product titles, a tenth of them repeated, and some
// invalid rows.
func makeInput(n int, seed uint64) []byte {
	random := rand.New(rand.NewPCG(seed, 0))
	var (
		csv    bytes.Buffer
		titles []string
	)
	csv.WriteString("id,title,price\n")
	for id := 1; id <= n; id++ {
		price := random.IntN(10_000)
		switch x := random.IntN(100); {
		case x < 2:
			fmt.Fprintf(&csv, "%d,,%d\n", id, price) // no title
			continue
		case x < 4:
			fmt.Fprintf(&csv, "%d,one,field,too,many\n", id)
			continue
		case x < 14 && len(titles) > 0:
			writeRecord(&csv, id, titles[random.IntN(len(titles))], price)
			continue
		}
		titles = append(titles, makeTitle(random, id))
		writeRecord(&csv, id, titles[len(titles)-1], price)
	}
	return csv.Bytes()
}

func makeTitle(random *rand.Rand, id int) string {
	pick := func(words []string) string { return words[random.IntN(len(words))] }
	return fmt.Sprintf("%s %s, %s, no. %d", pick(makers), pick(things), pick(traits), id)
}

func writeRecord(csv *bytes.Buffer, id int, title string, price int) {
	fmt.Fprintf(csv, "%d,%s,%d.%02d\n", id, quoted(title), price/100, price%100)
}

// quoted returns a title as a field of CSV.
func quoted(title string) string { return `"` + strings.ReplaceAll(title, `"`, `""`) + `"` }
