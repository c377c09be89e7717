package output

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/bulkcat/bulkcat/pipeline/record"
	"github.com/bulkcat/bulkcat/pipeline/storage"
	"github.com/bulkcat/bulkcat/writer"
	"github.com/bulkcat/bulkcat/writer/disk"
)

// TakenError says that an output is not this run's to replace.
type TakenError struct {
	Path    string
	Reason  string
	Changes []record.SettingChange // between the run that has written the output and this run
}

func (e *TakenError) Error() string { return e.Describe(record.Texts(e.Changes)) }

// Describe is the text of the error, with the changes in the caller's words.
func (e *TakenError) Describe(changes []string) string {
	text := e.Path + " " + e.Reason
	if len(changes) > 0 {
		text += " (" + strings.Join(changes, "; ") + ")"
	}
	return text
}

// Claim refuses to replace an output that another run, or another program, has written. The same run
// started again writes its own output anew; the lock names the run even after a kill between the output
// and its account.
func (o *Options) Claim(ctx context.Context, account *record.Account, lock *disk.Lock) error {
	if lock == nil {
		return nil
	}
	if o.IsFolder() {
		switch shards, err := record.ReadShards(ctx, o.Path); {
		case err != nil:
			return err
		case shards != nil:
			return fmt.Errorf("%s has the shards of another run: remove the folder, or choose another", o.Path)
		}
	}
	if _, err := record.ReadAccount(ctx, record.AccountPath(o.Path)); err != nil && !o.Overwrite {
		return unreadableAccount(o.Path, err) // it may be another file
	}
	occupied, err := o.occupied(ctx)
	if err != nil {
		return err
	}
	if !o.Overwrite && occupied && lock.Claimed() != account.RunID() {
		if err := o.checkOwner(ctx, account); err != nil {
			return err
		}
	}
	return lock.Claim(account.RunID())
}

// CheckEmptied refuses to replace rows by none, when the input has no records any more.
func (o *Options) CheckEmptied(ctx context.Context, last *record.Account) error {
	if o.Overwrite || o.Path == "-" {
		return nil
	}
	occupied, err := o.occupied(ctx)
	if err != nil {
		return err
	}
	if !occupied || last != nil && last.Records() == 0 {
		return nil
	}
	return &TakenError{Path: o.Path, Reason: "has rows, and the input has no records any more"}
}

// CheckFewer refuses to replace an output by one of the same run that has fewer outcomes of the service, because records are
// pending.
func (o *Options) CheckFewer(before, outcomes, pending int64) error {
	if o.Overwrite || pending == 0 || outcomes >= before {
		return nil
	}
	return &TakenError{Path: o.Path, Reason: fmt.Sprintf("has %d answers, and there are only %d in the store for the same records", before, outcomes)}
}

// checkOwner looks for the run that has written the output.
func (o *Options) checkOwner(ctx context.Context, account *record.Account) error {
	if o.IsFolder() && hasManifest(ctx, writer.Clean(o.Path)) {
		return nil // the manifest is looked at later
	}
	last, err := record.ReadAccount(ctx, record.AccountPath(o.Path))
	switch {
	case err != nil:
		return unreadableAccount(o.Path, err)
	case last == nil && account.Settings.Shard != "":
		return nil // by the file of the shards, the parts are this run's: a machine that was lost has left them
	case last == nil:
		return &TakenError{Path: o.Path, Reason: "exists and has no account of a run beside it"}
	}
	return takenBy(account, last.Service, last.Settings, o.Path)
}

// takenBy is the error of an output that another run has written, with that service and those settings; nil if it was
// the same run.
func takenBy(account *record.Account, service string, settings record.Settings, output string) error {
	if changes := account.Changes(service, settings); len(changes) > 0 {
		return &TakenError{Path: output, Reason: "was written by another run", Changes: changes}
	}
	return nil
}

// unreadableAccount is the error of an output whose account is damaged or another file, or the error of the storage,
// which says nothing about the account.
func unreadableAccount(output string, err error) error {
	if _, unread := errors.AsType[*fs.PathError](err); unread && storage.IsURL(output) {
		return err
	}
	return &TakenError{Path: output, Reason: "has an account that cannot be read (" + err.Error() + ")"}
}

// occupied reports whether the output exists; an empty folder, and one with the store of a shard, do not count.
func (o *Options) occupied(ctx context.Context) (bool, error) {
	if o.IsFolder() && !storage.IsURL(o.Path) {
		entries, err := os.ReadDir(o.Path)
		return err == nil && slices.ContainsFunc(entries, func(e os.DirEntry) bool { return !strings.HasPrefix(e.Name(), record.ShardStore) }), nil
	}
	return storage.Exists(ctx, o.Path)
}
