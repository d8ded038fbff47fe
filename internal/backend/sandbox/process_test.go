//go:build linux

package sandbox

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func pidText() string { return strconv.Itoa(os.Getpid()) }

func TestExit(t *testing.T) {
	eachTier(t, func(t *testing.T, tier Tier) {
		b := newBench(t, tier, nil)
		for _, c := range []struct {
			script string
			code   int
			signal syscall.Signal
		}{
			{"exit 0", 0, 0},
			{"exit 7", 7, 0},
			{"exit 255", 255, 0},
			{"kill -TERM $$", -1, unix.SIGTERM},
			{"kill -KILL $$", -1, unix.SIGKILL},
			{"kill -SEGV $$", -1, unix.SIGSEGV},
			{"(exit 3); exit $?", 3, 0},
		} {
			cmd := b.cmd(t.Context(), t, "/bin/bash", "-c", c.script)
			_ = cmd.Run() // the state says it
			ws := cmd.ProcessState.Sys().(syscall.WaitStatus)
			if cmd.ProcessState.ExitCode() != c.code || (c.signal != 0 && ws.Signal() != c.signal) {
				t.Errorf("%s: %v", c.script, cmd.ProcessState)
			}
		}
		b.intact(t, tier)
	})
}

// started is a confined shell of which the output can be read.
func started(t *testing.T, b *bench, script string) (*exec.Cmd, *bufio.Reader) {
	t.Helper()
	cmd := b.cmd(context.WithoutCancel(t.Context()), t, "/bin/bash", "-c", script)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	return cmd, bufio.NewReader(out)
}

func line(t *testing.T, r *bufio.Reader) string {
	t.Helper()
	text, err := r.ReadString('\n')
	if err != nil {
		t.Fatalf("read a line: %v", err)
	}
	return strings.TrimSpace(text)
}

func TestSignalsReachTheCommand(t *testing.T) {
	eachTier(t, func(t *testing.T, tier Tier) {
		for _, sig := range []syscall.Signal{unix.SIGTERM, unix.SIGINT, unix.SIGUSR1} {
			b := newBench(t, tier, nil)
			cmd, out := started(t, b, `trap 'echo got; exit 9' TERM INT USR1; echo ready; while :; do sleep 0.05; done`)
			line(t, out)
			if err := cmd.Process.Signal(sig); err != nil {
				t.Fatal(err)
			}
			if got := line(t, out); got != "got" {
				t.Errorf("%v: %q", sig, got)
			}
			_ = cmd.Wait() // the code says it
			if code := cmd.ProcessState.ExitCode(); code != 9 {
				t.Errorf("%v: code %d, want 9", sig, code)
			}
		}
	})
}

// TestNothingIsLeft: what a command leaves running ends with it, and all of it
// ends when the helper is killed. The pipe is closed when the last process is gone.
func TestNothingIsLeft(t *testing.T) {
	eachTier(t, func(t *testing.T, tier Tier) {
		if !tier.Whole() {
			t.Logf("not claimed: leftovers of a command (a pid namespace, which %s has not)", tier)
			return
		}
		t.Run("end", func(t *testing.T) {
			b := newBench(t, tier, nil)
			cmd, out := started(t, b, `(trap "" TERM HUP; setsid sleep 1000) & echo ready`)
			line(t, out)
			if _, err := io.ReadAll(out); err != nil {
				t.Fatal(err)
			}
			if err := cmd.Wait(); err != nil {
				t.Error(err)
			}
		})
		t.Run("kill", func(t *testing.T) {
			b := newBench(t, tier, nil)
			cmd, out := started(t, b, `setsid sleep 1000 & echo ready; sleep 1000`)
			line(t, out)
			if err := cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			if _, err := io.ReadAll(out); err != nil {
				t.Fatal(err)
			}
			// A killed helper leaves placeholders; the next command takes them away.
			if !exists(b.work, ".claude") {
				t.Error("the test is not about what it says: there is no placeholder")
			}
			b.run(t, "/bin/true")
			b.intact(t, tier)
		})
	})
}

