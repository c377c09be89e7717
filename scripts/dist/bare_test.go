package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// firstDemo is what the README promises of the first "make demo" on two cores, which builds the program. It is compared with
// half of the processor time: other work on this machine makes the clock a poor judge.
const firstDemo = 2 * time.Minute

// TestBareSystem runs the commands with which the README begins on systems that have Go and make, and nothing else: no git,
// no C compiler, no Python and no network but that of the machine itself. A user without rights runs them, in a clone. The
// modules come from the cache of this machine; nothing has been compiled before.
func TestBareSystem(t *testing.T) {
	if !*full {
		t.Skip("runs with -full")
	}
	modules := strings.TrimSpace(command(t, ".", "go", "env", "GOMODCACHE"))
	compiler := strings.TrimSpace(command(t, ".", "go", "env", "GOROOT"))
	for _, folder := range []string{"../..", "../servers", "."} {
		command(t, folder, "go", "mod", "download")
	}
	for _, system := range []struct{ name, suite, mirror, keyring string }{
		{"Debian", "stable", "http://deb.debian.org/debian", "/usr/share/keyrings/debian-archive-keyring.gpg"},
		{"Ubuntu", "jammy", "http://archive.ubuntu.com/ubuntu", "/usr/share/keyrings/ubuntu-archive-keyring.gpg"},
	} {
		t.Run(system.name, func(t *testing.T) {
			if _, err := os.Stat(system.keyring); err != nil {
				t.Skipf("the keys of %s are not installed: %v", system.name, err)
			}
			root := filepath.Join(t.TempDir(), "root")
			command(t, ".", "debootstrap", "--variant=minbase", "--include=make", "--keyring="+system.keyring, system.suite, root, system.mirror)
			command(t, ".", "git", "clone", "-q", "../..", root+"/home/user/bulkcat")
			command(t, ".", "sh", "-ec", `
				mkdir -p "$0/usr/local/go" "$0/modules"
				echo 127.0.0.1 localhost > "$0/etc/hosts"
				echo user:x:1000:1000::/home/user:/bin/sh >> "$0/etc/passwd"
				chown -R 1000:1000 "$0/home/user"`, root)
			bare := func(commands string) (string, time.Duration) {
				c := exec.CommandContext(t.Context(), "unshare", "--mount", "--net", "--pid", "--fork", "sh", "-ec", `
					ip link set lo up
					mount --bind "$1" "$0/usr/local/go"
					mount --bind "$2" "$0/modules"
					mount --rbind /dev "$0/dev"
					mount -t proc proc "$0/proc"
					exec chroot --userspec=1000:1000 "$0" /usr/bin/env -i HOME=/home/user GOMODCACHE=/modules GOPROXY=off \
						PATH=/home/user/.local/bin:/usr/local/go/bin:/usr/bin:/bin sh -ec "cd ~/bulkcat; $3"`, root, compiler, modules, commands)
				began := time.Now()
				out, err := c.CombinedOutput()
				if err != nil {
					t.Fatalf("%s: %v\n%s", commands, err, out)
				}
				onTwoCores := (c.ProcessState.UserTime() + c.ProcessState.SystemTime()) / 2
				t.Logf("%s took %s, and half of its processor time is %s", commands, time.Since(began).Round(time.Second), onTwoCores.Round(time.Second))
				return string(out), onTwoCores
			}
			wantIn := func(out string, texts ...string) {
				t.Helper()
				for _, text := range texts {
					if !strings.Contains(out, text) {
						t.Errorf("there is no %q in\n%s", text, out)
					}
				}
			}
			out, took := bare("make demo")
			wantIn(out, "building bin/bulkcat", "demo-out/websites.parquet", "product_taxonomy  ")
			if took > firstDemo {
				t.Errorf("the first make demo takes %s on two cores, more than %s", took.Round(time.Second), firstDemo)
			}
			out, _ = bare("make install && cd /tmp && bulkcat demo . && bulkcat website domains.csv -o categories.csv --fetch never")
			wantIn(out, "output    categories.csv (17 rows)")
			out, _ = bare("make test")
			wantIn(out, "ok  \tgithub.com/bulkcat/bulkcat/cmd/bulkcat", "skipped: the tests that need nginx")
		})
	}
}
