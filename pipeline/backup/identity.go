package backup

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/bulkcat/bulkcat/writer"
	"github.com/bulkcat/bulkcat/writer/regular"
)

const (
	identityName = "BACKUP"
	// keptOwners is how many owners of a folder are remembered. One is enough for one place; a store may be copied to
	// several in turn.
	keptOwners = 16
)

// identity distinguishes the store in a folder from others.
type identity struct {
	Store  string   `json:"store"`
	Owners []string `json:"owners"` // that this folder has been or was restored from, the last one last

	Restored bool `json:"restored,omitempty"` // and has not been an owner since
}

// readIdentity makes a new identity for a folder without one.
func readIdentity(dir string) (id identity, err error) {
	text, err := regular.Read(filepath.Join(dir, identityName), 1<<20)
	if errors.Is(err, fs.ErrNotExist) {
		return identity{Store: rand.Text()}, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &id)
	}
	if err != nil {
		return id, fmt.Errorf("the identity of the store cannot be read: %w", err)
	}
	return id, nil
}

// add durably adds an owner.
func (id *identity) add(dir, owner string) error {
	id.Restored = false
	if !slices.Contains(id.Owners, owner) {
		id.Owners = append(id.Owners, owner)
		id.Owners = id.Owners[max(0, len(id.Owners)-keptOwners):]
	}
	return id.write(dir)
}

func (id *identity) write(dir string) error {
	text, err := json.Marshal(id)
	if err != nil {
		return err
	}
	return writer.PublishFile(filepath.Join(dir, identityName), text)
}