func TestPipeNumber187(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	eachTier(t, func(t *testing.T, tier Tier) {
		b := newBench(t, tier, nil)
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		cmd := b.cmd(t.Context(), t, exe, trickArg, "fd")
		cmd.ExtraFiles = make([]*os.File, 187-3+1)
		cmd.ExtraFiles[187-3] = w
		var said bytes.Buffer
		cmd.Stderr = &said
		if err := cmd.Run(); err != nil {
			t.Errorf("%v: %s", err, said.String())
		}
		_ = w.Close()
		if got, _ := io.ReadAll(r); string(got) != "seen\n" {
			t.Errorf("got %q", got)
		}
	})
}

// TestInheritedFolder: a descriptor of a folder outside is not handed on.
func TestInheritedFolder(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	eachTier(t, func(t *testing.T, tier Tier) {
		b := newBench(t, tier, nil)
		dir, err := os.Open(b.out)
		if err != nil {
			t.Fatal(err)
		}
		defer dir.Close()
		cmd := b.cmd(t.Context(), t, exe, trickArg, "escape-fd", b.out+"/new")
		cmd.ExtraFiles = []*os.File{dir}
		if cmd.Run() == nil {
			t.Error("a file was made through an inherited descriptor")
		}
		b.intact(t, tier)
	})
}

func TestUDPStaysInside(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	eachTier(t, func(t *testing.T, tier Tier) {
		b := newBench(t, tier, nil)
		b.run(t, exe, trickArg, "udp", b.udp)
		if err := b.packets.SetReadDeadline(time.Now().Add(20 * time.Millisecond)); err != nil {
			t.Fatal(err)
		}
		if n, _ := b.packets.Read(make([]byte, 9)); n != 0 {
			t.Errorf("%d bytes arrived outside", n)
		}
	})
}

func TestUnixSocketsAllowed(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	eachTier(t, func(t *testing.T, tier Tier) {
		b := newBench(t, tier, func(_ *bench, c *Config) { c.Policy.UnixSockets = true })
		if code, out := b.run(t, exe, trickArg, "unix", b.sock); code != 0 {
			t.Errorf("code %d: %s", code, out)
		}
		if b.box.private == "" {
			return
		}
		if code, _ := b.run(t, exe, trickArg, "unix", filepath.Join(b.box.private, "relay")); code == 0 {
			t.Error("the relay's own socket can be reached")
		}
	})
}

func TestExistingClaudeFolder(t *testing.T) {
	eachTier(t, func(t *testing.T, tier Tier) {
		if !tier.Whole() {
			t.Logf("not claimed: protected names (a whole boundary; %s is partial)", tier)
			return
		}
		b := newBench(t, tier, func(b *bench, _ *Config) {
			if err := os.MkdirAll(b.work+"/.claude/skills", 0o755); err != nil {
				t.Fatal(err)
			}
		})
		for _, script := range []string{
			`echo x > .claude/settings.json`, `mkdir .claude/hooks`, `mv .claude c`, `rm -r .claude`, `mv .claude/skills s`,
			`mv .claude c; mkdir .claude && echo x > .claude/settings.json`,
		} {
			if code, out := b.run(t, "/bin/bash", "-c", script); code == 0 || code == ExitSetup {
				t.Errorf("%s: code %d: %s", script, code, out)
			}
		}
		if !exists(b.work, ".claude/skills") || exists(b.work, ".claude/settings.json") {
			t.Error(".claude was changed")
		}
	})
}

