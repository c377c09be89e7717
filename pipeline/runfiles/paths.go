package runfiles

import (
	"io/fs"
	"os"
	"path/filepath"

	"github.com/bulkcat/bulkcat/pipeline/account"
	"github.com/bulkcat/bulkcat/pipeline/storage"
	"github.com/bulkcat/bulkcat/reader"
	"github.com/bulkcat/bulkcat/writer"
	"github.com/bulkcat/bulkcat/writer/disk"
)

// AccountPath is the path of the account beside an output, OUTPUT.run.json; "" for standard output,
// which has no account.
func AccountPath(output string) string {
	if output == "-" {
		return ""
	}
	output = disk.Clean(output)
	if _, ok := account.ShardOf(output); ok { // in the folder of the shard, under a name that query engines ignore
		return disk.Join(output, "_run.json")
	}
	return output + ".run.json"
}

// ToRead is the path of an output that is read. The account of a link lies beside the output that the link leads to, unless
// the link has an account of its own.
func ToRead(output string) string {
	if !IsFile(output) {
		return output
	}
	if _, err := os.Lstat(AccountPath(output)); err == nil {
		return output
	}
	link, err := os.Lstat(disk.Clean(output))
	if err != nil || link.Mode()&fs.ModeSymlink == 0 {
		return output
	}
	if led, err := filepath.EvalSymlinks(output); err == nil {
		return led
	}
	return output
}

// The other files of a run exist only while the run needs them. They are in the disk.RunFolder of the output; for an object, in
// the disk.RunFolder of its storage.Local. Standard output has none of these files, and their paths are "".

// JournalPath is the path of the journal.
func JournalPath(output string) string { return ofRun(output, "journal") }

// StatusPath is the path of the status.
func StatusPath(output string) string { return ofRun(output, "status.json") }

// StdinPath is the path of the copy of standard input.
func StdinPath(output string) string { return ofRun(output, "stdin") }

func ofRun(output, name string) string {
	if output == "-" {
		return ""
	}
	return filepath.Join(disk.RunFolder(storage.Local(output)), name)
}

const (
	manifestName = "_manifest.json"
	shardsName   = "_shards.json"
)

// ManifestPath is the path of the manifest of a folder.
func ManifestPath(folder string) string { return disk.Join(folder, manifestName) }

// ShardsPath is the path of the file that says how the records in a folder are split.
func ShardsPath(folder string) string { return disk.Join(folder, shardsName) }

// SuccessPath is the path of the empty file that says that a folder is complete.
func SuccessPath(folder string) string { return disk.Join(folder, writer.SuccessName) }

// ShardStore is the path of the shard's store. Each shard has a store of its own, since machines cannot share a store: in the
// folder of the shard (for a URL, in its storage.Local), or a file with the shard's name in dir.
func ShardStore(s account.Shard, dir, output string) string {
	if dir == "" {
		return filepath.Join(storage.Local(output), account.ShardStore)
	}
	return filepath.Join(dir, s.Folder()+".db")
}

// SeenFrom returns the path of an input relative to the folder of the output, with slashes. The path does not depend on the
// working folder, and does not change when the folder moves with all its files.
func SeenFrom(output, path string) string {
	if !IsFile(path) {
		return path
	}
	path = storage.Resolved(path)
	if storage.IsURL(output) {
		return filepath.ToSlash(path)
	}
	if seen, err := filepath.Rel(filepath.Dir(storage.Resolved(output)), path); err == nil {
		return filepath.ToSlash(seen)
	}
	return filepath.ToSlash(path) // on another drive
}

// FromOutput returns the path of an input from a result of SeenFrom.
func FromOutput(output, path string) string {
	if local := filepath.FromSlash(path); !storage.IsURL(path) && !filepath.IsAbs(local) {
		return filepath.Join(filepath.Dir(storage.Local(output)), local)
	}
	return path
}

// IsFile reports whether an input is a local file.
func IsFile(path string) bool {
	return path != "-" && path != reader.InMemory && !storage.IsURL(path)
}
