package record

import (
	"strings"

	"github.com/bulkcat/bulkcat/pipeline/storage"
	"github.com/bulkcat/bulkcat/writer"
)

// AccountPath is the path of the account beside an output, OUTPUT.run.json; "" for standard output,
// which has no account.
func AccountPath(output string) string { return beside(output, ".run.json") }

// The other files beside an output have names as below. For an output in object storage they are beside
// storage.Local.

// JournalPath is the path of the journal beside an output, OUTPUT.run.journal; "" for standard output. The
// journal is JSON lines, but no pattern for inputs, such as *.jsonl, matches its name.
func JournalPath(output string) string { return beside(storage.Local(output), ".run.journal") }

// StatusPath is the path of the status beside an output, OUTPUT.status.json; "" for standard output.
func StatusPath(output string) string { return beside(storage.Local(output), ".status.json") }

func beside(output, suffix string) string {
	if output == "-" {
		return ""
	}
	output = writer.Clean(output)
	if _, ok := ShardOf(output); ok { // within the folder, under a name that query engines ignore
		return writer.Join(output, "_"+strings.TrimPrefix(suffix, "."))
	}
	return output + suffix
}

const (
	manifestName = "_manifest.json"
	shardsName   = "_shards.json"
)

// ManifestPath is the path of the manifest of a folder.
func ManifestPath(folder string) string { return writer.Join(folder, manifestName) }

// ShardsPath is the path of the file that says how the records in a folder are split.
func ShardsPath(folder string) string { return writer.Join(folder, shardsName) }

// SuccessPath is the path of the empty file that says that a folder is complete.
func SuccessPath(folder string) string { return writer.Join(folder, "_SUCCESS") }
