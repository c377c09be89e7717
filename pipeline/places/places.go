// Package places compares the places that a program reads and writes, under any name: no file that is read may be
// written.
package places

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bulkcat/bulkcat/pipeline/storage"
	"github.com/bulkcat/bulkcat/writer"
)

// OverwriteError says that a run would write over a file that it reads.
type OverwriteError struct {
	Input  string
	Target string // the place that is written; may be another name of the input
}

func (e *OverwriteError) Error() string {
	as := ""
	if e.Target != e.Input {
		as = " as " + e.Target
	}
	return fmt.Sprintf("%s is read by this run, which would write over it%s: choose another output", e.Input, as)
}

// Protect makes sure that none of the files that a program reads is one of the files that it writes, under any
// name. Names may be "". The error is an *OverwriteError.
func Protect(written, read []string) error {
	for _, output := range written {
		for _, input := range read {
			if storage.IsURL(output) && storage.IsURL(input) {
				if err := ProtectObject(output, strings.HasSuffix(output, "/"), input); err != nil {
					return err
				}
			}
		}
	}
	return Targets{Files: written}.Protect(read)
}

// Targets are the places that a program writes.
type Targets struct {
	Files   []string   // that are written or replaced
	Folders []string   // in which files are written or replaced
	Opened  []OpenFile // that the program was given open, such as standard output
}

// OpenFile is an open file, whose path is not known.
type OpenFile struct {
	name string // for messages
	info fs.FileInfo
}

// ProtectObject refuses an input that is the output, or lies in the output's folder or the other way round. For a
// pattern, the part before its first special character counts, so that no object has to be listed.
func ProtectObject(target string, isFolder bool, input string) error {
	output := writer.Clean(target)
	if output == writer.Clean(input) {
		return &OverwriteError{Input: input, Target: target}
	}
	at := strings.IndexAny(input, "*?[")
	inFolder := isFolder && strings.HasPrefix(input, output+"/")
	ofFolder := at < 0 && strings.HasSuffix(input, "/") && strings.HasPrefix(output, input)
	matched := false
	if at >= 0 {
		matched, _ = path.Match(input, output) // to open the input gives the error
	}
	if inFolder || ofFolder || matched {
		return &OverwriteError{Input: input, Target: target}
	}
	return nil
}

// RegularFile is the regular file that the shell has opened for a stream, if there is one.
func RegularFile(name string, stream any) []OpenFile {
	file, ok := stream.(*os.File)
	if !ok {
		return nil
	}
	info, err := file.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return nil
	}
	return []OpenFile{{name, info}}
}

// Protect makes sure that no input is a target, under any name, or lies in a target folder. In opened are
// inputs that the program was given open. The error is an *OverwriteError.
func (t Targets) Protect(inputs []string, opened ...OpenFile) error {
	existing := t.existing()
	for _, file := range opened {
		if err := checkSame(file.name, file.info, existing); err != nil {
			return err
		}
	}
	for _, input := range inputs {
		info, err := os.Stat(input)
		if err != nil {
			continue // to open the input gives the error
		}
		if err := checkSame(input, info, existing); err != nil {
			return err
		}
		if err := t.protectWithin(input); err != nil {
			return err
		}
	}
	return nil
}

func checkSame(input string, info fs.FileInfo, targets []OpenFile) error {
	for _, target := range targets {
		if os.SameFile(info, target.info) {
			return &OverwriteError{Input: input, Target: target.name}
		}
	}
	return nil
}

// IsWithin reports whether a file would be in a folder, or in a folder below, if it were created: links among the folders
// of both are followed.
func IsWithin(path, folder string) bool {
	inside, err := os.Stat(folder)
	if err != nil {
		rest, err := filepath.Rel(storage.Resolved(folder), storage.Resolved(path))
		return err == nil && rest != "." && filepath.IsLocal(rest)
	}
	for dir := filepath.Dir(storage.Resolved(path)); ; dir = filepath.Dir(dir) {
		if info, err := os.Stat(dir); err == nil && os.SameFile(info, inside) {
			return true
		}
		if dir == filepath.Dir(dir) {
			return false
		}
	}
}

// protectWithin looks for a target among the folders above an input.
func (t Targets) protectWithin(input string) error {
	path, err := filepath.EvalSymlinks(input)
	if err == nil {
		path, err = filepath.Abs(path)
	}
	if err != nil {
		return nil // to open the input gives the error
	}
	var above []OpenFile
	for dir := filepath.Dir(path); ; dir = filepath.Dir(dir) {
		if info, err := os.Stat(dir); err == nil {
			above = append(above, OpenFile{dir, info})
		}
		if dir == filepath.Dir(dir) {
			break
		}
	}
	for _, folder := range t.Folders {
		if info, err := os.Stat(folder); err == nil && checkSame(input, info, above) != nil {
			return &OverwriteError{Input: input, Target: folder}
		}
	}
	return nil
}

// existing gives the targets that exist, and the files in target folders: one may be a link to an input.
func (t Targets) existing() []OpenFile {
	found := slices.Clone(t.Opened)
	add := func(name string) {
		if info, err := os.Stat(strings.TrimRight(name, "/")); err == nil {
			found = append(found, OpenFile{name, info})
		}
	}
	for _, name := range t.Files {
		add(name)
	}
	for _, folder := range t.Folders {
		add(folder)
		entries, _ := os.ReadDir(folder) // none if the folder does not exist
		for _, e := range entries {
			add(filepath.Join(folder, e.Name()))
		}
	}
	return found
}

// IsSame reports whether two paths name one file, which may not exist yet.
func IsSame(a, b string) bool {
	if storage.Resolved(a) == storage.Resolved(b) {
		return true
	}
	first, err := os.Stat(a)
	second, otherErr := os.Stat(b)
	return errors.Join(err, otherErr) == nil && os.SameFile(first, second)
}

// Place is a file or a folder of this machine that a program writes.
type Place struct {
	What string // such as "the report"
	Path string
}

// ClashError says that two places of a run are one, or that one is within the other.
type ClashError struct {
	Place, Other Place
	Within       bool
}

func (e *ClashError) Error() string {
	relation := "the same as"
	if e.Within {
		relation = "in"
	}
	return fmt.Sprintf("%s %s is %s %s %s: choose another place", e.Place.What, e.Place.Path, relation, e.Other.What, e.Other.Path)
}

// CheckClashes refuses places of which two are one, under any name, or of which one is within the folder of a store. The
// error is a *[ClashError]. The stores are among the places.
func CheckClashes(all, stores []Place) error {
	for i, a := range all {
		for _, store := range stores {
			if a != store && IsWithin(a.Path, store.Path) {
				return &ClashError{Place: a, Other: store, Within: true}
			}
		}
		for _, b := range all[:i] {
			if a != b && IsSame(a.Path, b.Path) {
				return &ClashError{Place: b, Other: a}
			}
		}
	}
	return nil
}
