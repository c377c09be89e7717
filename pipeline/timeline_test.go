package pipeline

import (
	"os"
	"path/filepath"
	"testing"
)

func TestReadJournal(t *testing.T) {
	account := &Account{Service: "https://api.example.com", Settings: Settings{Kind: "website"}}
	start := `{"at":"2026-03-02T06:00:00Z","event":"start","run":"` + account.run() + `","bulkcat":"v1"}` + "\n"
	const (
		counts  = `{"at":"2026-03-02T06:00:01Z","event":"counts","state":"asking","records":5,"requests":4,"outcomes":{"answered":4}}` + "\n"
		end     = `{"at":"2026-03-02T06:00:02Z","event":"end","state":"ended","records":9,"ending":"complete"}` + "\n"
		damaged = "{\x00\n"
	)
	for _, tt := range []struct {
		name, text string
		account    *Account
		want       int
	}{
		{"whole", start + counts + end, account, 3},
		{"without an account", start + counts + end, nil, 3},
		{"damaged in the middle", start + damaged + end, account, 2},
		{"cut", start + counts + end[:20], account, 2},
		{"of another run", start + counts, &Account{Service: "embedded"}, 0},
		{"empty", "", account, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "journal")
			if err := os.WriteFile(path, []byte(tt.text), 0o666); err != nil {
				t.Fatal(err)
			}
			var got []Moment
			if err := ReadJournal(path, tt.account, func(m Moment) { got = append(got, m) }); err != nil {
				t.Fatal(err)
			}
			if len(got) != tt.want {
				t.Fatalf("%d moments, want %d", len(got), tt.want)
			}
			if tt.want == 3 && (!got[0].Start || got[1].State != Asking || got[1].Outcomes["answered"] != 4 || got[2].Ending != Complete) {
				t.Errorf("got %+v", got)
			}
		})
	}
	if err := ReadJournal(filepath.Join(t.TempDir(), "none"), account, func(Moment) { t.Error("a moment") }); err != nil {
		t.Error(err)
	}
}
