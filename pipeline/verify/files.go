package verify

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"path/filepath"

	"github.com/bulkcat/bulkcat/pipeline/outputs"
	"github.com/bulkcat/bulkcat/pipeline/record"
	"github.com/bulkcat/bulkcat/pipeline/storage"
	"github.com/bulkcat/bulkcat/writer"
)

// listedFile is a file of the output.
type listedFile struct {
	outputs.Part
	account *record.Output // the account's entry of the file; nil for none
}

// list returns the files of the output in the order of their records, with findings for missing
// and unexpected files.
func (v *verification) list(ctx context.Context) ([]listedFile, error) {
	folder, err := storage.IsFolder(ctx, v.Output)
	if err != nil {
		return nil, fmt.Errorf("verify %s: %w", v.Output, err)
	}
	if folder {
		return v.listFolder(ctx)
	}
	p := listedFile{Part: outputs.Part{Path: v.Output}}
	if v.Account != nil {
		p.Format = writer.Format(v.Account.Settings.OutputFormat)
		expect(&v.report, Finding{}, "files of the account", 1, len(v.Account.Outputs))
		if len(v.Account.Outputs) == 1 {
			p.account = &v.Account.Outputs[0]
		}
	} else if p.Format, err = writer.FormatOf(v.Output); err != nil {
		return nil, fmt.Errorf("verify without an account: %w", err)
	}
	return []listedFile{p}, nil
}

func (v *verification) listFolder(ctx context.Context) ([]listedFile, error) {
	folder, err := outputs.ListFolder(ctx, v.Output)
	if err != nil {
		return nil, fmt.Errorf("verify %s: %w", v.Output, err)
	}
	for _, path := range folder.Others {
		v.report.add(Finding{File: path, What: "file", Expected: "only parts", Got: "another"})
	}
	if !folder.Complete {
		v.report.add(Finding{File: writer.Join(v.Output, outputs.SuccessName), What: "file", Expected: "one that says that the folder is complete", Got: "none"})
	}
	var parts []listedFile
	for _, p := range folder.Parts {
		parts = append(parts, listedFile{Part: p})
	}
	v.matchParts(parts)
	return parts, v.checkManifest(ctx)
}

// checkManifest finds a manifest from which the run, started again, would not find its parts.
func (v *verification) checkManifest(ctx context.Context) error {
	if v.Account == nil || v.Account.Ending != record.Complete {
		return nil
	}
	problem, err := v.Account.CheckManifest(ctx, v.Output)
	if err != nil {
		return fmt.Errorf("verify %s: %w", v.Output, err)
	}
	if problem != "" {
		v.report.add(Finding{File: record.ManifestPath(v.Output), What: "manifest", Expected: "the one of the run", Got: "it " + problem})
	}
	return nil
}

// matchParts compares the parts with those of the account. Without an account, it checks that
// their numbers are consecutive.
func (v *verification) matchParts(parts []listedFile) {
	if v.Account == nil {
		for i, p := range parts {
			expect(&v.report, Finding{File: p.Path}, "number of the part", i+1, p.Number)
		}
		return
	}
	found := make(map[string]*listedFile, len(parts))
	for i := range parts {
		found[filepath.Base(parts[i].Path)] = &parts[i]
	}
	for i := range v.Account.Outputs {
		name := filepath.Base(v.Account.Outputs[i].Name)
		if p := found[name]; p != nil {
			p.account = &v.Account.Outputs[i]
			continue
		}
		v.report.add(Finding{File: writer.Join(v.Output, name), What: "part", Expected: "the one of the account", Got: "none"})
	}
	for _, p := range parts {
		if p.account == nil {
			v.report.add(Finding{File: p.Path, What: "part", Expected: "none, by the account", Got: "one"})
		}
	}
}

// checkAccount finds a missing account, and the account of an incomplete run.
func (v *verification) checkAccount(parts []listedFile) {
	a := v.Account
	if a == nil {
		v.report.add(Finding{What: "account", Expected: "OUTPUT.run.json", Got: "none: counts, hashes and answers are not compared"})
		return
	}
	expect(&v.report, Finding{}, "ending of the run", string(record.Complete), string(a.Ending))
	for _, p := range parts {
		if filepath.Base(p.Path) != filepath.Base(v.Output) { // the parts of a folder are named by their format
			expect(&v.report, Finding{File: p.Path}, "format", a.Settings.OutputFormat, string(p.Format))
		}
	}
}

// checkEnd compares the counts with the account and the input.
func (v *verification) checkEnd(ctx context.Context) error {
	if v.input != nil && !v.inShards {
		records := v.report.Records
		if v.isShard() {
			records += v.Account.Counts.Others
		}
		if err := v.input.checkAll(ctx, &v.report, records); err != nil {
			return err
		}
		if v.Account != nil {
			v.input.check(&v.report, v.Account)
		}
	}
	if v.Account != nil {
		v.checkCounts()
	}
	return nil
}

func (v *verification) checkCounts() {
	counts := v.Account.Counts
	compare := func(what string, expected, got int64) {
		expect(&v.report, Finding{}, what+", by the account", expected, got)
	}
	compare("records", counts.Written, v.report.Records)
	compare("rows", counts.Rows, v.report.Rows)
	for _, s := range []struct {
		status writer.Status
		count  int64
	}{
		{writer.StatusOK, counts.OK}, {writer.StatusEmpty, counts.Empty}, {writer.StatusRejected, counts.Rejected},
		{writer.StatusFailed, counts.Failed}, {writer.StatusInvalid, counts.Invalid}, {writer.StatusPending, counts.Pending},
	} {
		compare("records "+string(s.status), s.count, v.report.Statuses[s.status])
	}
	v.checkFree()
}

// digestFile returns the size and the SHA-256 of a file.
func digestFile(ctx context.Context, path string) (int64, string, error) {
	f, err := storage.Open(ctx, path)
	if err != nil {
		return 0, "", fmt.Errorf("verify: %w", err)
	}
	defer f.Close()
	sum := sha256.New()
	n, err := io.Copy(sum, withContext{ctx, f})
	if err != nil {
		return 0, "", fmt.Errorf("verify %s: %w", path, err)
	}
	return n, hex.EncodeToString(sum.Sum(nil)), nil
}

// withContext is a reader that fails once the context is done: a large file takes minutes.
type withContext struct {
	ctx context.Context
	io.Reader
}

func (r withContext) Read(p []byte) (int, error) {
	if err := context.Cause(r.ctx); err != nil {
		return 0, err
	}
	return r.Reader.Read(p)
}
