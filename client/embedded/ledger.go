package embedded

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"time"
)

// saveEvery is the interval between saves of the used quota: a crash loses at most one second of
// usage, and a sync of the disk every second costs little.
const saveEvery = time.Second

// NoteStore keeps notes by name. *answers.Store and *answers.NoteFile implement it. No other process may change
// the notes of a Ledger meanwhile.
type NoteStore interface {
	Path() string
	// Notes returns the notes whose names begin with prefix, by name.
	Notes(prefix string) (map[string][]byte, error)
	// PutNotes makes notes durable, all or none, each in place of the note of the same name.
	PutNotes(notes map[string][]byte) error
}

// Ledger is the quota that API keys have used, in the notes of a store: a note for each key, under a salted digest of
// the key, and a note with the salt. Keys that are no longer accepted keep their notes.
type Ledger struct {
	store NoteStore
	salt  salt // of the digests

	saving sync.Mutex       // held while notes are put
	used   map[digest]usage // as in the notes
}

const (
	notePrefix = "used quota "
	saltNote   = notePrefix + "salt"
)

// LedgerError says that a note of used quota is missing or damaged, so that it is not known what keys have used.
type LedgerError struct {
	Path    string // of the store
	Note    string
	Problem string
}

func (e *LedgerError) Error() string {
	return fmt.Sprintf("the store %s does not tell what API keys have used: the note %q %s: put a copy of the store in its place, or choose another file, with which keys begin with nothing used (bulkcat store import adds the answers of a store)", e.Path, e.Note, e.Problem)
}

// OpenLedger reads the notes of used quota in a store. A store without such notes gets a salt. The error is a *LedgerError
// or that of the store.
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
		return nil, &LedgerError{store.Path(), saltNote, "is missing, and without it the others belong to no key"}
	case len(salted) != len(l.salt):
		return nil, &LedgerError{store.Path(), saltNote, "is damaged, and without it the others belong to no key"}
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

// note is the name and the body of the note of a key.
func note(d digest, used usage) (name string, body []byte) {
	return notePrefix + d.String(), marshal(noteBody{used.answers, used.last})
}

type noteBody struct {
	Answers   int64 `json:"answers"`    // in the period of the last
	ChargedAt int64 `json:"charged_at"` // Unix seconds of the last
}

// parseNote is the inverse of note; ok is false unless note has written the note.
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

// usedBy is what a key has used, as in its note.
func (l *Ledger) usedBy(d digest) usage {
	l.saving.Lock()
	defer l.saving.Unlock()
	return l.used[d]
}

// save puts the notes of the keys that have changed. After an error the next save puts them again.
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

// charge charges the keys, and passes their notes to commit.
func (l *Ledger) charge(keys []*Key, commit func(notes map[string][]byte) error) error {
	l.saving.Lock() // no other save comes between the charge and the commit
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
		for d, used := range changed {
			l.used[d] = used
		}
	}
	return err
}
