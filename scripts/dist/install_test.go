package main

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

var (
	full  = flag.Bool("full", false, "build a release twice, and install it: needs root, debootstrap, rpm and a Debian mirror")
	built = flag.String("built", "", "install the release 0.1.0 in this folder, and build none")
)

// use is what a user does first. It prints the version, and a row for a title.
const use = `set -e
bulkcat --version
printf 'title\nCast iron skillet 12 in\n' > in.csv
bulkcat product in.csv -o out.csv --quiet
cat out.csv`

// TestRelease builds a release from two clones in different folders, compares the files, and installs the packages and
// the image in roots of their own.
func TestRelease(t *testing.T) {
	if !*full {
		t.Skip("runs with -full")
	}
	first := *built
	if first == "" {
		revision := strings.TrimSpace(command(t, ".", "git", "rev-parse", "HEAD")) // another commit may come during the first build
		first = build(t, revision)
		compare(t, first, build(t, revision))
	}
	t.Run("deb", func(t *testing.T) { installDeb(t, first) })
	t.Run("rpm", func(t *testing.T) { installRPM(t, first) })
	t.Run("image", func(t *testing.T) { runImage(t, first) })
}

// build builds the release 0.1.0 of a revision in a new clone, and returns its folder.
func build(t *testing.T, revision string) string {
	root := filepath.Join(t.TempDir(), "clone")
	command(t, ".", "git", "clone", "-q", "../..", root)
	command(t, root, "git", "checkout", "-q", revision)
	command(t, root, "sed", "-i", "s/^## Unreleased$/## 0.1.0/", "CHANGELOG.md") // as a release does
	command(t, root, "make", "dist", "VERSION=v0.1.0")
	return filepath.Join(root, "bin/dist")
}

func compare(t *testing.T, first, second string) {
	entries, err := os.ReadDir(first)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		a, err := os.ReadFile(filepath.Join(first, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(filepath.Join(second, e.Name()))
		if err != nil || string(a) != string(b) {
			t.Errorf("%s differs between two builds: %v", e.Name(), err)
		}
	}
	t.Logf("%d files are the same in two builds", len(entries))
}

// command runs a program in a folder and returns its output.
func command(t *testing.T, dir, name string, args ...string) string {
	t.Helper()
	c := exec.CommandContext(t.Context(), name, args...)
	c.Dir, c.Env = dir, append(os.Environ(), "LC_ALL=C")
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", c, err, out)
	}
	return string(out)
}

// inRoot runs a script in a root without a network.
func inRoot(t *testing.T, root, script string, flags ...string) string {
	t.Helper()
	args := append([]string{"--net", "chroot"}, flags...)
	return command(t, ".", "unshare", append(args, root, "/bin/sh", "-c", script)...)
}

func wantUse(t *testing.T, out string) {
	t.Helper()
	for _, want := range []string{"bulkcat v0.1.0 ", ",ok,", "Cast iron skillet 12 in"} {
		if !strings.Contains(out, want) {
			t.Errorf("there is no %q in\n%s", want, out)
		}
	}
}

func only(t *testing.T, pattern string) string {
	t.Helper()
	names, err := filepath.Glob(pattern)
	if err != nil || len(names) != 1 {
		t.Fatalf("%s: %v, %v", pattern, names, err)
	}
	return names[0]
}

// lint runs a linter of packages where it is installed.
func lint(t *testing.T, name string, args ...string) {
	t.Helper()
	if _, err := exec.LookPath(name); err != nil {
		t.Logf("%s is not installed", name)
		return
	}
	t.Log(command(t, ".", name, args...))
}

func installDeb(t *testing.T, release string) {
	lint(t, "lintian", "--allow-root", "--fail-on", "error,warning", only(t, release+"/*_"+runtime.GOARCH+".deb"))
	root := filepath.Join(t.TempDir(), "root")
	command(t, ".", "debootstrap", "--variant=minbase", "stable", root)
	command(t, ".", "cp", only(t, release+"/*_"+runtime.GOARCH+".deb"), root+"/bulkcat.deb")
	wantUse(t, inRoot(t, root, "dpkg -i /bulkcat.deb && cd /tmp && "+use))
	inRoot(t, root, `set -e
		test -e /usr/lib/systemd/system/bulkcat-gateway.service -a -e /usr/share/doc/bulkcat/copyright
		bash -n /usr/share/bash-completion/completions/bulkcat
		dpkg -V bulkcat
		echo key > /etc/bulkcat/api-key
		dpkg -r bulkcat
		test ! -e /usr/bin/bulkcat -a -e /etc/bulkcat/api-key`)
}

