package writer

import (
	"context"

	"github.com/bulkcat/bulkcat/writer/disk"
)

// output is one file of rows that is being written.
type output struct {
	draft *disk.Output
	enc   encoder
	file  File // describes the rows so far
}

// newOutput starts the file at path with the format, schema and metadata of o. The error is a *disk.Error.
func newOutput(ctx context.Context, path string, o Options) (*output, error) {
	d, err := disk.NewOutput(ctx, o.Storage, path)
	if err != nil {
		return nil, err
	}
	enc, err := newEncoder(d, o.Format, o.Schema, o.Metadata)
	if err != nil {
		_ = d.Discard() // err is the first error
		return nil, disk.Failed("opening", path, err)
	}
	return &output{draft: d, enc: enc, file: File{Path: path}}, nil
}

func (o *output) write(rows []Row) error {
	if len(rows) == 0 {
		return nil
	}
	if err := o.enc.encode(rows); err != nil {
		return o.draft.Fail("writing", err)
	}
	if o.file.Rows == 0 {
		o.file.FirstRecord = rows[0].Record
	}
	o.file.Rows += int64(len(rows))
	o.file.LastRecord = rows[len(rows)-1].Record
	return nil
}

// publish ends the file and publishes it, unless the check fails. begin is called before the file is replaced. Both may be nil.
func (o *output) publish(check CheckFunc, begin func() error) (File, error) {
	if err := o.enc.close(); err != nil {
		return File{}, o.draft.Fail("writing", err)
	}
	if err := o.draft.Publish(check, begin); err != nil {
		return File{}, err
	}
	o.file.Bytes, o.file.SHA256 = o.draft.Size(), o.draft.SHA256()
	return o.file, nil
}

func (o *output) discard() error { return o.draft.Discard() }
