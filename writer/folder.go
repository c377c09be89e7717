package writer

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/bulkcat/bulkcat/writer/disk"
)

// SuccessName is the name of the file that marks a complete folder, as with Hadoop. Engines and schedulers wait for it.
const SuccessName = "_SUCCESS"

// folder is the sink of a folder of parts.
type folder struct {
	ctx   context.Context // for the calls of Storage
	opts  Options
	part  *output      // the current part; nil after a failure to start one
	files []File       // published parts
	begin func() error // called before each change of the folder
}

// newFolder creates the folder if it does not exist, and starts a part.
func newFolder(ctx context.Context, o Options) (Sink, error) {
	o.Path = disk.Clean(o.Path)
	if err := o.Storage.Prepare(ctx, o.Path, true); err != nil {
		return nil, disk.Failed("opening", o.Path, err)
	}
	o.Storage.RemoveDrafts(ctx, o.Path, func(name string) bool {
		_, _, isPart := PartOf(name)
		return isPart || name == SuccessName
	})
	if err := remove(ctx, o.Storage, disk.Join(o.Path, absentName)); err != nil { // finds out early whether the storage denies removing
		return nil, disk.Failed("opening", o.Path, err)
	}
	f := &folder{ctx: ctx, opts: o, files: slices.Clone(o.Kept)}
	f.begin = sync.OnceValue(f.beginOnce)
	if err := f.startPart(); err != nil {
		return nil, err
	}
	return f, nil
}

func (f *folder) Write(rows []Row) error {
	for {
		n := f.rowsThatFit(rows)
		if err := f.part.Write(rows[:n]); err != nil {
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

// Close publishes the last part, removes the other parts of earlier runs, and then publishes _SUCCESS.
func (f *folder) Close() (Published, error) {
	if err := f.endLastPart(); err != nil {
		return Published{}, err
	}
	if err := f.removeOldParts(); err != nil {
		return Published{}, disk.Failed("publishing", f.opts.Path, err)
	}
	if f.opts.Check != nil && !disk.IsURL(f.opts.Path) {
		if err := f.opts.Check(f.opts.Path); err != nil {
			return Published{}, err
		}
	}
	if err := disk.PublishIn(f.ctx, f.opts.Storage, disk.Join(f.opts.Path, SuccessName), nil); err != nil {
		return Published{}, err
	}
	published := Published{Files: f.files}
	for _, file := range f.files {
		published.Rows += file.Rows
	}
	return published, nil
}

// Abort discards the current part. The published parts stay. If there are new parts, the folder lacks _SUCCESS: it is not
// complete. Otherwise the folder is unchanged.
func (f *folder) Abort() error {
	if f.part == nil {
		return nil
	}
	return f.part.Abort()
}

// rowsThatFit returns the number of rows that fit into the current part. A part ends after the last row of a record.
func (f *folder) rowsThatFit(rows []Row) int {
	record := f.part.file.LastRecord
	for i := range rows {
		full := f.part.file.Rows+int64(i) >= f.opts.PartRows
		if n := len(f.files); n < len(f.opts.Ends) {
			full = rows[i].Record > f.opts.Ends[n]
		}
		if full && rows[i].Record != record {
			return i
		}
		record = rows[i].Record
	}
	return len(rows)
}

func (f *folder) startPart() error {
	o := f.opts
	o.Path = disk.Join(f.opts.Path, partName(len(f.files)+1, f.opts.Format))
	o.Check, o.OnChange = nil, f.begin
	part, err := newOutput(f.ctx, o)
	if err != nil {
		return err
	}
	f.part = part
	return nil
}

func (f *folder) endPart() error {
	published, err := f.part.Close()
	if err != nil {
		return err
	}
	f.files = append(f.files, published.Files...)
	f.part = nil
	if f.opts.OnPart == nil {
		return nil
	}
	return f.opts.OnPart(published.Files[0])
}

// endLastPart publishes the last part, but discards an empty part after other parts. So a resumed run has the same parts as an
// uninterrupted one.
func (f *folder) endLastPart() error {
	if f.part.file.Rows > 0 || len(f.files) == 0 {
		return f.endPart()
	}
	err := f.part.Abort()
	f.part = nil
	return err
}

// removeOldParts removes the parts of earlier runs, in any format. Engines would read them with the new parts.
func (f *folder) removeOldParts() error {
	ours := make(map[string]bool, len(f.files))
	for _, file := range f.files {
		_, name := disk.Split(file.Path)
		ours[name] = true
	}
	names, err := f.opts.Storage.ReadDir(f.ctx, f.opts.Path)
	if err != nil {
		return err
	}
	for _, name := range names {
		if _, _, isPart := PartOf(name); !isPart || ours[name] {
			continue
		}
		if err := f.begin(); err != nil {
			return err
		}
		if err := f.opts.Storage.Remove(f.ctx, disk.Join(f.opts.Path, name)); err != nil {
			return fmt.Errorf("removing %s, a part of an earlier run: %w", name, disk.Cause(err))
		}
	}
	return nil
}

// beginOnce removes _SUCCESS durably, before the first change of the folder.
func (f *folder) beginOnce() error {
	if err := remove(f.ctx, f.opts.Storage, disk.Join(f.opts.Path, SuccessName)); err != nil {
		return disk.Failed("publishing", f.opts.Path, err)
	}
	if f.opts.OnChange == nil {
		return nil
	}
	return f.opts.OnChange()
}

// absentName is the name of a file that no folder has.
const absentName = "_ABSENT"

// remove removes a file that may be missing.
func remove(ctx context.Context, storage disk.Storage, path string) error {
	err := storage.Remove(ctx, path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// partName returns the name of the n-th part, counted from 1.
func partName(n int, format Format) string { return fmt.Sprintf("part-%05d.%s", n, format) }

// PartOf returns the number of a part, from 1, and its format, by its name in the folder; ok is false for other names.
func PartOf(name string) (n int, format Format, ok bool) {
	rest, ok := strings.CutPrefix(name, "part-")
	digits, extension, _ := strings.Cut(rest, ".")
	n, numberErr := strconv.Atoi(digits)
	format, err := ParseFormat(extension)
	return n, format, ok && numberErr == nil && n > 0 && err == nil && name == partName(n, format)
}
