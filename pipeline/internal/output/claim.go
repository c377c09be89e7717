package output

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/bulkcat/bulkcat/pipeline/account"
	"github.com/bulkcat/bulkcat/pipeline/runfiles"
	"github.com/bulkcat/bulkcat/pipeline/storage"
	"github.com/bulkcat/bulkcat/writer/disk"
)

// TakenError says that a run may not replace an output.
type TakenError struct {
	Path    string
	Reason  string
	Changes []account.SettingChange // from the run that wrote the output to this run
}

func (e *TakenError) Error() string { return e.Describe(account.Texts(e.Changes)) }

// Describe returns the text of the error with the given descriptions of Changes.
func (e *TakenError) Describe(changes []string) string {
	text := e.Path + " " + e.Reason
	if len(changes) > 0 {
		text += " (" + strings.Join(changes, "; ") + ")"
	}
	return text
}

// Claim writes the run into the lock of the output. It returns a *TakenError if another run or another program wrote the
// output, unless Overwrite is set. A run may replace its own output: its account or the lock names the run. The lock does so
// even if the run was killed before it wrote its account. Claim does nothing if lock is nil.
func (o *Options) Claim(ctx context.Context, a *account.Account, lock *disk.Lock) error {
	if lock == nil {
		return nil
	}
	if o.IsFolder() {
		switch shards, err := runfiles.ReadShards(ctx, o.Path); {
		case err != nil:
			return err
		case shards != nil:
			return fmt.Errorf("%s has the shards of another run: choose another folder, or remove this one with its answers, which 'bulkcat store import' copies", o.Path)
		}
	}
	if _, err := runfiles.ReadAccount(ctx, runfiles.AccountPath(o.Path)); err != nil && !o.Overwrite {
		return unreadableAccount(o.Path, err) // the file may not be an account
	}
	occupied, err := o.IsOccupied(ctx)
	if err != nil {
		return err
	}
	if !o.Overwrite && occupied && lock.Claimed() != a.RunID() {
		if err := o.checkOwner(ctx, a); err != nil {
			return err
		}
	}
	return lock.Claim(a.RunID())
}

// CheckEmptied returns a *TakenError if the output exists and may have rows. Call it if the input has no records. last is the
// account of the output; it may be nil.
func (o *Options) CheckEmptied(ctx context.Context, last *account.Account) error {
	if o.Overwrite || o.Path == "-" {
		return nil
	}
	occupied, err := o.IsOccupied(ctx)
	if err != nil {
		return err
	}
	if !occupied || last != nil && last.Records() == 0 {
		return nil
	}
	return &TakenError{Path: o.Path, Reason: "has rows, and the input has no records any more"}
}

// CheckFewer returns a *TakenError if records are pending and the new output has fewer outcomes of the service than the
// existing one. before and outcomes are the numbers of outcomes in the existing and in the new output. With Overwrite it
// returns nil.
func (o *Options) CheckFewer(before, outcomes, pending int64) error {
	if o.Overwrite || pending == 0 || outcomes >= before {
		return nil
	}
	return &TakenError{Path: o.Path, Reason: fmt.Sprintf("has %d answers, and there are only %d in the store for the present input", before, outcomes)}
}

// checkOwner returns a *TakenError if another run, or another program, wrote the output.
func (o *Options) checkOwner(ctx context.Context, a *account.Account) error {
	if o.IsFolder() && hasManifest(ctx, disk.Clean(o.Path)) {
		return nil // OpenFolder checks the manifest
	}
	last, err := runfiles.ReadAccount(ctx, runfiles.AccountPath(o.Path))
	switch {
	case err != nil:
		return unreadableAccount(o.Path, err)
	case last == nil && a.Settings.Shard != account.Shard{}:
		return nil // the file of the shards assigns the folder to this run; a lost machine has left the parts
	case last == nil:
		return &TakenError{Path: o.Path, Reason: "exists and has no account of a run beside it"}
	case !last.HasRows() && o.IsFolder():
		switch parts, err := o.parts(ctx); {
		case err != nil:
			return err
		case parts > 0:
			return &TakenError{Path: o.Path, Reason: "has parts, and the run whose account is beside it has written none"}
		}
	case !last.HasRows():
		return &TakenError{Path: o.Path, Reason: "exists, and the run whose account is beside it has written no rows"}
	}
	if err := takenBy(a, last.Service, last.Settings, o.Path); err != nil {
		return err
	}
	return o.checkEdited(ctx, last)
}

// checkEdited returns a *TakenError if the file has changed since its run published it, for example by its user. It compares the
// size and, if the file was written after the end of the run, the bytes.
func (o *Options) checkEdited(ctx context.Context, last *account.Account) error {
	if o.IsFolder() || len(last.Outputs) != 1 {
		return nil
	}
	info, err := storage.Stat(ctx, o.Path)
	if err != nil {
		return err
	}
	want := last.Outputs[0]
	if info.Size() != want.Bytes || info.ModTime().After(last.Ended) && !isIntact(ctx, o.Path, want) {
		return &TakenError{Path: o.Path, Reason: "was changed after its run had written it"}
	}
	return nil
}

// takenBy returns a *TakenError if the service or the settings that an output was written with differ from those of a.
func takenBy(a *account.Account, service string, settings account.Settings, output string) error {
	if changes := a.Changes(service, settings); len(changes) > 0 {
		return &TakenError{Path: output, Reason: "was written by another run", Changes: changes}
	}
	return nil
}

// unreadableAccount returns a *TakenError for an account that is damaged or no account. An error of object storage is returned
// as it is: it says nothing about the account.
func unreadableAccount(output string, err error) error {
	if _, isDamaged := errors.AsType[*account.DamagedError](err); !isDamaged && storage.IsURL(output) {
		return err
	}
	return &TakenError{Path: output, Reason: "has an account that cannot be read (" + err.Error() + ")"}
}

// IsOccupied reports whether the output exists. An empty folder, or a folder with only the store of a shard, does not count.
func (o *Options) IsOccupied(ctx context.Context) (bool, error) {
	if o.IsFolder() && !storage.IsURL(o.Path) {
		entries, err := os.ReadDir(o.Path)
		return err == nil && slices.ContainsFunc(entries, func(e os.DirEntry) bool { return !strings.HasPrefix(e.Name(), account.ShardStore) }), nil
	}
	return storage.Exists(ctx, o.Path)
}
