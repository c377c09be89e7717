// Package stores opens the store of a run.
//
// Runs whose outputs lie in one folder share the store [Name] in that folder, so that no request is charged
// twice. A store is open in one process at a time. A run that finds the shared store in use opens a numbered
// store: the first of Name.2, Name.3, ... that is free. The next run that opens the shared store takes over
// the answers of the numbered stores (of two answers the newer) and removes these stores. The same goes for
// OUTPUT.answers, the store of one output in earlier versions. A visit is a short use by a command that is
// no run: runs wait until the visit ends.
package stores

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/bulkcat/bulkcat/client/answers"
	"github.com/bulkcat/bulkcat/writer"
)

// Name is the folder of the shared store, beside the output.
const Name = "bulkcat.answers"

// Options describe the store of a run.
type Options struct {
	answers.Options // Dir is the only store, if the user has named one; "" for the shared store

	Output string       // the shared store lies in its folder
	Log    *slog.Logger // warnings and notices; nil for none
}

// Store is an open store.
type Store struct {
	*answers.Store
	Dir string

	options Options
	isNew   bool         // Open has made the store
	visit   *writer.Lock // nil in a run
}

// Open opens the store of a run, and takes over the answers of other stores. It waits for visits until ctx
// ends. The errors are those of answers.Open, and ctx's cause.
func Open(ctx context.Context, o Options) (*Store, error) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Dir != "" {
		return o.open(o.Dir)
	}
	shared, own, numbered := o.places()
	o.MustExist = o.MustExist && own == "" && len(numbered) == 0
	s, err := o.await(ctx, shared)
	if err != nil {
		return nil, err
	}
	if s.Dir != shared {
		numbered = nil
	}
	_ = os.RemoveAll(removed(shared)) // of a run that was killed while it removed a store
	for _, dir := range append(numbered, own) {
		if err := s.takeOver(ctx, dir); err != nil {
			return nil, errors.Join(err, s.Close())
		}
	}
	return s, nil
}

// Look visits, only to read, the first store that exists among those that Open would read. The error is an
// *answers.MissingError if there is none.
func Look(o Options) (*Store, error) {
	o.ReadOnly = true
	if o.Dir != "" {
		return Visit(o.Options)
	}
	shared, own, numbered := o.places()
	for _, dir := range append([]string{shared, own}, numbered...) {
		if dir == "" {
			continue
		}
		o.Options.Dir = dir
		s, err := Visit(o.Options)
		if _, missing := errors.AsType[*answers.MissingError](err); !missing {
			return s, err
		}
	}
	return nil, &answers.MissingError{Dir: shared}
}

// visited is the end of the name of the lock that is held during a visit.
const visited = ".visited"

// Visit opens a store for a command that is no run. The errors are those of answers.Open.
func Visit(o answers.Options) (*Store, error) {
	visit, _ := writer.TryLock(filepath.Clean(o.Dir) + visited) // without the lock runs do not wait
	s, err := Options{Options: o}.open(o.Dir)
	if err != nil {
		visit.Release()
		return nil, err
	}
	s.visit = visit
	return s, nil
}

func isVisited(dir string) bool {
	l, err := writer.TryLock(dir + visited)
	l.Release()
	_, busy := errors.AsType[*writer.BusyError](err)
	return busy
}

// places are the shared store, the store of the output from earlier versions ("" if there is none), and the
// numbered stores.
func (o Options) places() (shared, own string, numbered []string) {
	output := filepath.Clean(o.Output)
	folder := filepath.Dir(output)
	shared = filepath.Join(folder, Name)
	if info, err := os.Stat(output + ".answers"); err == nil && info.IsDir() && output+".answers" != shared {
		own = output + ".answers"
	}
	entries, _ := os.ReadDir(folder) // to open the shared store gives the error
	for _, e := range entries {
		rest, ok := strings.CutPrefix(e.Name(), Name+".")
		if n, err := strconv.Atoi(rest); ok && err == nil && n > 1 && e.IsDir() {
			numbered = append(numbered, filepath.Join(folder, e.Name()))
		}
	}
	return shared, own, numbered
}

// Folders are all stores that Open may write or remove.
func (o Options) Folders() []string {
	if o.Dir != "" {
		return []string{o.Dir}
	}
	shared, own, numbered := o.places()
	return append(numbered, shared, own)
}

func (o Options) open(dir string) (*Store, error) {
	o.Options.Dir = dir
	store, err := answers.Open(o.Options)
	if err != nil {
		return nil, err
	}
	return &Store{Store: store, Dir: dir, options: o}, nil
}

// await opens a store, after visits of the shared store have ended.
func (o Options) await(ctx context.Context, shared string) (*Store, error) {
	for waits := 0; ; waits++ {
		s, err := o.openFree(shared)
		if err != errVisited {
			return s, err
		}
		if waits == 0 {
			o.Log.Info("another command reads the store: waiting for it", "store", shared)
		}
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-time.After(visitPoll):
		}
	}
}

