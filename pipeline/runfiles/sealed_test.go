package runfiles

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bulkcat/bulkcat/pipeline/account"
	"github.com/bulkcat/bulkcat/writer/disk"
)

// TestSealedFiles damages each file that is sealed.
func TestSealedFiles(t *testing.T) {
	settings := account.Settings{Kind: "website", Classification: "naics", Inputs: []string{"a&b.csv", "caf\xe9.csv"}, PartRows: 10}
	acc := account.NewAccount("dev", "https://api.example.com", settings)
	acc.Counts.Read = 123456
	for name, file := range map[string]struct {
		write func(ctx context.Context, folder string) error
		read  func(ctx context.Context, folder string) (found bool, err error)
		path  func(folder string) string
	}{
		"account": {
			func(ctx context.Context, folder string) error { return Write(ctx, AccountPath(folder), acc) },
			func(ctx context.Context, folder string) (bool, error) {
				a, err := ReadAccount(ctx, AccountPath(folder))
				return a != nil, err
			},
			AccountPath,
		},
		"manifest": {
			func(ctx context.Context, folder string) error {
				m := account.NewManifest(acc)
				m.Ends = []int64{123456}
				return Write(ctx, ManifestPath(folder), m)
			},
			func(ctx context.Context, folder string) (bool, error) {
				m, err := ReadManifest(ctx, folder)
				if errors.Is(err, os.ErrNotExist) {
					err = nil
				}
				return m != nil, err
			},
			ManifestPath,
		},
		"shards": {
			func(ctx context.Context, folder string) error {
				return StartShards(ctx, folder, account.Shard{Number: 1, Count: 123456 / 100}, acc)
			},
			func(ctx context.Context, folder string) (bool, error) {
				s, err := ReadShards(ctx, folder)
				return s != nil, err
			},
			ShardsPath,
		},
	} {
		t.Run(name, func(t *testing.T) {
			folder := filepath.Join(t.TempDir(), "out")
			if err := os.Mkdir(folder, 0o777); err != nil {
				t.Fatal(err)
			}
			if found, err := file.read(t.Context(), folder); found || err != nil {
				t.Fatalf("no file: got %t, %v", found, err)
			}
			if err := file.write(t.Context(), folder); err != nil {
				t.Fatal(err)
			}
			if found, err := file.read(t.Context(), folder); !found || err != nil {
				t.Fatalf("as it was written: got %t, %v", found, err)
			}
			text, err := os.ReadFile(file.path(folder))
			if err != nil {
				t.Fatal(err)
			}
			format := text[:bytes.IndexByte(text, ',')]
			for damage, tt := range map[string]struct {
				text []byte
				want string // in the error
			}{
				"cut":            {text[:len(text)/2], "unexpected end of JSON input"},
				"empty":          {nil, "unexpected end of JSON input"},
				"null":           {[]byte("null"), "checksum does not match"},
				"another file":   {[]byte("{}"), "checksum does not match"},
				"a figure":       {bytes.Replace(text, []byte("1234"), []byte("1235"), 1), "checksum does not match"},
				"a member less":  {bytes.Replace(text, []byte(`"naics"`), []byte(`""`), 1), "checksum does not match"},
				"no checksum":    {bytes.Replace(text, []byte(`"checksum"`), []byte(`"other"`), 1), "checksum does not match"},
				"another format": {bytes.Replace(text, format, append(format[:len(format)-1:len(format)-1], '9'), 1), "format 9"},
			} {
				if err := disk.PublishFile(file.path(folder), tt.text); err != nil {
					t.Fatal(err)
				}
				_, err := file.read(t.Context(), folder)
				damaged, ok := errors.AsType[*account.DamagedError](err)
				if !ok || damaged.Path != file.path(folder) || !strings.Contains(err.Error(), tt.want) {
					t.Errorf("%s: got %v, want %q", damage, err, tt.want)
				}
			}
		})
	}
}
