package pipeline

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
)

// Accounts and manifests have a checksum of themselves, so that a damaged figure does not get into the next
// account or manifest.

// errSeal says that a file is not as it was written.
var errSeal = errors.New("the file is damaged: its checksum does not match")

// seal is the checksum of a value whose own checksum is empty.
func seal(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return "" // cannot happen: strings, numbers and times
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}
