//go:build linux

package sandbox

import (
	"bytes"
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// bench is a machine in small: a working directory, a home with secrets, a
// folder outside and services.
type bench struct {
	base, work, tmp, home, out string
	sock, tcp, udp             string
	web                        *httptest.Server
	packets                    *net.UDPConn
	box                        *Sandbox
}

// bwrapForTests is bubblewrap where distributions install it, or where the
// variable says.
func bwrapForTests() string { return findBwrap(os.Getenv("HEW_TEST_BWRAP")) }

func newBench(t *testing.T, tier Tier, change func(*bench, *Config)) *bench {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{base: base}
	for name, to := range map[string]*string{"work": &b.work, "tmp": &b.tmp, "home": &b.home, "out": &b.out} {
		*to = filepath.Join(base, name)
	}
	for path, text := range map[string]string{
		"work/.git/config": "[core]\n", "work/.git/HEAD": "ref: refs/heads/main\n", "work/.git/hooks/sample": "", "work/file": "old\n",
		"work/.bashrc": "true\n", "work/secrets/key": "SECRET\n", "home/.ssh/id": "SECRET\n", "home/.ssh/known": "fine\n", "home/.netrc": "SECRET\n",
		"home/.aws/credentials": "SECRET\n", "home/plain": "plain\n", "out/keep": "keep\n", "tmp/.keep": "",
	} {
		path = filepath.Join(base, path)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	b.services(t)
	cfg := Config{Tier: tier, Bwrap: bwrapForTests(), Policy: Policy{Roots: []string{b.work}, Tmp: b.tmp, Home: b.home, DenyRead: []string{b.work + "/secrets/key"}}}
	if change != nil {
		change(b, &cfg)
	}
	box, err := New(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := box.Close(); err != nil {
			t.Error(err)
		}
	})
	b.box = box
	return b
}

func (b *bench) services(t *testing.T) {
	t.Helper()
	b.sock = filepath.Join(b.work, "docker.sock")
	l, err := net.Listen("unix", b.sock)
	if err != nil {
		t.Fatal(err)
	}
	b.web = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) }))
	b.tcp = b.web.Listener.Addr().String()
	b.packets, err = net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	b.udp = b.packets.LocalAddr().String()
	t.Cleanup(func() { _ = l.Close(); b.web.Close(); _ = b.packets.Close() })
}

// raceOptions keep the race detector from waiting a second at the end of every
// helper.
const raceOptions = "atexit_sleep_ms=0"

// cmd is a confined process in the working directory.
func (b *bench) cmd(ctx context.Context, t *testing.T, argv ...string) *exec.Cmd {
	t.Helper()
	argv, env, err := b.box.Wrap(argv, append(os.Environ(), "HOME="+b.home, "OUT="+b.out, "BASE="+b.base, "GORACE="+raceOptions))
	if err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(ctx, argv[0], argv[1:]...)
	c.Env, c.Dir = env, b.work
	return c
}

// run returns the exit code and everything that was printed.
func (b *bench) run(t *testing.T, argv ...string) (int, string) {
	t.Helper()
	c := b.cmd(t.Context(), t, argv...)
	var out bytes.Buffer
	c.Stdout, c.Stderr = &out, &out
	err := c.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return c.ProcessState.ExitCode(), out.String()
}

func (b *bench) expand(s string) string {
	return strings.NewReplacer("$SOCK", b.sock, "$TCP", b.tcp, "$UDP", b.udp, "$CHECKOUT", b.work, "$BASE", b.base).Replace(s)
}

// offered is tried once for all tests.
var offered = sync.OnceValue(func() Report { return Detect(context.Background(), bwrapForTests()) })

// eachTier runs a test on every tier that this machine offers.
func eachTier(t *testing.T, test func(t *testing.T, tier Tier)) {
	for _, tr := range offered().Tiers {
		t.Run(string(tr.Tier), func(t *testing.T) {
			if !tr.Available {
				t.Skipf("left out: the tier %s (needs a machine where it works: %s)", tr.Tier, tr.Reason)
			}
			test(t, tr.Tier)
		})
	}
}

