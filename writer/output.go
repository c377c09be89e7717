package writer

import (
	"context"

	"github.com/bulkcat/bulkcat/writer/disk"
)

// output is the sink of one file.
type output struct {
	opts  Options
	draft *disk.Output
	enc   encoder
	file  File // describes the rows so far
}

// newSingle starts an output that is one file.
func newSingle(ctx context.Context, o Options) (Sink, error) {
	if err := o.Storage.Prepare(ctx, o.Path, false); err != nil {
		return nil, disk.Failed("opening", o.Path, err)
	}
	disk.RemoveDrafts(ctx, o.Storage, o.Path)
	return newOutput(ctx, o)
}

// newOutput starts a file. The error is a *disk.Error.
func newOutput(ctx context.Context, o Options) (*output, error) {
	d, err := disk.NewOutput(ctx, o.Storage, o.Path)
	if err != nil {
		return nil, err
	}
	enc, err := newEncoder(d, o.Format, o.Schema, o.Metadata)
	if err != nil {
		_ = d.Discard() // err is the first error
		return nil, disk.Failed("opening", o.Path, err)
	}
	return &output{opts: o, draft: d, enc: enc, file: File{Path: o.Path}}, nil
}

func (o *output) Write(rows []Row) error {
	if len(rows) == 0 {
		return nil
	}
	if err := o.enc.encode(rows); err != nil {
		return disk.Failed("writing", o.opts.Path, err)
	}
	if o.file.Rows == 0 {
		o.file.FirstRecord = rows[0].Record
	}
	o.file.Rows += int64(len(rows))
	o.file.LastRecord = rows[len(rows)-1].Record
	return nil
}

// Close ends the file and publishes it, unless the check fails.
func (o *output) Close() (Published, error) {
	if err := o.enc.close(); err != nil {
		return Published{}, disk.Failed("writing", o.opts.Path, err)
	}
	if err := o.draft.Publish(o.opts.Check, o.opts.OnChange); err != nil {
		return Published{}, err
	}
	o.file.Bytes, o.file.SHA256 = o.draft.Size(), o.draft.SHA256()
	return Published{Files: []File{o.file}, Rows: o.file.Rows}, nil
}

func (o *output) Abort() error { return o.draft.Discard() }
