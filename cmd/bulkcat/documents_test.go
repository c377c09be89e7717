//go:build unix

package main

import (
	"context"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/bulkcat/bulkcat/client/embedded"
	"github.com/bulkcat/bulkcat/scripts/process"
)

const repository = "../.."

// documents are the paths of all pages for users and contributors, from the folder of the repository.
func documents(t *testing.T) []string {
	t.Helper()
	var list []string
	err := fs.WalkDir(os.DirFS(repository), ".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && slices.Contains([]string{".git", "bin", "demo-out", "node_modules"}, d.Name()):
			return fs.SkipDir
		case strings.HasSuffix(path, ".md") && path != "CHANGELOG.md": // which also names flags of earlier versions
			list = append(list, path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// TestDocuments holds the links, the flags and the make targets that documents name against the repository.
func TestDocuments(t *testing.T) {
	link := regexp.MustCompile(`\]\(([^):#]*)(#[^)]*)?\)`)
	option := regexp.MustCompile(`--[a-z][a-z-]+`)
	target := regexp.MustCompile("(?m)(?:`|^)make ([a-z0-9-]+)")
	targets := read(t, filepath.Join(repository, "Makefile"))
	flags := map[string]bool{"--help": true, helpAll: true, "--version": true}
	for _, name := range []string{"--rm", "--cpus", "--now", "--user", "--scope", "--include", "--local-no-check-updated"} { // of docker, systemd and rclone
		flags[name] = true
	}
	for _, cmd := range allCommands(newRoot(streams{})) {
		cmd.Flags().VisitAll(func(f *pflag.Flag) { flags["--"+f.Name] = true })
	}
	for _, document := range documents(t) {
		text := read(t, filepath.Join(repository, document))
		for _, m := range link.FindAllStringSubmatch(text, -1) {
			page := filepath.Join(repository, filepath.Dir(document), m[1])
			if m[1] == "" {
				page = filepath.Join(repository, document)
			}
			if _, err := os.Stat(page); err != nil {
				t.Errorf("%s links to %s: %v", document, m[1], err)
			} else if m[2] != "" && !slices.Contains(anchors(read(t, page)), m[2]) {
				t.Errorf("%s links to %s%s, which is no heading", document, m[1], m[2])
			}
		}
		for _, name := range option.FindAllString(text, -1) {
			if !flags[name] {
				t.Errorf("%s names %s, which is no flag", document, name)
			}
		}
		for _, m := range target.FindAllStringSubmatch(text, -1) {
			if !strings.Contains(targets, "\n"+m[1]+":") {
				t.Errorf("%s names make %s, which is no target", document, m[1])
			}
		}
		if heading := emptySection(text); heading != "" {
			t.Errorf("%s has nothing below %q", document, heading)
		}
	}
}

// anchors are the links to the headings of a document, as GitHub makes them.
func anchors(text string) (list []string) {
	for _, m := range regexp.MustCompile("(?m)^#+ (.*)$").FindAllStringSubmatch(text, -1) {
		name := regexp.MustCompile(`[^\p{L}\p{N} _-]`).ReplaceAllString(strings.ToLower(m[1]), "")
		list = append(list, "#"+strings.ReplaceAll(name, " ", "-"))
	}
	return list
}

// emptySection is the first heading that has neither text nor smaller headings below it, or "".
func emptySection(text string) string {
	text = regexp.MustCompile("(?s)```.*?```").ReplaceAllString(text, "code")
	last := ""
	for line := range strings.Lines(text + "# end\n") {
		level, _, isHeading := strings.Cut(line, " ")
		isHeading = isHeading && level != "" && strings.Trim(level, "#") == ""
		if lastLevel, _, _ := strings.Cut(last, " "); isHeading && last != "" && len(level) <= len(lastLevel) {
			return last
		}
		if isHeading {
			last = line
		} else if strings.TrimSpace(line) != "" {
			last = ""
		}
	}
	return ""
}

// TestDocumentCommandLines has bulkcat read each of its command lines in the documents: those of blocks of shell commands
// whole, and of those within a sentence the names of commands and flags.
func TestDocumentCommandLines(t *testing.T) {
	lines := 0
	for _, document := range documents(t) {
		text := read(t, filepath.Join(repository, document))
		for _, line := range shellLines(text) {
			for _, args := range callsIn(line) {
				lines++
				if err := readArgs(args); err != nil {
					t.Errorf("%s: %s\n%v", document, line, err)
				}
			}
		}
		for _, m := range regexp.MustCompile("`(bulkcat [^`]+)`").FindAllStringSubmatch(text, -1) {
			for _, args := range callsIn(strings.ReplaceAll(m[1], "\n", " ")) {
				lines++
				if err := readNames(args); err != nil {
					t.Errorf("%s: %s\n%v", document, m[1], err)
				}
			}
		}
	}
	if lines < 100 {
		t.Errorf("the documents have only %d command lines", lines)
	}
}

// shellLines are the commands in the blocks of a document that are shell commands.
func shellLines(text string) []string {
	var lines []string
	for _, block := range regexp.MustCompile("(?s)```sh\n(.*?)```").FindAllStringSubmatch(text, -1) {
		lines = append(lines, strings.Split(strings.ReplaceAll(block[1], "\\\n", ""), "\n")...)
	}
	for _, c := range consoleBlocks(text) {
		lines = append(lines, c.command)
	}
	return lines
}

// callsIn are the arguments of bulkcat in a line of shell commands, from its own path, or its image, to the end of the
// command.
func callsIn(line string) (calls [][]string) {
	word := regexp.MustCompile(`[|&;<>()]+|(?:'[^']*'|"[^"]*"|[^\s'"|&;<>()])+`)
	inCall := false
	for _, w := range word.FindAllString(line, -1) {
		switch {
		case w[0] == '#':
			return calls
		case strings.ContainsAny(w[:1], "|&;<>()"):
			inCall = false
		case inCall:
			calls[len(calls)-1] = append(calls[len(calls)-1], strings.NewReplacer("'", "", `"`, "").Replace(w))
		case w == "bulkcat" || w == "bin/bulkcat" || strings.HasPrefix(w, "bulkcat/bulkcat:"):
			inCall = true
			calls = append(calls, nil)
		}
	}
	return calls
}

// readArgs reads a whole command line.
func readArgs(args []string) error {
	cmd, rest, err := findCommand(args)
	if err == nil {
		err = cmd.ParseFlags(rest)
	}
	if err != nil || cmd.Flags().Changed("help") {
		return err
	}
	return cmd.ValidateArgs(cmd.Flags().Args())
}

// readNames reads the names of commands and flags. Words in capitals stand for others.
func readNames(args []string) error {
	if placeholder := args[0] == strings.ToUpper(args[0]); placeholder {
		return nil
	}
	cmd, rest, err := findCommand(args)
	if err != nil {
		return err
	}
	if len(rest) > 0 && rest[0] != strings.ToUpper(rest[0]) && cmd.HasSubCommands() {
		return fmt.Errorf("%s has no command %s", cmd.CommandPath(), rest[0])
	}
	for _, w := range rest {
		name, _, _ := strings.Cut(w, "=")
		if name, long := strings.CutPrefix(name, "--"); long && cmd.Flags().Lookup(name) == nil {
			return fmt.Errorf("%s has no flag --%s", cmd.CommandPath(), name)
		}
	}
	return nil
}

// findCommand finds the command of a command line, and the words after it.
func findCommand(args []string) (*cobra.Command, []string, error) {
	root := newRoot(streams{})
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd(args...)
	root.InitDefaultVersionFlag()
	cmd, rest, err := root.Find(args)
	if err == nil {
		cmd.InitDefaultHelpFlag()
	}
	return cmd, rest, err
}

// TestDocumentCommands runs the commands of the console blocks of each document, in order and in one
// folder with the files of testdata/documents and samples (the README: in an empty folder), and wants the output that the block shows. "^C" in the
// output interrupts the command. The exit status is 0, that of an interrupt, or the one in a comment
// at the end of the command: "# exit status 3". A command that ends in "&" runs until the end.
func TestDocumentCommands(t *testing.T) {
	t.Parallel()
	hearHangups()
	for _, document := range documents(t) {
		blocks := consoleBlocks(read(t, filepath.Join(repository, document)))
		if len(blocks) == 0 || document == howtoPage { // see TestDocumentHowto
			continue
		}
		t.Run(document, func(t *testing.T) {
			t.Parallel()
			s := newShell(t, embedded.New(embedded.Options{Grants: []embedded.Grant{{Key: testKey, Quota: 100_000}}}))
			if document != "README.md" { // the session there begins in an empty folder
				s.addFiles("testdata/documents", "samples")
			}
			for _, b := range blocks {
				s.run(b)
			}
		})
	}
}

// consoleCommand is a command and the output that a document shows.
type consoleCommand struct {
	command string
	output  []string
}

func consoleBlocks(text string) []consoleCommand {
	var list []consoleCommand
	for _, block := range regexp.MustCompile("(?s)```console\n(.*?)```").FindAllStringSubmatch(text, -1) {
		for line := range strings.Lines(strings.ReplaceAll(block[1], "\\\n", "")) {
			line = strings.TrimSuffix(line, "\n")
			if command, ok := strings.CutPrefix(line, "$ "); ok {
				list = append(list, consoleCommand{command: command})
			} else if line != "" && len(list) > 0 {
				last := &list[len(list)-1]
				last.output = append(last.output, line)
			}
		}
	}
	return list
}

// shell runs commands as a user's terminal does: what one exports, the next ones have.
type shell struct {
	*testing.T
	folder string
	env    []string
	listen string            // the address of the services that the document starts
	names  []string          // addresses and keys of the documents, each followed by that of the test
	real   *strings.Replacer // of the names
	calls  *atomic.Int64     // categorizations that the hosted service was asked for
	stop   func()            // ends the service that the document started last
}

// newShell starts a shell in a new folder, and a hosted service.
func newShell(t *testing.T, service http.Handler) *shell {
	s := &shell{T: t, folder: t.TempDir(), calls: new(atomic.Int64)}
	hosted := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != embedded.UsagePath {
			s.calls.Add(1)
		}
		service.ServeHTTP(w, r)
	}))
	t.Cleanup(hosted.Close)
	s.listen = freeAddress(t)
	s.rename(
		"https://api.example.com", hosted.URL,
		"API_KEY=...", "API_KEY="+testKey,
		"127.0.0.1:8080", s.listen, "0.0.0.0:8080", s.listen)
	s.env = append(os.Environ(), "BULKCAT_FETCH=never", "XDG_STATE_HOME="+t.TempDir())
	return s
}

