package backup

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"slices"
	"time"
)

// claim makes this process the owner of the copy.
func (b *Backup) claim() error {
	if err := b.place.prepare(); err != nil {
		return err
	}
	l, err := b.place.readList()
	if err != nil {
		return err
	}
	if l == nil {
		l = new(list)
	} else if err := b.check(l); err != nil {
		return err
	}
	restored := b.identity.Restored
	// Before the list names the owner, so that a process that is killed here does not lose the copy.
	if err := b.identity.add(b.options.Dir, b.owner); err != nil {
		return err
	}
	if err := b.publish(l.Files, l.Epoch+1); err != nil {
		return err
	}
	b.place.storage.RemoveDrafts(b.place.ctx, b.place.dir, func(name string) bool { return name == listName || epochOf(name) > 0 })
	names, err := b.place.storage.ReadDir(b.place.ctx, b.place.dir)
	if err != nil {
		return err
	}
	b.adopt(l, names, restored)
	return nil
}

// adopt takes over the objects of the owner before. The last file is compared with the store, because a loss of power
// may have taken its end from the disk; after a restore all files are, because the owner before may still be alive.
func (b *Backup) adopt(l *list, names []string, restored bool) {
	b.epoch, b.files, b.there = l.Epoch+1, make(map[string][]object), make(map[string]bool)
	present := make(map[string]bool)
	for _, name := range names {
		present[name] = true
		if epoch := epochOf(name); epoch > 0 && epoch < b.epoch {
			b.there[name] = true
		}
	}
	for i, f := range l.Files {
		if missing := slices.IndexFunc(f.Objects, func(o object) bool { return !present[o.Name] }); missing >= 0 {
			f.Objects = f.Objects[:missing:missing]
		}
		if restored || i == len(l.Files)-1 {
			f.Objects = b.sound(f)
		}
		b.files[f.Name] = f.Objects
	}
}

// check returns a *TakenError if a list is not that of an owner that this folder has been.
func (b *Backup) check(present *list) error {
	if present == nil && b.epoch > 0 {
		return errLost
	}
	if present == nil || slices.Contains(b.identity.Owners, present.Owner) {
		return nil
	}
	return &TakenError{
		Place: b.place.dir, Dir: b.options.Dir, Foreign: present.Store != b.identity.Store,
		Host: present.Host, Updated: present.Updated,
	}
}

func (b *Backup) publish(files []file, epoch int) error {
	host, _ := os.Hostname() // for messages
	l := &list{
		Format: listFormat, Store: b.identity.Store, Owner: b.owner, Epoch: epoch,
		Host: host, Updated: time.Now().UTC(), Files: files,
	}
	err := b.place.publish(l, b.check)
	if err == nil {
		b.listed = files
	}
	return err
}

// sound returns the objects of a file, as far as the store has the same bytes.
func (b *Backup) sound(f file) []object {
	from := int64(0)
	for i, o := range f.Objects {
		sum := sha256.New()
		if n, err := b.read(f.Name, from, from+o.Size, sum); err != nil || n != o.Size || hex.EncodeToString(sum.Sum(nil)) != o.SHA256 {
			return f.Objects[:i:i]
		}
		from += o.Size
	}
	return f.Objects
}
