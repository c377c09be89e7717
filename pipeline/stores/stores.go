// Package stores gives a run its store of answers.
//
// The runs whose outputs lie in one folder share the store [Name] there, so that none of them pays for
// what another has paid for. A store is open in one process at a time. A run that finds it in use takes
// the first of Name.2, Name.3, ... that is free. The next run that has [Name] takes the answers of these
// over, of two the newer, and removes them; so it does with OUTPUT.answers, where versions before kept
// the answers of one output. For a command that only visits [Name], runs wait instead.
package stores

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/bulkcat/bulkcat/client/answers"
	"github.com/bulkcat/bulkcat/client/answers/archive"
	"github.com/bulkcat/bulkcat/writer"
)

// Name is the folder of the shared store, beside the output.
const Name = "bulkcat.answers"

// Options describe the store of a run.
type Options struct {
	answers.Options // Dir is the store that the user has named, and that store only; "" for the shared one

	Output string       // beside which the shared store lies
	Log    *slog.Logger // told which stores are not seen, and which are taken over; nil for none
}

// Store is a store that this package has opened.
type Store struct {
	*answers.Store
	Dir string

	options Options
	isNew   bool         // it was not there before
	visit   *writer.Lock // nil in a run
}

// Open opens the store of a run. The errors are those of answers.Open, and ctx's.
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

// Look visits the store that Open would open, only to read it: the first one that is there.
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

// visited ends the name of the lock that a visitor of a store holds.
const visited = ".visited"

// Visit opens a store for a command that is no run, and will end soon.
func Visit(o answers.Options) (*Store, error) {
	visit, _ := writer.TryLock(filepath.Clean(o.Dir) + visited) // without it runs do not wait
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

// places are the shared store, the output's own of earlier versions, "" if there is none, and the numbered
// ones.
func (o Options) places() (shared, own string, numbered []string) {
	output := filepath.Clean(o.Output)
	folder := filepath.Dir(output)
	shared = filepath.Join(folder, Name)
	if info, err := os.Stat(output + ".answers"); err == nil && info.IsDir() && output+".answers" != shared {
		own = output + ".answers"
	}
	entries, _ := os.ReadDir(folder) // to open the shared one says why it cannot be read
	for _, e := range entries {
		rest, ok := strings.CutPrefix(e.Name(), Name+".")
		if n, err := strconv.Atoi(rest); ok && err == nil && n > 1 && e.IsDir() {
			numbered = append(numbered, filepath.Join(folder, e.Name()))
		}
	}
	return shared, own, numbered
}

// Folders are all that Open may write to, or remove.
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

// await opens a store, after visitors of the shared one have left.
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

// errVisited says that the shared store is not a run's, and will be free soon.
var errVisited = errors.New("the store is visited")

// visitPoll is how long a run waits before it looks again: most visits are shorter.
const visitPoll = 100 * time.Millisecond

// openFree opens the shared store, or the first numbered one that no process holds. A run that asks for
// nothing has to have the shared one.
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

// openNew opens a store, and knows whether it was there.
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

// takeOver adds the answers of another store, if dir names one, and removes that. One that another run
// holds is left to it, and one that is damaged stays. A kill in between leaves the answers in both.
func (s *Store) takeOver(ctx context.Context, dir string) error {
	if dir == "" {
		return nil
	}
	from, err := answers.Open(answers.Options{Dir: dir, Source: s.options.Source, ReadOnly: true})
	if _, missing := errors.AsType[*answers.MissingError](err); missing {
		return nil // another folder of that name
	}
	log := s.options.Log.With("store", dir)
	if isLocked(err) {
		log.Warn("another run holds this store, so its answers are not seen")
		return nil
	}
	var added archive.Imported
	if err == nil {
		if added, err = s.add(ctx, from); err != nil {
			err = errors.Join(err, from.Close())
		}
	}
	switch {
	case err != nil && ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil:
		log.Warn("the answers of this store are not taken over", "error", err)
		return nil
	}
	log.Info("the answers of this store are taken over, and it is removed", "answers", added.Added+added.Kept)
	return remove(from, dir)
}

// add adds the answers of another store, and the rate learned there unless this one has its own.
func (s *Store) add(ctx context.Context, from *answers.Store) (archive.Imported, error) {
	added, err := archive.Merge(ctx, s.Store, from)
	if err != nil {
		return added, err
	}
	rate, err := from.LearnedRate()
	if mine, _ := s.LearnedRate(); err == nil && rate > 0 && mine == 0 {
		err = s.KeepLearnedRate(rate)
	}
	return added, err
}

// remove closes a store and removes it in one step, so that no process meets half a store.
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

// removed is the name of a store that is being removed.
func removed(shared string) string {
	dir, name := filepath.Split(shared)
	return filepath.Join(dir, "."+name+".removed")
}

// Overlapped says whether another run of the folder may have asked the same meanwhile, with a store of its
// own: of the answers of both, the newer will be left.
func (s *Store) Overlapped() bool {
	_, _, numbered := s.options.places()
	return len(numbered) > 0 && strings.HasPrefix(filepath.Base(s.Dir), Name)
}

// Close closes the store. A shared one that is new, and to which nothing came, is removed.
func (s *Store) Close() error {
	defer s.visit.Release()
	if s.isNew {
		if err := s.Scan(func(answers.Stored) error { return errNotEmpty }); err == nil {
			return remove(s.Store, s.Dir)
		}
	}
	return s.Store.Close()
}

// errNotEmpty ends the scan of a store at its first answer.
var errNotEmpty = errors.New("the store has answers")
