package jobs

import (
	"fmt"
	"regexp"
	"testing"
)

// FuzzParse reads any file. No file may panic, each error names the file, and that of a key its line.
func FuzzParse(f *testing.F) {
	for _, text := range []string{
		"[defaults.expect]\nok = \"> 1\"\n[[job]]\nkind = \"website\"\ninput = \"a.csv\"\n",
		"[[job]]\nkind = \"product\"\ninput = [\"a.csv\", 3]\n[defaults]\nexpect = 5\nrate = 1.5\n[job.expect]\nconfidence.mean = \"> 1\"\n",
		"[defaults.expect]\n[defaults]\nkind = \"product\"\n[[job]]\n[[job]]\ninput = 2026-11-25\nexpect = {ok = {x = \"1\"}}\n",
		"defaults = 5\n", "job = [{kind = \"website\"}]\n", "[[defaults]]\n", "[job.expect]\n[[job]]\n", "[\"job.expect\"]\n", "[[job]]\n\"a.b\" = inf\n[job.x]\n",
	} {
		f.Add([]byte(text))
	}
	place := regexp.MustCompile(`^jobs\.toml(:[1-9][0-9]*)?(: | has no job)`)
	f.Fuzz(func(t *testing.T, text []byte) {
		file, err := parse("jobs.toml", text)
		if err != nil {
			if !place.MatchString(err.Error()) {
				t.Errorf("the error has no place: %v", err)
			}
			return
		}
		for i := range file.Len() {
			job, err := file.Job(i)
			if err != nil {
				if !place.MatchString(err.Error()) {
					t.Errorf("the error has no place: %v", err)
				}
				continue
			}
			for _, s := range job.Settings {
				if s.Line < 1 {
					t.Errorf("%+v has no line", s)
				}
				Pairs(s.Value)
				Texts(s.Value)
				fmt.Fprint(t.Output(), Quoted(s.Value))
			}
		}
	})
}
