package answers

import (
	"errors"
	"io"
	"io/fs"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/bulkcat/bulkcat/client"
)

const (
	journalExt = ".journal"

	// journalAnswers and, as far as one is not longer, journalBytes of answers are in a pack of the
	// journal, at most.
	journalAnswers = 32 << 10
	journalBytes   = 64 << 20
)

// journal is a file of the answers that have not moved to the segments yet, a pack for each
// commit, and plain. It is named for the end of the segments: one of another name is not
// wanted any more. Its packs have positions as if it were the next segment, so that what is
// left of an older journal in the same file is none.
type journal struct {
	files segments // one
}

// open opens the journal behind the segments' end. One that begins before it is over: the
// program has ended before it could be named anew. The error is a *fileError if there is none,
// or one that begins behind the end, which the database must have forgotten.
func (j *journal) open(end position) error {
	base, name, err := j.look()
	switch {
	case err != nil:
		return err
	case base == 0:
		return &fileError{j.files.name(end, journalExt), fs.ErrNotExist}
	case base > end:
		return &fileError{name, errForgotten}
	case base < end && j.files.readOnly:
		return nil
	case base < end:
		if err := j.rename(name, j.files.name(end, journalExt)); err != nil {
			return err
		}
	}
	return j.begin(end)
}

// errForgotten says that a file is newer than what the database knows.
var errForgotten = errors.New("the database has lost what was written to it last")

// look finds the journal; base is 0 if there is none.
func (j *journal) look() (base position, name string, err error) {
	names, err := j.files.fs.List(j.files.dir)
	if err != nil {
		return 0, "", err
	}
	for _, name := range names {
		if at := parseName(name, journalExt); at != 0 {
			return at, j.files.name(at, journalExt), nil
		}
	}
	return 0, "", nil
}

// begin opens the file of a journal.
func (j *journal) begin(base position) error {
	name := j.files.name(base, journalExt)
	file, err := j.files.open(name)
	if err != nil {
		return err
	}
	j.files.list = []*segment{{segmentState: segmentState{base: base, end: base}, name: name, file: file}}
	return nil
}

func (j *journal) rename(from, to string) error {
	return errors.Join(j.files.fs.Rename(from, to), j.files.syncDir())
}

// beginAnew begins a journal behind a new end of the segments, in the same file: what is
// written over is durable sooner than what a file grows by.
func (j *journal) beginAnew(base position) error {
	g := j.files.list[0]
	name := j.files.name(base, journalExt)
	if err := j.rename(g.name, name); err != nil {
		return err
	}
	g.segmentState, g.name = segmentState{base: base, end: base}, name
	return nil
}

// shrink gives back the space of a journal that is empty, and is closed then.
func (j *journal) shrink() error {
	g := j.files.list[0]
	if info, err := g.file.Stat(); err != nil || info.Size() == 0 {
		return err
	}
	empty := g.name + ".new"
	file, err := j.files.fs.Create(empty, vfs.WriteCategoryUnspecified)
	if err != nil {
		return err
	}
	return errors.Join(file.Close(), j.rename(empty, g.name))
}

// append makes packs durable, which have to be as they lie at the end.
func (j *journal) append(packs []byte) error {
	g := j.files.list[0]
	if _, err := g.file.WriteAt(packs, int64(g.end-g.base)); err != nil {
		return err
	}
	if err := g.file.SyncData(); err != nil {
		return err
	}
	g.end += position(len(packs))
	return j.inPlace()
}

// inPlace says, with a *GoneError, that the journal's file is not under its name any more. A file of
// that name that is shorter belongs to a store that was begun anew there.
func (j *journal) inPlace() error {
	g := j.files.list[0]
	info, err := j.files.fs.Stat(g.name)
	if errors.Is(err, fs.ErrNotExist) || err == nil && info.Size() < int64(g.end-g.base) {
		return &GoneError{Dir: j.files.dir}
	}
	return err
}

// gather visits the packs of a journal that was just opened. What is damaged at the end was
// not written to its end; elsewhere it is told of.
func (j *journal) gather(visit func(*pack) error, damaged func(at position)) error {
	if len(j.files.list) == 0 {
		return nil
	}
	g := j.files.list[0]
	info, err := g.file.Stat()
	if err != nil {
		return &fileError{g.name, err}
	}
	g.end = g.base + position(info.Size())
	from, sound, lost := cursor{segments: &j.files, ahead: farRead}, g.base, []position(nil)
	for at := g.base; ; {
		var p pack // whose memory is the visitor's
		behind, err := from.next(at, &p)
		switch {
		case errors.Is(err, io.EOF):
			g.end = sound
			return nil
		case errors.Is(err, errDamaged):
			lost = append(lost, p.at)
		case err != nil:
			return err
		default:
			for _, at := range lost {
				damaged(at)
			}
			if err := visit(&p); err != nil {
				return err
			}
			sound, lost = behind, nil
		}
		at = behind
	}
}

// gatherRecent finds the answers of the journal.
func (s *Store) gatherRecent() error {
	var newer [][]byte
	err := s.journal.gather(func(p *pack) error {
		for i, value := range p.values {
			key, _, ok := splitValue(value)
			if !ok {
				s.damage.note(s.options, appendPosition(nil, p.at), "", client.Request{})
				continue
			}
			s.recent.add(string(key), value)
			if isNewer(p.marks[i]) {
				newer = append(newer, key)
			}
		}
		return nil
	}, func(at position) { s.damage.note(s.options, appendPosition(nil, at), "", client.Request{}) })
	if err != nil || s.options.ReadOnly {
		return err
	}
	return s.markReplaced(newer, true)
}
