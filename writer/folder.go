package writer

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// successName is the file that says that a folder is complete. Hadoop began with it, and engines and
// schedulers wait for it.
const successName = "_SUCCESS"

// folder is the sink of a folder of parts.
type folder struct {
	fsys  fileSystem
	opts  Options
	part  *output // the one being written; nil if the next could not be started
	files []File  // the parts published so far
	rows  int64   // in them
}

// newFolder makes the folder, if need be, and starts its first part. From here on the folder is not
// complete, whatever it held before.
func newFolder(fsys fileSystem, o Options) (Sink, error) {
	o.Path = filepath.Clean(o.Path)
	if err := makeFolder(fsys, o.Path); err != nil {
		return nil, err
	}
	removeDrafts(fsys, o.Path, isOfFolder)
	if err := removeSuccess(fsys, o.Path); err != nil {
		return nil, failed("opening", o.Path, err)
	}
	f := &folder{fsys: fsys, opts: o, files: slices.Clone(o.Kept)}
	for _, kept := range o.Kept {
		f.rows += kept.Rows
	}
	if err := f.startPart(); err != nil {
		return nil, err
	}
	return f, nil
}

func (f *folder) Write(rows []Row) error {
	for {
		n := f.room(rows)
		if err := f.part.write(rows[:n]); err != nil {
			return err
		}
		if rows = rows[n:]; len(rows) == 0 {
			return nil
		}
		if err := f.endPart(); err != nil {
			return err
		}
		if err := f.startPart(); err != nil {
			return err
		}
	}
}

// Close publishes the last part, removes those of an earlier run that this one has not replaced, and
// then says that the folder is complete.
func (f *folder) Close() (Published, error) {
	if err := f.endLastPart(); err != nil {
		return Published{}, err
	}
	if err := f.removeOldParts(); err != nil {
		return Published{}, failed("publishing", f.opts.Path, err)
	}
	if err := publishFile(f.fsys, filepath.Join(f.opts.Path, successName), nil); err != nil {
		return Published{}, err
	}
	return Published{Files: f.files, Rows: f.rows}, nil
}

// Abort leaves the parts that are published: each is whole, and without _SUCCESS nobody takes them for
// all.
func (f *folder) Abort() error {
	if f.part == nil {
		return nil
	}
	return f.part.discard()
}

// room is how many of rows still go into the part. A part ends between two records, once it is full.
func (f *folder) room(rows []Row) int {
	record := f.part.file.LastRecord
	for i := range rows {
		full := f.part.file.Rows+int64(i) >= f.opts.PartRows
		if full && rows[i].Record != record {
			return i
		}
		record = rows[i].Record
	}
	return len(rows)
}

func (f *folder) startPart() error {
	part, err := newOutput(f.fsys, filepath.Join(f.opts.Path, partName(len(f.files)+1, f.opts.Format)), f.opts)
	if err != nil {
		return err
	}
	f.part = part
	return nil
}

// endPart publishes the part.
func (f *folder) endPart() error {
	file, err := f.part.publish()
	if err != nil {
		return err
	}
	f.files = append(f.files, file)
	f.rows += file.Rows
	f.part = nil
	if f.opts.OnPart == nil {
		return nil
	}
	return f.opts.OnPart(file)
}

// endLastPart publishes the last part, unless nothing has come after those that were kept: a run without
// interruption has no empty part at its end either.
func (f *folder) endLastPart() error {
	if f.part.file.Rows > 0 || len(f.files) == 0 {
		return f.endPart()
	}
	err := f.part.discard()
	f.part = nil
	return err
}

// removeOldParts removes the parts, in any format, that are not of this run. Left in place they would be
// read along with it.
func (f *folder) removeOldParts() error {
	ours := make(map[string]bool, len(f.files))
	for _, file := range f.files {
		ours[filepath.Base(file.Path)] = true
	}
	entries, err := f.fsys.ReadDir(f.opts.Path)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if !isPart(e.Name()) || ours[e.Name()] {
			continue
		}
		if err := f.fsys.Remove(filepath.Join(f.opts.Path, e.Name())); err != nil {
			return fmt.Errorf("removing %s, a part of an earlier run: %w", e.Name(), cause(err))
		}
	}
	return nil
}

// makeFolder makes the folder path unless it is there. The folder it is in has to be.
func makeFolder(fsys fileSystem, path string) error {
	info, err := fsys.Stat(path)
	switch {
	case err == nil && !info.IsDir():
		return failed("opening", path, fmt.Errorf("it is a file, not a folder: %w", syscall.ENOTDIR))
	case err == nil:
		return nil
	case !errors.Is(err, fs.ErrNotExist):
		return failed("opening", path, err)
	}
	if err := checkFolder(fsys, path, filepath.Dir(path)); err != nil {
		return err
	}
	if err := fsys.Mkdir(path); err != nil {
		return failed("opening", path, err)
	}
	return failed("opening", path, fsys.SyncDir(filepath.Dir(path)))
}

// removeSuccess takes back that the folder is complete, durably: it must not be said of the new parts.
func removeSuccess(fsys fileSystem, path string) error {
	err := fsys.Remove(filepath.Join(path, successName))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	}
	return fsys.SyncDir(path)
}

// partName is the name of the n-th part, counted from 1.
func partName(n int, format Format) string { return fmt.Sprintf("part-%05d.%s", n, format) }

// isOfFolder tells whether name is that of a file which makes up the output.
func isOfFolder(name string) bool { return isPart(name) || name == successName }

// isPart tells whether partName may have made name.
func isPart(name string) bool {
	rest, ok := strings.CutPrefix(name, "part-")
	digits, format, _ := strings.Cut(rest, ".")
	n, err := strconv.Atoi(digits)
	if !ok || err != nil {
		return false
	}
	parsed, err := ParseFormat(format)
	return err == nil && name == partName(n, parsed)
}
