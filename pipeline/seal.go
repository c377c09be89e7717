package pipeline

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
)

// Accounts and manifests carry a checksum of themselves: a figure that the disk has
// changed must not go on into the next ones.

// errSeal says that a file is not as it was written.
var errSeal = errors.New("it is damaged: its checksum is not that of its content")

// seal is the checksum of a value whose own checksum is empty.
func seal(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return "" // cannot happen: strings, numbers and times
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}