// TestLinkedClaudeFolder: neither the link nor what it leads to can be changed.
func TestLinkedClaudeFolder(t *testing.T) {
	eachTier(t, func(t *testing.T, tier Tier) {
		if !tier.Whole() {
			t.Logf("not claimed: protected names (a whole boundary; %s is partial)", tier)
			return
		}
		b := newBench(t, tier, func(b *bench, _ *Config) {
			if err := os.Mkdir(b.work+"/shared", 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink("shared", b.work+"/.claude"); err != nil {
				t.Fatal(err)
			}
		})
		if tier == Bubblewrap {
			if code, out := b.run(t, "/bin/true"); code != ExitSetup || !strings.Contains(out, "symbolic link") {
				t.Errorf("code %d: %s", code, out)
			}
			return
		}
		for _, script := range []string{
			`echo x > .claude/settings.json`, `echo x > shared/settings.json`, `rm .claude`, `mv .claude c`, `mv shared s`,
			`mkdir n && ln -sfT n .claude`,
		} {
			if code, out := b.run(t, "/bin/bash", "-c", script); code == 0 || code == ExitSetup {
				t.Errorf("%s: code %d: %s", script, code, out)
			}
		}
	})
}

// TestRelayFromInside: the loopback of a command leads to the relay, and
// through it to allowed hosts alone.
func TestRelayFromInside(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	eachTier(t, func(t *testing.T, tier Tier) {
		if !tier.Whole() {
			t.Logf("not claimed: the relay (a network of the command's own; %s has none at all)", tier)
			return
		}
		b := newBench(t, tier, func(b *bench, c *Config) {
			c.Hosts.Allow = []string{"127.0.0.1"}
			c.Hosts.Deny = []string{"127.0.0.1:9"}
		})
		if code, out := b.run(t, exe, trickArg, "connect", b.tcp); code != 0 {
			t.Errorf("connect: %s", out)
		}
		if code, out := b.run(t, exe, trickArg, "get", "http://"+b.tcp+"/"); code != 0 {
			t.Errorf("get: %s", out)
		}
		if code, out := b.run(t, exe, trickArg, "connect", "127.0.0.1:9"); code == 0 || !strings.Contains(out, "403") {
			t.Errorf("denied: code %d: %s", code, out)
		}
	})
}

// TestPlaceholdersOfTwo: the placeholders of one command stand as long as
// another relies on them.
func TestPlaceholdersOfTwo(t *testing.T) {
	eachTier(t, func(t *testing.T, tier Tier) {
		if !tier.Whole() {
			t.Logf("not claimed: placeholders (a whole boundary; %s is partial)", tier)
			return
		}
		b := newBench(t, tier, nil)
		long := b.cmd(t.Context(), t, "/bin/bash", "-c", `echo ready; read x; echo {} > .mcp.json`)
		in, err := long.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		out, err := long.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := long.Start(); err != nil {
			t.Fatal(err)
		}
		line(t, bufio.NewReader(out))
		b.run(t, "/bin/true")
		if !exists(b.work, ".mcp.json") {
			t.Error("the placeholder is gone while a command relies on it")
		}
		_, _ = io.WriteString(in, "go\n")
		if long.Wait() == nil {
			t.Error(".mcp.json was written")
		}
		b.intact(t, tier)
	})
}

func TestReadOnly(t *testing.T) {
	eachTier(t, func(t *testing.T, tier Tier) {
		on := true
		b := newBench(t, tier, func(_ *bench, c *Config) { c.ReadOnly = func() bool { return on } })
		if code, out := b.run(t, "/bin/bash", "-c", `cat file && echo x > "$TMPDIR/x"`); code != 0 {
			t.Errorf("code %d: %s", code, out)
		}
		if code, _ := b.run(t, "/bin/bash", "-c", `echo x > new`); code == 0 {
			t.Error("the working directory was written")
		}
		on = false
		if code, out := b.run(t, "/bin/bash", "-c", `echo x > new`); code != 0 {
			t.Errorf("code %d: %s", code, out)
		}
	})
}

// BenchmarkStart is the cost of a confined command beside that of a plain one.
func BenchmarkStart(b *testing.B) {
	work := b.TempDir()
	run := func(b *testing.B, argv, env []string) {
		for b.Loop() {
			cmd := exec.Command(argv[0], argv[1:]...)
			cmd.Env, cmd.Dir = env, work
			if out, err := cmd.CombinedOutput(); err != nil {
				b.Fatalf("%v: %s", err, out)
			}
		}
	}
	plain := []string{"/bin/sh", "-c", "true"}
	b.Run("plain", func(b *testing.B) { run(b, plain, os.Environ()) })
	for _, tr := range Detect(b.Context(), bwrapForTests()).Tiers {
		if !tr.Available {
			continue
		}
		b.Run(string(tr.Tier), func(b *testing.B) {
			box, err := New(b.Context(), Config{Tier: tr.Tier, Bwrap: bwrapForTests(), Policy: Policy{Roots: []string{work}}})
			if err != nil {
				b.Fatal(err)
			}
			defer func() { _ = box.Close() }()
			argv, env, err := box.Wrap(plain, os.Environ())
			if err != nil {
				b.Fatal(err)
			}
			run(b, argv, env)
		})
	}
}
