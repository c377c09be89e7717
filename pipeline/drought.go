package pipeline

import (
	"context"
	"sync"
)

// drought keeps the workers from asking while nothing is left of the account and the
// run waits for more.
type drought struct {
	mu    sync.Mutex
	over  chan struct{} // closed when there is something again; nil while there is
	began chan struct{} // tells the stage that waits, of capacity 1
}

func (d *drought) wait(ctx context.Context) error {
	d.mu.Lock()
	over := d.over
	d.mu.Unlock()
	if over == nil {
		return nil
	}
	select {
	case <-over:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (d *drought) ongoing() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.over != nil
}

// begin closes the gate; say is called by the first only.
func (d *drought) begin(say func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.over != nil {
		return
	}
	say()
	d.over = make(chan struct{})
	select {
	case d.began <- struct{}{}:
	default:
	}
}

func (d *drought) end() {
	d.mu.Lock()
	defer d.mu.Unlock()
	close(d.over)
	d.over = nil
}

// waitForQuota ends each drought when the account has something again.
func (r *run) waitForQuota() error {
	for {
		select {
		case <-r.drought.began:
			if err := r.WaitForQuota(r.soft); err != nil {
				return nil // the run stops
			}
			r.Log.Info("the account has something again")
			r.drought.end()
		case <-r.settled:
			return nil
		case <-r.soft.Done():
			return nil
		}
	}
}