func installRPM(t *testing.T, release string) {
	root := t.TempDir()
	arch := map[string]string{"amd64": "x86_64", "arm64": "aarch64"}[runtime.GOARCH]
	lintRPM(t, only(t, release+"/*."+arch+".rpm"))
	command(t, ".", "rpm", "--root", root, "--initdb")
	command(t, ".", "rpm", "--root", root, "--nodeps", "--ignorearch", "-i", only(t, release+"/*."+arch+".rpm"))
	command(t, ".", "rpm", "--root", root, "-V", "--nodeps", "bulkcat")
	if out := command(t, ".", filepath.Join(root, "usr/bin/bulkcat"), "--version"); !strings.HasPrefix(out, "bulkcat v0.1.0 ") {
		t.Errorf("the version is %s", out)
	}
	command(t, ".", "rpm", "--root", root, "-e", "bulkcat")
	if _, err := os.Stat(filepath.Join(root, "usr/bin/bulkcat")); !os.IsNotExist(err) {
		t.Errorf("the program is there after its removal: %v", err)
	}
}

// lintRPM has rpmlint see an error in whatever rpmlint.toml does not name. The paths in the package begin with a slash: without
// another cpio rpmlint would unpack them over the files of this machine.
func lintRPM(t *testing.T, name string) {
	unpacker, err := exec.LookPath("cpio")
	if err != nil {
		t.Log("cpio is not installed")
		return
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "cpio"), []byte("#!/bin/sh\nexec "+unpacker+` --no-absolute-filenames "$@"`+"\n"), 0o777); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	lint(t, "rpmlint", "--config", "rpmlint.toml", name)
}

// runImage runs the program of the image as the image's user, with a read-only root and a folder for the files of the run.
func runImage(t *testing.T, release string) {
	image, err := tarball.ImageFromPath(only(t, release+"/*_image_"+runtime.GOARCH+".tar"), nil)
	if err != nil {
		t.Fatal(err)
	}
	config, err := image.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	root := t.TempDir()
	unpack := exec.CommandContext(t.Context(), "tar", "-x", "-C", root)
	unpack.Stdin = mutate.Extract(image)
	if out, err := unpack.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	c := exec.CommandContext(t.Context(), "unshare", "--mount", "--net", "sh", "-ec", `
		mkdir "$0/dev" "$0/proc"
		mount --bind "$0" "$0"
		program="env -i PATH=$PATH HOME=/work chroot --userspec=$1 $0 $2"
		printf 'title\nSofa\n' > "$0/work/in.csv"
		$program product /work/in.csv -o /work/out.csv --quiet
		$program product /work/in.csv -o /work/other.csv --store /work/other --quiet
		$program diff /work/out.csv /work/other.csv
		rm -r "$0/work"/* "$0/work"/.[!.]* 2>/dev/null || true
		mount -t tmpfs -o mode=1777 tmpfs "$0/work"
		mount -t tmpfs -o mode=1777 tmpfs "$0/tmp"
		mount -o remount,ro,bind "$0"
		printf 'title\nCast iron skillet 12 in\n' > "$0/work/in.csv"
		$program --version
		$program product /work/in.csv -o /work/out.csv --quiet
		cat "$0/work/out.csv"
		if $program product /work/in.csv -o /out.csv; then exit 1; fi`,
		root, config.Config.User, config.Config.Entrypoint[0])
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	wantUse(t, string(out))
	authorities, err := os.ReadFile(filepath.Join(root, "etc/ssl/certs/ca-certificates.crt"))
	if n := strings.Count(string(authorities), "BEGIN CERTIFICATE"); err != nil || n < 50 {
		t.Errorf("%d certificate authorities, %v", n, err)
	}
}