// attempt is something that a command tries: a script, or a trick.
type attempt struct {
	name   string
	script string
	works  bool
	// partly tells that Landlock does not hold this; it is then not tried there.
	partly bool
}

var attempts = []attempt{
	{name: "write in the working directory", script: `echo new > made && mkdir d && mv made d/ && echo more >> file && rm file`, works: true},
	{name: "write in TMPDIR", script: `echo x > "$TMPDIR/x" && test "$TMPDIR" = "$BASE/tmp" && mktemp`, works: true},
	{name: "write /dev/null", script: `echo x > /dev/null && head -c1 /dev/urandom >/dev/null`, works: true},
	{name: "here document and process substitution", script: "cat <<<x && cat <(echo y)", works: true},
	{name: "read outside", script: `cat "$OUT/keep" "$HOME/plain" /etc/passwd`, works: true},
	{name: "write outside", script: `echo x > "$OUT/new"`},
	{name: "append outside", script: `echo x >> "$OUT/keep"`},
	{name: "truncate outside", script: `truncate -s 0 "$OUT/keep"`},
	{name: "remove outside", script: `rm -f "$OUT/keep"`},
	{name: "change rights outside", script: `chmod 777 "$OUT/keep"`, partly: true},
	{name: "change times outside", script: `touch -d 2001-01-01 "$OUT/keep"`, partly: true},
	{name: "write in the home directory", script: `echo x > "$HOME/.bashrc"`},
	{name: "write in /tmp", script: `echo x > "$BASE/x"`},
	{name: "write through a symbolic link", script: `ln -s "$OUT/keep" l && echo x > l`},
	{name: "write through a hard link", script: `ln "$OUT/keep" h && echo x > h`},
	{name: "write through /proc/self/root", script: `echo x > "/proc/self/root$OUT/keep"`},
	{name: "write through /proc/self/cwd", script: `echo x > /proc/self/cwd/../out/keep`},
	{name: "write a git hook", script: `echo x > .git/hooks/pre-commit`, partly: true},
	{name: "write the git configuration", script: `echo x >> .git/config`, partly: true},
	{name: "replace the git configuration", script: `echo x > c && mv -f c .git/config`, partly: true},
	{name: "move .git away", script: `mv .git g`, partly: true},
	{name: "write elsewhere in .git", script: `echo x > .git/index && mv .git/index .git/index2`, works: true},
	{name: "make .claude", script: `mkdir .claude && echo x > .claude/settings.json`, partly: true},
	{name: "write in the held .claude", script: `echo x > .claude/settings.json`, partly: true},
	{name: "remove the held .claude", script: `rmdir .claude`, partly: true},
	{name: "rename onto .claude", script: `mkdir c && echo x > c/settings.json && mv -T c .claude`, partly: true},
	{name: "link .claude", script: `mkdir c && ln -sT c .claude`, partly: true},
	{name: "make .mcp.json", script: `echo {} > .mcp.json`, partly: true},
	{name: "rename onto .mcp.json", script: `echo {} > m && mv -T m .mcp.json`, partly: true},
	{name: "write a start-up file that is there", script: `echo x >> .bashrc`, partly: true},
	{name: "replace a start-up file", script: `echo x > b && mv -f b .bashrc`, partly: true},
	{name: "lay out a bare repository", script: `mkdir -p objects refs && printf '[core]' > config && echo 'ref: refs/heads/x' > HEAD`, partly: true},
	{name: "read a credential", script: `cat "$HOME/.ssh/id"`},
	{name: "read a credential file", script: `cat "$HOME/.netrc" && grep -q SECRET "$HOME/.netrc"`},
	{name: "list credentials", script: `ls "$HOME/.ssh" | grep -q id`, partly: true},
	{name: "read a credential through a symbolic link", script: `ln -s "$HOME/.ssh/id" l; cat l`},
	{name: "read a credential through a hard link", script: `ln "$HOME/.ssh/id" h && cat h`},
	{name: "read a credential through /proc", script: `cat "/proc/self/root$HOME/.ssh/id" || cat "/proc/1/root$HOME/.ssh/id"`},
	{name: "read a denied file in the working directory", script: `grep -q SECRET secrets/key`, partly: true},
	{name: "move a denied file's folder", script: `mv secrets s`, partly: true},
	{name: "write a kernel setting", script: `exec 3>>/proc/sys/kernel/core_pattern`},
	{name: "write in /sys", script: `exec 3>>/sys/kernel/profiling`},
	{name: "see a disk", script: `ls /dev/vda /dev/sda /dev/nvme0n1 /dev/kmsg 2>/dev/null | grep -q .`, partly: true},
	{name: "unshare", script: `unshare -U true`},
	{name: "start processes in the background", script: `sleep 0.01 & wait`, works: true},
}