// rename adds names of the documents, each followed by that of the test.
func (s *shell) rename(names ...string) {
	s.names = append(s.names, names...)
	s.real = strings.NewReplacer(s.names...)
}

// addFiles copies the files of folders into the folder of the shell.
func (s *shell) addFiles(folders ...string) {
	s.Helper()
	for _, folder := range folders {
		if err := os.CopyFS(s.folder, os.DirFS(folder)); err != nil {
			s.Fatal(err)
		}
	}
}

func (s *shell) run(c consoleCommand) {
	s.Helper()
	text := s.real.Replace(c.command)
	if settings, ok := strings.CutPrefix(text, "export "); ok {
		s.env = append(s.env, strings.Fields(settings)...)
		return
	}
	if text, ok := strings.CutSuffix(text, "&"); ok {
		s.start(text)
		return
	}
	before := s.calls.Load()
	interrupted := slices.Contains(c.output, "^C")
	if interrupted {
		text = "exec " + text // the shell's process becomes the command's
	}
	p := start(s.T, s.command(text))
	want := "0"
	if _, status, ok := strings.Cut(c.command, "# exit status "); ok {
		want = status
	}
	if interrupted {
		await(p.Ended(), func() bool { return s.calls.Load() > before+10 })
		if err := p.Signal(syscall.SIGINT); err != nil {
			s.Fatal(err)
		}
		want = "130"
	}
	if got := strconv.Itoa(p.Status()); got != want {
		s.Fatalf("%s\nended with the status %s, want %s:\n%s", c.command, got, want, p.Log())
	}
	rest := p.Log()
	for _, line := range c.output {
		if line == "^C" || line == "..." {
			continue
		}
		_, after, ok := strings.Cut(rest, s.real.Replace(line))
		if !ok {
			s.Fatalf("%s\ndoes not print %q, or not there:\n%s", c.command, line, p.Log())
		}
		rest = after
	}
}

// start runs a service until the test ends or the next one starts, and waits until it listens.
func (s *shell) start(text string) {
	s.Helper()
	if s.stop != nil {
		s.stop()
	}
	p, err := process.Start(context.WithoutCancel(s.Context()), s.command("exec "+text), filepath.Join(s.TempDir(), "log"))
	if err != nil {
		s.Fatal(err)
	}
	s.stop = sync.OnceFunc(func() {
		if err := p.Stop(syscall.SIGTERM); err != nil {
			s.Error(err)
		}
	})
	s.Cleanup(s.stop)
	if err := p.Ready(process.Listening(s.listen)); err != nil {
		s.Fatal(err)
	}
}

func (s *shell) command(text string) *exec.Cmd {
	cmd := exec.Command("sh", "-c", text)
	cmd.Dir, cmd.Env = s.folder, s.env
	return cmd
}
