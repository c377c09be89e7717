// Package stores opens the store of answers of a run.
//
// All runs with outputs in one folder share the store [Name] in that folder, so that no run pays
// for an answer that another run has paid for. A store is open in one process at a time. A run
// that finds the shared store locked uses the first free numbered store: Name.2, Name.3, ... The
// next run that gets the shared store adds the answers of the numbered stores to it, keeps the
// newer of two answers, and removes the numbered stores. It does the same with OUTPUT.answers,
// the store of one output in earlier versions. A store that is a link, or that has files of the
// user, is kept. Commands that are no runs visit the shared store;
// runs wait for visitors instead of using a numbered store.
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
	"github.com/bulkcat/bulkcat/writer/disk"
)

// Name is the folder of the shared store, beside the output.
const Name = "bulkcat.answers"

// Options describe the store of a run.
type Options struct {
	answers.Options // Dir is a store that the user names; "" for the shared store

	Restore func(dir string) error // makes a store that does not exist, if there is a copy; nil for none

	Output string       // the shared store is in the same folder
	Log    *slog.Logger // for stores whose answers are added or cannot be used; nil for none
}

// Store is an open store.
type Store struct {
	*answers.Store
	Dir string

	options Options
	isNew   bool       // Open has created the store
	visit   *disk.Lock // nil in a run
}

// Open opens the store of a run. Errors are those of [answers.Open] and of ctx.
func Open(ctx context.Context, o Options) (*Store, error) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Dir != "" {
		if err := o.restore(o.Dir); err != nil {
			return nil, err
		}
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
	_ = answers.RemoveFolder(removed(shared)) // left over if a run was killed while it removed a store
	for _, dir := range append(numbered, own) {
		if err := s.takeOver(ctx, dir); err != nil {
			return nil, errors.Join(err, s.Close())
		}
	}
	return s, nil
}

// OpenToRead opens the store that Open would open, the first store that exists, for reading: see [Visit].
func OpenToRead(o Options) (*Store, error) {
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

// visited is the suffix of the lock that a visitor of a store holds.
const visited = ".visited"

// Visit opens a store for a short command that is no run.
func Visit(o answers.Options) (*Store, error) {
	visit, _ := disk.TryLock(filepath.Clean(o.Dir) + visited) // without the lock, runs do not wait
	s, err := Options{Options: o}.open(o.Dir)
	if err != nil {
		visit.Release()
		return nil, err
	}
	s.visit = visit
	return s, nil
}

func isVisited(dir string) bool {
	l, err := disk.TryLock(dir + visited)
	l.Release()
	_, busy := errors.AsType[*disk.BusyError](err)
	return busy
}

// places returns the shared store, the output's own store of earlier versions, "" for none, and
// the numbered stores.
func (o Options) places() (shared, own string, numbered []string) {
	output := filepath.Clean(o.Output)
	folder := filepath.Dir(output)
	shared = filepath.Join(folder, Name)
	if info, err := os.Stat(output + ".answers"); err == nil && info.IsDir() && output+".answers" != shared {
		own = output + ".answers"
	}
	entries, _ := os.ReadDir(folder) // opening the shared store returns the error
	for _, e := range entries {
		rest, ok := strings.CutPrefix(e.Name(), Name+".")
		if n, err := strconv.Atoi(rest); ok && err == nil && n > 1 && e.IsDir() {
			numbered = append(numbered, filepath.Join(folder, e.Name()))
		}
	}
	return shared, own, numbered
}

// Folders are the folders that Open may write to or remove.
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

// await opens the shared or a numbered store after visitors of the shared store have left.
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

// errVisited means that a visitor holds the shared store.
var errVisited = errors.New("the store is visited")

// visitPoll is the interval between attempts to open a visited store; most visits are shorter.
const visitPoll = 100 * time.Millisecond

// openFree opens the shared store, or the first numbered store that no process holds. A run that
// makes no requests needs the shared store.
func (o Options) openFree(shared string) (*Store, error) {
	gate, err := disk.WaitLock(shared) // keeps others from removing numbered stores
	if err != nil {
		return nil, err
	}
	defer gate.Release()
	if err := o.restore(shared); err != nil {
		return nil, err
	}
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

func (o Options) restore(dir string) error {
	if o.Restore == nil || answers.IsStore(dir) {
		return nil
	}
	return o.Restore(dir)
}

// openNew opens a store and records whether the store is new.
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

// takeOver adds the answers of the store in dir, if there is one, and removes that store. It
// skips a store that another run holds, and keeps a damaged store. After a kill in between, both
// stores have the answers.
func (s *Store) takeOver(ctx context.Context, dir string) error {
	if dir == "" {
		return nil
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
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
	log.Info("the answers of this store are taken over", "answers", added.Added+added.Kept)
	return remove(from, dir)
}

// add adds the answers of another store, and the rate learned there unless this one has its own.
func (s *Store) add(ctx context.Context, from *answers.Store) (archive.Imported, error) {
	added, err := archive.Merge(ctx, s.Store, from)
	if err != nil {
		return added, err
	}
	learned, err := from.Learned()
	if mine, _ := s.Learned(); err == nil && learned.Rate > 0 && mine.Rate == 0 {
		err = s.KeepLearned(learned)
	}
	return added, err
}

// remove closes a store and removes it atomically, so that no process finds a part of it. It keeps
// a link, and a store with files of the user.
func remove(store *answers.Store, dir string) error {
	shared := filepath.Join(filepath.Dir(dir), Name)
	gate, err := disk.WaitLock(shared) // keeps runs from choosing the store
	if err != nil {
		return errors.Join(err, store.Close())
	}
	defer gate.Release()
	if err := store.Close(); err != nil {
		return err
	}
	if _, foreign := errors.AsType[*answers.ForeignError](answers.CheckRemoval(dir)); foreign {
		return nil
	}
	err = answers.RemoveFolder(removed(shared))
	if err == nil {
		err = os.Rename(dir, removed(shared))
	}
	if err = errors.Join(err, answers.RemoveFolder(removed(shared))); err != nil {
		return fmt.Errorf("remove the store %s: %w", dir, err)
	}
	return nil
}

// removed is the path that a store is moved to before it is removed.
func removed(shared string) string {
	dir, name := filepath.Split(shared)
	return filepath.Join(dir, "."+name+".removed")
}

// Overlapped reports whether another run in the folder may have made the same requests at the
// same time with another store. The newer of two answers is kept.
func (s *Store) Overlapped() bool {
	_, _, numbered := s.options.places()
	return len(numbered) > 0 && strings.HasPrefix(filepath.Base(s.Dir), Name)
}

// Close closes the store. It removes a shared store that is new and empty.
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
