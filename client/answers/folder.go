package answers

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// IsStore reports whether a folder is a store, also one of an older format, or one that cannot be read.
func IsStore(dir string) bool {
	if info, err := os.Stat(dir); err != nil || !info.IsDir() { // to list a named pipe would wait for a writer
		return false
	}
	names, err := vfs.Default.List(dir)
	if err != nil {
		return false
	}
	is, err := isStore(vfs.Default, dir, names)
	return is || err != nil
}

// check returns the error of a folder in which no store can be opened. Nothing has changed then.
func (o Options) check() error {
	if info, err := o.FS.Stat(o.Dir); err == nil && !info.IsDir() { // to list a named pipe would wait for a writer
		return &ForeignError{Dir: o.Dir}
	}
	names, err := o.FS.List(o.Dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	is, err := isStore(o.FS, o.Dir, names)
	if err != nil || is {
		return err
	}
	if o.MustExist || o.ReadOnly {
		return &MissingError{Dir: o.Dir}
	}
	if name := foreignFile(names); name != "" {
		return &ForeignError{Dir: o.Dir, Name: name}
	}
	return nil
}

// isStore reports whether a folder with files of these names is a store. The names do not suffice: other programs, too,
// have logs that are named by a number of eight digits, such as a date.
func isStore(files vfs.FS, dir string, names []string) (bool, error) {
	for _, name := range names {
		if strings.HasPrefix(name, "MANIFEST-") {
			return true, nil
		}
		number := parseLogName(name)
		if number == 0 && name != ownerFile {
			continue
		}
		text, err := readStart(files, files.PathJoin(dir, name), len(logHeader))
		if errors.Is(err, fs.ErrNotExist) { // compaction in another process has removed the file
			continue
		}
		if err != nil {
			return false, err
		}
		if number == 0 && isOwner(text) || number != 0 && isLog(number, text) {
			return true, nil
		}
	}
	return false, nil
}

// isLog reports whether a file that begins with text is a log file. The first start of a store may have been killed or
// lost power before all of the header was durable.
func isLog(number uint32, text []byte) bool {
	if bytes.HasPrefix(text, []byte(logTitle)) {
		return true
	}
	written := bytes.TrimRight(text, "\x00")
	return number == 1 && bytes.HasPrefix([]byte(logHeader), written)
}

// isOwner reports whether the text of a file is a process id and no more.
func isOwner(text []byte) bool {
	digits, ends := bytes.CutSuffix(text, []byte("\n"))
	return ends && len(digits) > 0 && len(bytes.Trim(digits, "0123456789")) == 0
}

// readStart reads the first n bytes of a file, or the whole file if it is shorter. It returns nothing for a named pipe.
func readStart(files vfs.FS, name string, n int) ([]byte, error) {
	if info, err := files.Stat(name); err != nil || !info.Mode().IsRegular() {
		return nil, err
	}
	f, err := files.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close() // only read from
	text := make([]byte, n)
	n, err = io.ReadFull(f, text)
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		err = nil
	}
	return text[:n], err
}

// foreignFile returns the name of a file or a folder beside which no store is made; "" if there is none. Hidden files do not
// count, nor does the folder that file systems keep for themselves.
func foreignFile(names []string) string {
	for _, name := range names {
		switch {
		case name == lockFile, name == backupFile:
		case strings.HasPrefix(name, "."), name == "lost+found":
		default:
			return name
		}
	}
	return ""
}

// isOurs reports whether a file is named like one of a store, or like a draft of one.
func isOurs(name string) bool {
	return parseLogName(name) != 0 || name == lockFile || name == ownerFile || name == indexDir || name == backupFile ||
		strings.HasPrefix(name, "."+backupFile)
}

// CheckFolder returns a *ForeignError unless a store may be made at dir: there is nothing, an empty folder, or a store.
func CheckFolder(dir string) error {
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if info, err := os.Lstat(dir); err == nil && info.Mode()&fs.ModeSymlink != 0 {
			return &ForeignError{Dir: dir}
		}
		return nil
	case err != nil:
		return err
	case !info.IsDir():
		return &ForeignError{Dir: dir}
	}
	names, _ := vfs.Default.List(dir) // to open the store gives the error
	if name := foreignFile(names); name != "" && !IsStore(dir) {
		return &ForeignError{Dir: dir, Name: name}
	}
	return nil
}

// RemoveFolder removes the folder of a store that no process uses, also of an incomplete one, if it is there. The errors
// are those of CheckRemoval.
func RemoveFolder(dir string) error {
	err := CheckRemoval(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return os.RemoveAll(dir)
}

// CheckRemoval returns a *ForeignError unless dir is a folder, not a link to one, and has no other files than a store,
// whole or not. Hidden files are other files.
func CheckRemoval(dir string) error {
	info, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return &ForeignError{Dir: dir}
	}
	names, err := vfs.Default.List(dir)
	if i := slices.IndexFunc(names, func(name string) bool { return !isOurs(name) }); i >= 0 {
		return &ForeignError{Dir: dir, Name: names[i]}
	}
	return err
}