// errVisited says that the shared store is visited, and will be free soon.
var errVisited = errors.New("the store is visited")

// visitPoll is how long a run waits before it looks again: most visits are shorter.
const visitPoll = 100 * time.Millisecond

// openFree opens the shared store, or the first numbered store that no process holds. A run that asks
// nothing needs the shared store.
func (o Options) openFree(shared string) (*Store, error) {
	gate, err := writer.WaitLock(shared) // no numbered store is removed meanwhile
	if err != nil {
		return nil, err
	}
	defer gate.Release()
	s, err := o.openNew(shared)
	if isLocked(err) && isVisited(shared) {
		return nil, errVisited
	}
	for n := 2; isLocked(err) && !o.MustExist; n++ {
		s, err = o.openNew(shared + "." + strconv.Itoa(n))
	}
	if err == nil && s.Dir != shared {
		o.Log.Warn("another run holds the store of this folder, so its answers are not seen; the next run has the answers of both", "held", shared, "store", s.Dir)
	}
	return s, err
}

// openNew opens a store, and notes whether it existed.
func (o Options) openNew(dir string) (*Store, error) {
	_, err := os.Stat(dir)
	isNew := errors.Is(err, fs.ErrNotExist)
	s, err := o.open(dir)
	if err == nil {
		s.isNew = isNew
	}
	return s, err
}

func isLocked(err error) bool {
	_, locked := errors.AsType[*answers.LockedError](err)
	return locked
}

// takeOver adds the answers of another store, if dir is one, and removes that store. A store that another
// run holds, or that is damaged, stays. After a kill both stores have the answers.
func (s *Store) takeOver(ctx context.Context, dir string) error {
	if dir == "" {
		return nil
	}
	from, err := answers.Open(answers.Options{Dir: dir, Source: s.options.Source, ReadOnly: true})
	if _, missing := errors.AsType[*answers.MissingError](err); missing {
		return nil // the folder is no store
	}
	log := s.options.Log.With("store", dir)
	if isLocked(err) {
		log.Warn("another run holds this store, so its answers are not seen")
		return nil
	}
	var added answers.Imported
	if err == nil {
		if added, err = s.add(ctx, from); err != nil {
			err = errors.Join(err, from.Close())
		}
	}
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil:
		log.Warn("the answers of this store are not taken over", "error", err)
		return nil
	}
	log.Info("the answers of this store are taken over, and the store is removed", "answers", added.Added+added.Kept)
	return remove(from, dir)
}

// add adds the answers of another store, and its learned rate unless this store has one.
func (s *Store) add(ctx context.Context, from *answers.Store) (answers.Imported, error) {
	out, in := io.Pipe()
	exported := make(chan error, 1)
	go func() {
		_, err := from.Export(in)
		in.Close() // the answers that could be read are added
		exported <- err
	}()
	defer context.AfterFunc(ctx, func() { out.Close() })()
	added, err := s.Import(out, "the answers of the other store")
	out.Close() // lets the export end
	if err := errors.Join(err, <-exported); err != nil {
		return added, err
	}
	rate, err := from.LearnedRate()
	if mine, _ := s.LearnedRate(); err == nil && rate > 0 && mine == 0 {
		err = s.KeepLearnedRate(rate)
	}
	return added, err
}

// remove closes a store and removes it in one step, so that no process finds a part of a store.
func remove(store *answers.Store, dir string) error {
	shared := filepath.Join(filepath.Dir(dir), Name)
	gate, err := writer.WaitLock(shared) // no run chooses the store meanwhile
	if err != nil {
		return errors.Join(err, store.Close())
	}
	defer gate.Release()
	if err := store.Close(); err != nil {
		return err
	}
	err = os.RemoveAll(removed(shared))
	if err == nil {
		err = os.Rename(dir, removed(shared))
	}
	if err = errors.Join(err, os.RemoveAll(removed(shared))); err != nil {
		return fmt.Errorf("remove the store %s: %w", dir, err)
	}
	return nil
}

// removed is the name of a store during its removal.
func removed(shared string) string {
	dir, name := filepath.Split(shared)
	return filepath.Join(dir, "."+name+".removed")
}

// Overlapped says whether another run of the folder, with another store, may have asked the same requests
// meanwhile. Of the answers of both, the newer will stay.
func (s *Store) Overlapped() bool {
	_, _, numbered := s.options.places()
	return len(numbered) > 0 && strings.HasPrefix(filepath.Base(s.Dir), Name)
}

// Close closes the store. A shared or numbered store that is new and empty is removed.
func (s *Store) Close() error {
	defer s.visit.Release()
	if s.isNew {
		if n, err := s.Export(full{}); n == 0 && err == nil {
			return remove(s.Store, s.Dir)
		}
	}
	return s.Store.Close()
}

// full refuses all bytes: an export fails at the first answer.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, io.ErrShortWrite }