func TestAttempts(t *testing.T) {
	eachTier(t, func(t *testing.T, tier Tier) {
		for _, a := range attempts {
			t.Run(a.name, func(t *testing.T) {
				if a.partly && !tier.Whole() {
					t.Logf("not claimed: %s (a whole boundary; %s is partial and reported so)", a.name, tier)
					return
				}
				t.Parallel()
				b := newBench(t, tier, nil)
				code, out := b.run(t, "/bin/bash", "-c", a.script)
				if code == ExitSetup {
					t.Fatalf("not run: %s", out)
				}
				if worked := code == 0; worked != a.works {
					t.Errorf("worked: %v, want %v\n%s", worked, a.works, out)
				}
				b.intact(t, tier)
			})
		}
	})
}

// intact looks at what no command may have changed, and that no placeholder is left.
func (b *bench) intact(t *testing.T, tier Tier) {
	t.Helper()
	if text, err := os.ReadFile(b.out + "/keep"); err != nil || string(text) != "keep\n" {
		t.Errorf("the file outside now holds %q (%v)", text, err)
	}
	if list, _ := os.ReadDir(b.out); len(list) != 1 {
		t.Errorf("the folder outside now holds %v", list)
	}
	if !tier.Whole() {
		return
	}
	for _, name := range []string{".claude", ".mcp.json", ".vscode", ".idea", "HEAD"} {
		if exists(b.work, name) {
			t.Errorf("%s is left in the working directory", name)
		}
	}
	if text, err := os.ReadFile(b.work + "/.git/config"); err != nil || string(text) != "[core]\n" {
		t.Errorf(".git/config now holds %q (%v)", text, err)
	}
}

var trickTable = []struct {
	name  string
	args  []string
	works bool
	other bool // Landlock answers the other way
}{
	{name: "tcp", args: []string{"$TCP"}},
	{name: "unix", args: []string{"$SOCK"}},
	{name: "unix", args: []string{"/var/run/docker.sock"}},
	{name: "vsock"},
	{name: "vsock-high"},
	{name: "mptcp"},
	{name: "packet"},
	{name: "alg"},
	{name: "netlink", works: true},
	{name: "socketpair", works: true},
	{name: "tcp-socket", works: true, other: true},
	{name: "unshare"},
	{name: "clone-user"},
	{name: "clone3"},
	{name: "setns"},
	{name: "mount"},
	{name: "remount"},
	{name: "umount", args: []string{"$CHECKOUT/.git/hooks"}},
	{name: "open-tree"},
	{name: "setattr"},
	{name: "chroot"},
	{name: "ptrace"},
	{name: "vm-readv"},
	{name: "io-uring"},
	{name: "bpf"},
	{name: "keyctl"},
	{name: "tiocsti"},
	{name: "raise-caps"},
	{name: "bounding", other: os.Getuid() != 0},
	{name: "init-memory"},
	{name: "kill", args: []string{"$PID"}},
	{name: "pty", works: true},
}

func TestTricks(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	eachTier(t, func(t *testing.T, tier Tier) {
		b := newBench(t, tier, nil)
		for _, k := range trickTable {
			t.Run(k.name, func(t *testing.T) {
				argv := []string{exe, trickArg, k.name}
				for _, a := range k.args {
					argv = append(argv, strings.ReplaceAll(b.expand(a), "$PID", pidText()))
				}
				code, out := b.run(t, argv...)
				want := k.works != (k.other && !tier.Whole())
				if code > 1 {
					t.Fatalf("code %d: %s", code, out)
				}
				if worked := code == 0; worked != want {
					t.Errorf("worked: %v, want %v\n%s", worked, want, out)
				}
			})
		}
	})
}
