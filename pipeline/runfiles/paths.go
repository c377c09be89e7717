package runfiles

import (
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
	if _, ok := account.ShardOf(output); ok { // within the folder, under a name that query engines ignore
		return disk.Join(output, "_run.json")
	}
	return output + ".run.json"
}

// The other files of a run are there only while it needs them. They are in the disk.RunFolder of an output; for one in
// object storage, in that of storage.Local. There are none for standard output, whose paths are "".

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

// ShardStore is the shard's store. Each shard has a store of its own, since machines cannot share one: in the folder of the
// shard (that of storage.Local for a URL), or a file of the shard's name in dir.
func ShardStore(s account.Shard, dir, output string) string {
	if dir == "" {
		return filepath.Join(storage.Local(output), account.ShardStore)
	}
	return filepath.Join(dir, s.Folder()+".db")
}

// SeenFrom is a path relative to the folder of an output. So a file has the same path whether its name
// is relative or absolute, and keeps the path when the folder moves with all its files.
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

// FromOutput is the path of an input, from the one that SeenFrom has given.
func FromOutput(output, path string) string {
	if local := filepath.FromSlash(path); !storage.IsURL(path) && !filepath.IsAbs(local) {
		return filepath.Join(filepath.Dir(storage.Local(output)), local)
	}
	return path
}

// IsFile reports whether an input is a file of the machine.
func IsFile(path string) bool {
	return path != "-" && path != reader.InMemory && !storage.IsURL(path)
}
