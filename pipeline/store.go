package pipeline

import (
	"errors"
	"path/filepath"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/client/answers"
	"github.com/bulkcat/bulkcat/client/statefolder"
	"github.com/bulkcat/bulkcat/pipeline/account"
	"github.com/bulkcat/bulkcat/pipeline/runfiles"
)

// openStore opens the store of a run; nil if the run stores no answers.
func (o *Options) openStore() (*answers.Store, error) {
	offline := o.isOffline()
	stored, err := o.stored()
	if err == nil && stored.Path != "" && o.usesUserFile() && !offline {
		err = statefolder.Make()
	}
	if _, state := errors.AsType[*statefolder.Error](err); state && !o.Service.Hosted && !offline {
		o.Log.Info("the answers are not stored", "error", err)
		return nil, nil
	}
	switch {
	case err != nil:
		return nil, err
	case stored.Path == "" && offline:
		return nil, &NoStoreError{Output: o.Output.Path}
	case stored.Path == "":
		return nil, nil
	case !o.Service.Hosted && o.Kind == client.Product && o.Store.Path == "": // the embedded service computes answers to titles anew
		return nil, nil
	}
	stored.MustExist = offline
	return answers.Open(stored)
}

// readStore opens the store for reading; nil if there is none.
func (o *Options) readStore() (*answers.Store, error) {
	stored, err := o.stored()
	if err != nil || stored.Path == "" {
		return nil, err
	}
	stored.ReadOnly = true
	store, err := answers.Open(stored)
	if errors.Is(err, answers.Missing) {
		return nil, nil
	}
	return store, err
}

// usesUserFile reports whether the store is answers.UserFile: no other store is named, and answers may be charged, or the output
// is a file or a folder.
func (o *Options) usesUserFile() bool {
	streams := o.Output.Path == "-" || o.Output.Path == ""
	return o.Store.Path == "" && !o.isShard() && (o.Service.Hosted || !streams)
}

// isShard reports whether the session has a store of its own, in the folder of its shard.
func (o *Options) isShard() bool { return o.Shard != (account.Shard{}) && o.Output.Path != "" }

// stored says where the store is or would be; the Path is "" if the run has no store. The error is a *statefolder.Error, or
// that of filepath.Abs.
func (o *Options) stored() (stored answers.Options, err error) {
	stored = answers.Options{Path: o.Store.Path, Source: o.Service.Name, MaxAge: o.Store.MaxAge, RetryRejected: o.Store.RetryRejected}
	switch {
	case o.isShard():
		stored.Path, stored.Exclusive = runfiles.ShardStore(o.Shard, o.Store.Path, o.Output.Path), true
	case o.usesUserFile():
		if stored.Path, err = answers.UserFile(); err != nil && !o.Service.Hosted { // the answers can be made again
			return answers.Options{}, nil
		}
	}
	if stored.Path != "" && err == nil {
		stored.Path, err = filepath.Abs(stored.Path)
	}
	return stored, err
}

// keeps reports whether the stored answers to records with these statuses count.
func (o *StoreOptions) keeps(s account.Statuses) bool {
	return o.MaxAge == 0 && o.RefreshBudget == 0 && !(o.RetryRejected && s.Rejected > 0)
}
