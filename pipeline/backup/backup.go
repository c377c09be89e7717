package backup

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"maps"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bulkcat/bulkcat/client/answers"
)

const (
	// DefaultEvery costs some 40,000 requests a month, and at most the answers of a minute are lost.
	DefaultEvery = time.Minute
	// readBytes are read of the log at a time.
	readBytes = 256 << 10
	// snapshots of the log are tried in a row while compaction removes files.
	snapshots = 5
	// patience is how long Start waits for the place. An answer takes less than a second; the attempts to reach a
	// server that is out take two minutes.
	patience = 5 * time.Second
	// noticeAfter is the time after which Stop says what it waits for.
	noticeAfter = 2 * time.Second
	// stallTimeout is how long Stop waits while the place takes no bytes. A part of an upload over a slow line takes less.
	stallTimeout = time.Minute
)

// Options describe a copy.
type Options struct {
	Place  string        // a folder, or a URL such as s3://bucket/backup
	Dir    string        // of the store
	Every  time.Duration // default DefaultEvery
	Log    *slog.Logger  // for warnings and notices; nil for none
	Notice string        // ends the notice that Stop waits: how the user can end the wait; "" for nothing

	patience time.Duration // default patience
}

// Progress says how far a copy is.
type Progress struct {
	Place  string    `json:"place"`
	Copied time.Time `json:"copied_at,omitzero"` // when the copy had the whole store
	Behind int64     `json:"behind_bytes"`       // of the store that the copy lacks
	Error  string    `json:"error,omitempty"`    // of the last attempt
}

// Backup copies a store while it is open. Only the goroutine that Start has started uses the fields, and Stop after
// that.
type Backup struct {
	options  Options
	store    *answers.Store
	place    place
	identity identity
	owner    string // random, of this Backup

	epoch  int                 // 0 until this Backup owns the copy
	files  map[string][]object // that are at the place, also those that no list names yet
	listed []file              // in the present list
	there  map[string]bool     // names of objects that may be at the place and may be removed once no list names them

	copied time.Time
	err    error // of the last attempt
	done   chan struct{}
	cancel context.CancelCauseFunc
	stall  atomic.Pointer[time.Timer] // ends the last copies; nil before Stop
	ended  sync.WaitGroup
}

// Start makes this process the owner of the copy and begins to copy. The error is a *TakenError, a *ListError, or of
// the options. A place that cannot be reached is a warning, and so are these errors if the place answers late. The
// caller stops the Backup before it closes the store. When ctx ends, no further call of the place is made, and the copy
// stays incomplete.
func Start(ctx context.Context, store *answers.Store, o Options) (*Backup, error) {
	b, err := newBackup(ctx, store, o)
	if err != nil {
		return nil, err
	}
	claimed, late := make(chan error), make(chan struct{})
	b.ended.Go(func() {
		b.err = b.claim()
		isReported := false
		select {
		case claimed <- b.err:
			isReported = isFinal(b.err)
		case <-late:
		}
		if !isReported {
			b.warn(nil)
		}
		b.run()
	})
	select {
	case err := <-claimed:
		if isFinal(err) {
			return nil, err
		}
	case <-time.After(b.options.patience):
		close(late)
		b.options.Log.Warn("the place for the copy of the store does not answer yet, the run goes on", "place", b.place.dir)
	}
	return b, nil
}

func newBackup(ctx context.Context, store *answers.Store, o Options) (*Backup, error) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	o.Every, o.patience = cmp.Or(o.Every, DefaultEvery), cmp.Or(o.patience, patience)
	ctx, cancel := context.WithCancelCause(ctx)
	p, err := openPlace(ctx, o.Place)
	if err != nil {
		cancel(nil)
		return nil, err
	}
	id, err := readIdentity(o.Dir)
	if err != nil {
		cancel(nil)
		return nil, err
	}
	return &Backup{cancel: cancel, options: o, store: store, place: p, identity: id, owner: rand.Text(), done: make(chan struct{})}, nil
}

// isFinal reports whether no further attempt can succeed.
func isFinal(err error) bool {
	_, taken := errors.AsType[*TakenError](err)
	_, other := errors.AsType[*ListError](err)
	return taken || other
}

// run copies until Stop.
func (b *Backup) run() {
	ticker := time.NewTicker(b.options.Every)
	defer ticker.Stop()
	for !isFinal(b.err) {
		b.attempt()
		select {
		case <-ticker.C:
		case <-b.done:
			return
		}
	}
}

// Stop copies what is new, and ends the Backup.
func (b *Backup) Stop() Progress {
	defer time.AfterFunc(noticeAfter, func() { b.options.Log.Info("waiting until the store is copied"+b.options.Notice, "to", b.place.dir) }).Stop()
	stall := time.AfterFunc(stallTimeout, func() { b.cancel(errStalled) })
	b.stall.Store(stall)
	defer b.cancel(nil)
	defer stall.Stop()
	close(b.done)
	waited := time.Now()
	b.ended.Wait()
	// An attempt that has just failed, after its own retries, need not be repeated.
	if b.err == nil || !isFinal(b.err) && time.Since(waited) < noticeAfter {
		b.attempt()
	}
	s := Progress{Place: b.place.dir, Copied: b.copied, Behind: b.behind()}
	if b.err != nil {
		s.Error = b.err.Error()
	}
	if s.Behind > 0 {
		b.options.Log.Warn("the copy of the store is behind", "place", s.Place, "bytes", s.Behind)
	}
	return s
}

