package backup

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bulkcat/bulkcat/client/answers"
	"github.com/bulkcat/bulkcat/pipeline/storage"
)

const (
	listName   = "store.json"
	listFormat = 1
)

// list describes a copy.
type list struct {
	Format  int       `json:"format"`
	Store   string    `json:"store"` // the identity of the store
	Owner   string    `json:"owner"` // the process that copies
	Epoch   int       `json:"epoch"` // the number of owners until then
	Host    string    `json:"host"`  // of the owner
	Updated time.Time `json:"updated"`
	Files   []file    `json:"files"`
}

// file is a file of the log: its objects follow each other without a gap.
type file struct {
	Name    string   `json:"name"`
	Objects []object `json:"objects"`
}

type object struct {
	Name   string `json:"name"`
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256"`
}

func sizeOf(objects []object) (size int64) {
	for _, o := range objects {
		size += o.Size
	}
	return size
}

func equalFiles(a, b []file) bool {
	return slices.EqualFunc(a, b, func(a, b file) bool { return a.Name == b.Name && slices.Equal(a.Objects, b.Objects) })
}

// objectName is the name of bytes of a file of the log.
func objectName(file string, from, to int64, epoch int) string {
	return fmt.Sprintf("%s.%d-%d.%d", file, from, to, epoch)
}

// epochOf is the epoch in the name of an object; 0 for another name.
func epochOf(name string) int {
	fields := strings.Split(name, ".") // 00000001.log.0-100.1
	if len(fields) != 4 || !answers.IsLogFile(fields[0]+"."+fields[1]) {
		return 0
	}
	epoch, _ := strconv.Atoi(fields[3])
	return epoch
}

// readList returns nil if the place has no list. The error of a file that is no list is a *ListError.
func (p place) readList() (*list, error) {
	text, err := storage.ReadFile(p.ctx, p.path(listName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("the list of the copy: %w", err)
	}
	l := new(list)
	if err := json.Unmarshal(text, l); err != nil {
		return nil, &ListError{Path: p.path(listName), Err: err}
	}
	if l.Format != listFormat || l.Store == "" || l.Owner == "" {
		return nil, &ListError{Path: p.path(listName), Err: fmt.Errorf("its format is %d, not %d", l.Format, listFormat)}
	}
	for _, f := range l.Files { // the names become paths
		if !answers.IsLogFile(f.Name) || slices.ContainsFunc(f.Objects, func(o object) bool { return epochOf(o.Name) == 0 }) {
			return nil, &ListError{Path: p.path(listName), Err: fmt.Errorf("it names %q", f.Name)}
		}
	}
	return l, nil
}

// publish replaces the list, unless its owner is another than the caller takes it for: then check returns the error.
// The draft is made before the list is read, so that it fails if the list is replaced in between.
func (p place) publish(l *list, check func(present *list) error) error {
	text, err := json.Marshal(l)
	if err != nil {
		return err
	}
	lock, err := p.lock()
	if err != nil {
		return err
	}
	defer lock.Release()
	checked := func() error {
		present, err := p.readList()
		if err != nil {
			return err
		}
		return check(present)
	}
	err = p.put(listName, func(w io.Writer) (int64, error) {
		if err := checked(); err != nil {
			return 0, err
		}
		n, err := w.Write(text)
		return int64(n), err
	})
	if errors.Is(err, storage.ErrChanged) {
		if err := checked(); err != nil {
			return err
		}
	}
	return err
}
