package main

import (
	"bytes"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var cutEvery = flag.Int("cut-every", 2503, "of the places where TestFilesCutAnywhere cuts and flips, try one in `N`")

// TestFilesCutAnywhere truncates every file of a run, and flips bits. The run started again writes the right
// output and asks nothing again, or reports the error and writes nothing. `make cuts` tries all positions.
func TestFilesCutAnywhere(t *testing.T) {
	service := newCountedService(t)
	for _, output := range []string{"out.csv", "out/"} {
		t.Run(output, func(t *testing.T) {
			t.Chdir(t.TempDir())
			writeTitles(t, "in.txt", 12)
			args := []string{"product", "in.txt", "-o", output, "--output-format", "csv", "--quiet"}
			if strings.HasSuffix(output, "/") {
				args = append(args, "--part-rows", "8")
			}
			if status, stderr := runHere(args); status != exitComplete {
				t.Fatalf("exit status %d\n%s", status, stderr)
			}
			c := cuts{service: service, args: args, whole: readFiles(t), output: filepath.Clean(output)}
			place := 0
			for _, name := range c.names() {
				for at := range c.whole[name] {
					if place++; place%*cutEvery == 0 {
						c.try(t, name, fmt.Sprintf("cut at %d", at), c.whole[name][:at])
						c.try(t, name, fmt.Sprintf("bit of byte %d flipped", at), flipped(c.whole[name], at))
					}
				}
			}
			t.Logf("%d runs over %d files", c.runs, len(c.whole))
		})
	}
}

// runHere runs bulkcat in this process.
func runHere(args []string) (status int, stderr string) {
	var out, err bytes.Buffer
	status = run(args, strings.NewReader(""), &out, &err)
	return status, err.String()
}

// readFiles reads all files below the working folder, by their path.
func readFiles(t *testing.T) map[string][]byte {
	t.Helper()
	files := make(map[string][]byte)
	err := filepath.WalkDir(".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		files[path], err = os.ReadFile(path)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func flipped(content []byte, at int) []byte {
	other := bytes.Clone(content)
	other[at] ^= 1 << (at % 8)
	return other
}

// cuts are runs over the files of an earlier run, each with one file damaged.
type cuts struct {
	service *countedService
	args    []string
	output  string
	whole   map[string][]byte
	runs    int
}

// names are the files that runs write.
func (c *cuts) names() []string {
	var names []string
	for name := range c.whole {
		if name != "in.txt" && filepath.Base(name) != "LOCK" {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// try runs with a damaged file, and wants the right output or an error that names the damage. Nothing is asked again
// unless its answer lay in the damaged file.
func (c *cuts) try(t *testing.T, name, damage string, content []byte) {
	t.Helper()
	c.runs++
	c.lay(t, name, content)
	before := c.service.asked.Load()
	status, stderr := runHere(c.args)
	if asked := c.service.asked.Load() - before; asked > 0 && filepath.Ext(name) != ".log" {
		t.Errorf("%s %s: %d requests are made again", name, damage, asked)
	}
	if status != exitComplete {
		named := strings.Contains(stderr, filepath.Base(name)) || strings.Contains(stderr, filepath.Dir(name)+" ") || strings.Contains(stderr, filepath.Dir(name)+":")
		if !named {
			t.Errorf("%s %s: exit status %d, and the error does not name it: %s", name, damage, status, stderr)
		}
	}
	for file, got := range readFiles(t) {
		data := file == c.output || strings.HasPrefix(file, c.output+"/part-")
		untouched := file == name && status != exitComplete && bytes.Equal(got, content)
		if data && !untouched && !bytes.Equal(got, c.whole[file]) {
			t.Errorf("%s %s: exit status %d, and %s is not what it should be", name, damage, status, file)
		}
	}
}

// lay restores the working folder as it was after the run, except for one file.
func (c *cuts) lay(t *testing.T, name string, content []byte) {
	t.Helper()
	for file := range readFiles(t) {
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
	}
	for file, whole := range c.whole {
		if file == name {
			whole = content
		}
		if err := os.WriteFile(file, whole, 0o666); err != nil {
			t.Fatal(err)
		}
	}
}