// GiveUp ends the calls of the place, and with them a Stop that waits for them. The copy stays incomplete.
func (b *Backup) GiveUp() { b.cancel(errGivenUp) }

// behind is the number of bytes that the present list lacks.
func (b *Backup) behind() (sum int64) {
	listed := make(map[string]int64)
	for _, f := range b.listed {
		listed[f.Name] = sizeOf(f.Objects)
	}
	for _, f := range b.store.LogFiles() {
		sum += max(0, f.Size-listed[f.Name])
	}
	return sum
}

// attempt copies once.
func (b *Backup) attempt() {
	before := b.err
	if b.err = b.copy(); b.err == nil {
		b.copied = time.Now().UTC()
	}
	b.warn(before)
}

// warn logs the first failure in a row, and its end. The error before is that of the last attempt.
func (b *Backup) warn(before error) {
	switch {
	case b.err == nil && before != nil:
		b.options.Log.Info("the store is copied again", "to", b.place.dir)
	case b.err == nil:
	case isFinal(b.err):
		b.options.Log.Warn("the store is no longer copied, the run goes on", "reason", b.err)
	case before == nil:
		b.options.Log.Warn("the store could not be copied, which is tried again", "to", b.place.dir, "reason", b.err)
	}
}

// copy brings the copy up to date.
func (b *Backup) copy() error {
	if b.epoch == 0 {
		if err := b.claim(); err != nil {
			return err
		}
	}
	files, err := b.copyFiles()
	for n := 1; n < snapshots && errors.Is(err, errCompacted); n++ {
		files, err = b.copyFiles()
	}
	if err != nil {
		return err
	}
	if !equalFiles(files, b.listed) {
		err := b.publish(files, b.epoch)
		if errors.Is(err, errLost) {
			b.epoch, b.listed = 0, nil // begin anew
		}
		if err != nil {
			return err
		}
	}
	b.clean()
	return nil
}

// errStalled says why the last copy was given up.
var errStalled = errors.New("the place takes no bytes and the run is over: the next run goes on with the copy")

// errGivenUp says why a copy was given up.
var errGivenUp = errors.New("interrupted while the store was copied: the next run goes on with the copy")

// errLost says that the list was removed, probably with objects.
var errLost = errors.New("the copy was removed meanwhile and begins anew")

// errCompacted says that compaction has removed a file of the log since the snapshot. Its answers are at the end of
// the log, so that a new snapshot has them.
var errCompacted = errors.New("a file of the store was compacted meanwhile")

// copyFiles copies what the log has now.
func (b *Backup) copyFiles() (files []file, err error) {
	copied := make(map[string][]object)
	for _, f := range b.store.LogFiles() {
		objects, err := b.copyFile(f)
		if err != nil {
			return nil, err
		}
		b.files[f.Name], copied[f.Name] = objects, objects
		files = append(files, file{f.Name, objects})
	}
	b.files = copied
	return files, nil
}

// copyFile copies the bytes of a file that are new, in one object with the objects before that are less than twice as
// large; of a file that is full, all bytes.
func (b *Backup) copyFile(f answers.LogFile) ([]object, error) {
	objects := b.files[f.Name]
	from := sizeOf(objects)
	if from > f.Size { // the store has lost the end of the file
		objects, from = nil, 0
	}
	if from == f.Size && (!f.Closed || len(objects) == 1) {
		return objects, nil
	}
	keep := len(objects)
	for ; keep > 0 && (f.Closed || objects[keep-1].Size < 2*(f.Size-from)); keep-- {
		from -= objects[keep-1].Size
	}
	o := object{Name: objectName(f.Name, from, f.Size, b.epoch), Size: f.Size - from}
	sum := sha256.New()
	b.there[o.Name] = true
	err := b.place.put(o.Name, func(w io.Writer) (int64, error) { return b.read(f.Name, from, f.Size, io.MultiWriter(w, sum)) })
	if err != nil {
		return nil, err
	}
	o.SHA256 = hex.EncodeToString(sum.Sum(nil))
	return append(objects[:keep:keep], o), nil
}

// read writes bytes of a file of the log to w.
func (b *Backup) read(name string, from, to int64, w io.Writer) (n int64, err error) {
	memory := make([]byte, min(readBytes, to-from))
	for from+n < to {
		more, err := b.store.ReadLog(name, memory[:min(int64(len(memory)), to-from-n)], from+n)
		if errors.Is(err, fs.ErrNotExist) {
			err = errCompacted
		} else if err == nil && more == 0 {
			err = io.ErrUnexpectedEOF
		}
		if err != nil {
			return n, err
		}
		if _, err := w.Write(memory[:more]); err != nil {
			return n, err
		}
		n += int64(more)
		if stall := b.stall.Load(); stall != nil {
			stall.Reset(stallTimeout)
		}
	}
	return n, nil
}

// clean removes the objects that the present list does not name. An object that cannot be removed is tried again
// after the next list.
func (b *Backup) clean() {
	unnamed := maps.Clone(b.there)
	for _, f := range b.listed {
		for _, o := range f.Objects {
			delete(unnamed, o.Name)
		}
	}
	for name := range unnamed {
		if b.place.remove(name) {
			delete(b.there, name)
		}
	}
}
