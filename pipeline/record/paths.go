package record

import (
	"path/filepath"

	"github.com/bulkcat/bulkcat/pipeline/storage"
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
	if _, ok := ShardOf(output); ok { // within the folder, under a name that query engines ignore
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
