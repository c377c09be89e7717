// Package places makes sure that a program does not write a file that it reads. It compares files, not names: links to a file
// are the same place.
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
	"github.com/bulkcat/bulkcat/writer/disk"
)

// OverwriteError says that a run would overwrite a file that it reads.
type OverwriteError struct {
	Input  string
	Target string // what is written; may be another name of Input
}

func (e *OverwriteError) Error() string {
	as := ""
	if e.Target != e.Input {
		as = " as " + e.Target
	}
	return fmt.Sprintf("%s is read by this run, which would write over it%s: choose another output", e.Input, as)
}

// Protect returns an *OverwriteError if a program writes a file that it reads, under any name. Names may be URLs of objects or "".
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

// Targets are the files and folders that a program writes.
type Targets struct {
	Files   []string   // written or replaced
	Folders []string   // files are written or replaced in them
	Opened  []OpenFile // opened by the caller of the program, such as standard output
}

// OpenFile is an open file with an unknown path.
type OpenFile struct {
	name string // for messages
	info fs.FileInfo
}

// ProtectObject returns an *OverwriteError if the target is the input, is a folder that has the input, is in the folder of the
// input, or matches the pattern of the input. It compares URLs, and lists no objects.
func ProtectObject(target string, isFolder bool, input string) error {
	output := disk.Clean(target)
	if output == disk.Clean(input) {
		return &OverwriteError{Input: input, Target: target}
	}
	at := strings.IndexAny(input, "*?[")
	inFolder := isFolder && strings.HasPrefix(input, output+"/")
	ofFolder := at < 0 && strings.HasSuffix(input, "/") && strings.HasPrefix(output, input)
	matched := false
	if at >= 0 {
		matched, _ = path.Match(input, output) // opening the input reports a bad pattern
	}
	if inFolder || ofFolder || matched {
		return &OverwriteError{Input: input, Target: target}
	}
	return nil
}

// RegularFile returns the stream if it is a regular file, such as standard output that the shell has redirected; otherwise nil.
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

// Protect returns an *OverwriteError if an input is a target, under any name, or is in a target folder. opened are inputs that
// the caller of the program has opened.
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
			continue // opening the input reports the error
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

// IsWithin reports whether a path is below a folder. Both may not exist yet, or be URLs. Links in the folders of both are followed.
func IsWithin(path, folder string) bool {
	if storage.IsURL(path) || storage.IsURL(folder) {
		return strings.HasPrefix(path+"/", folder+"/")
	}
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

// protectWithin returns an *OverwriteError if one of the folders above the input is a target.
func (t Targets) protectWithin(input string) error {
	path, err := filepath.EvalSymlinks(input)
	if err != nil {
		return nil // opening the input reports the error
	}
	for _, folder := range t.Folders {
		if IsWithin(path, folder) {
			return &OverwriteError{Input: input, Target: folder}
		}
	}
	return nil
}

// existing returns the targets that exist, and the files in target folders: a file may be a link to an input.
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
		entries, _ := os.ReadDir(folder) // no entries if the folder does not exist
		for _, e := range entries {
			add(filepath.Join(folder, e.Name()))
		}
	}
	return found
}

// IsSame reports whether two paths name the same file. The file may not exist yet.
func IsSame(a, b string) bool {
	if storage.Resolved(a) == storage.Resolved(b) {
		return true
	}
	first, err := os.Stat(a)
	second, otherErr := os.Stat(b)
	return errors.Join(err, otherErr) == nil && os.SameFile(first, second)
}

// Place is a local file or folder that a program writes.
type Place struct {
	What string // such as "the report"
	Path string
}

// ClashError says that two places of a run are the same, or that Place is within Other.
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

// CheckClashes returns a *[ClashError] if two places are the same, under any name, or if a place is within a store. all
// includes the stores.
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
