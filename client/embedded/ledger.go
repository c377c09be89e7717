package embedded

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"sync"
	"time"
)

// saveEvery is the interval between saves of the used quota: a crash loses at most one second of
// usage, and a sync of the disk every second costs little.
const saveEvery = time.Second

// NoteStore keeps notes by name. *answers.Store and *answers.NoteFile implement it. No other process may change the notes of an
// open Ledger.
type NoteStore interface {
	Path() string
	// Notes returns all notes whose names begin with prefix, by name.
	Notes(prefix string) (map[string][]byte, error)
	// PutNotes makes all or none of the notes durable. Each replaces the note of the same name.
	PutNotes(notes map[string][]byte) error
}

// Ledger keeps the used quota of API keys in the notes of a store: one note for each key, named by the salted digest of the
// key, and one note with the salt. Keys that are not accepted keep their notes.
type Ledger struct {
	store NoteStore
	salt  salt // of the digests

	saving sync.Mutex       // held while notes are written
	used   map[digest]usage // the content of the notes
}

const (
	notePrefix = "used quota "
	saltNote   = notePrefix + "salt"
)

// LedgerError says that a note of used quota is missing or damaged: the usage of some keys is unknown.
type LedgerError struct {
	Path    string // of the store
	Note    string
	Problem string
}

func (e *LedgerError) Error() string {
	return fmt.Sprintf("the store %s does not tell the used quota of API keys: the note %q %s: restore a copy of the store, or choose another file, in which no key has used any quota (bulkcat store import adds the answers of a store)", e.Path, e.Note, e.Problem)
}

// OpenLedger reads the notes of used quota in a store. In a store without such notes, it writes a new salt. The error is a
// *LedgerError or an error of the store.
func OpenLedger(store NoteStore) (*Ledger, error) {
	notes, err := store.Notes(notePrefix)
	if err != nil {
		return nil, err
	}
	l := &Ledger{store: store, used: make(map[digest]usage)}
	if len(notes) == 0 {
		l.salt = newSalt()
		return l, store.PutNotes(map[string][]byte{saltNote: l.salt[:]})
	}
	salted, ok := notes[saltNote]
	switch {
	case !ok:
		return nil, &LedgerError{store.Path(), saltNote, "is missing, and without this note the other notes belong to no key"}
	case len(salted) != len(l.salt):
		return nil, &LedgerError{store.Path(), saltNote, "is damaged, and without this note the other notes belong to no key"}
	}
	l.salt = salt(salted)
	delete(notes, saltNote)
	for name, body := range notes {
		d, used, ok := parseNote(name, body)
		if !ok {
			return nil, &LedgerError{store.Path(), name, "is damaged"}
		}
		l.used[d] = used
	}
	return l, nil
}

// note returns the name and the body of a key's note.
func note(d digest, used usage) (name string, body []byte) {
	return notePrefix + d.String(), marshal(noteBody{used.answers, used.last})
}

type noteBody struct {
	Answers   int64 `json:"answers"`    // in the period of ChargedAt
	ChargedAt int64 `json:"charged_at"` // Unix seconds of the last answer
}

// parseNote is the inverse of note. ok is false if note would not write the same bytes.
func parseNote(name string, body []byte) (d digest, used usage, ok bool) {
	var b noteBody
	sum, err := hex.DecodeString(strings.TrimPrefix(name, notePrefix))
	if err != nil || len(sum) != len(d) || json.Unmarshal(body, &b) != nil || b.Answers < 0 || b.ChargedAt < 0 {
		return d, used, false
	}
	d, used = digest(sum), usage{b.Answers, b.ChargedAt}
	nameAgain, bodyAgain := note(d, used)
	return d, used, name == nameAgain && bytes.Equal(body, bodyAgain)
}

// usedBy returns the usage in a key's note.
func (l *Ledger) usedBy(d digest) usage {
	l.saving.Lock()
	defer l.saving.Unlock()
	return l.used[d]
}

// save writes the notes whose usage has changed. After an error, the next save writes them again.
func (l *Ledger) save(keys []*Key) error {
	l.saving.Lock()
	defer l.saving.Unlock()
	return l.put(keys, func(notes map[string][]byte) error {
		if len(notes) == 0 {
			return nil
		}
		return l.store.PutNotes(notes)
	})
}

// charge charges the keys, and passes the changed notes to commit.
func (l *Ledger) charge(keys []*Key, commit func(notes map[string][]byte) error) error {
	l.saving.Lock() // no save between the charge and the commit
	defer l.saving.Unlock()
	chargeAll(keys)
	return l.put(keys, commit)
}

func (l *Ledger) put(keys []*Key, commit func(notes map[string][]byte) error) error {
	changed, notes := make(map[digest]usage), make(map[string][]byte)
	for _, k := range keys {
		if used := k.usage(); used != l.used[k.digest] {
			name, body := note(k.digest, used)
			changed[k.digest], notes[name] = used, body
		}
	}
	err := commit(notes)
	if err == nil {
		maps.Copy(l.used, changed)
	}
	return err
}
