package team

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gofrs/flock"

	"github.com/hew-agent/hew/internal/action/task"
)

func at() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC) }

func join(t *testing.T, home, name string) *Seat {
	t.Helper()
	s, err := Join(t.Context(), Folder{home, "crew"}, Member{Name: name, AgentType: "general-purpose"}, at)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.lock.Close() })
	return s
}

func TestMembers(t *testing.T) {
	home := t.TempDir()
	lead, ann := join(t, home, Lead), join(t, home, "ann")
	var taken *Taken
	if _, err := Join(t.Context(), ann.Folder, Member{Name: "ann"}, at); !errors.As(err, &taken) {
		t.Fatalf("a name given twice: %v", err)
	}
	if !lead.Running("ann") || lead.Running("bob") || lead.Gone("ann") || lead.Gone("somebody") {
		t.Error("ann lives, bob was never there")
	}
	if err := ann.lock.Close(); err != nil { // as the kernel does when a process is killed
		t.Fatal(err)
	}
	if lead.Running("ann") || !lead.Gone("ann") {
		t.Error("ann is gone")
	}
	ann = join(t, home, "ann")
	for _, s := range []*Seat{ann, lead} {
		if err := s.Leave(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := os.Stat(lead.config()); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the configuration outlives the team: %v", err)
	}
	for _, bad := range []string{"", "../x", ".x", "a b", "a/b", strings.Repeat("x", 65)} {
		if _, err := Join(t.Context(), Folder{home, bad}, Member{Name: "x"}, at); err == nil {
			t.Errorf("the team %q was joined", bad)
		}
		if _, err := Join(t.Context(), Folder{home, "ok"}, Member{Name: bad}, at); err == nil {
			t.Errorf("the member %q has joined", bad)
		}
	}
}

func TestMail(t *testing.T) {
	home := t.TempDir()
	lead, ann, bob := join(t, home, Lead), join(t, home, "ann"), join(t, home, "bob")
	ctx := t.Context()
	if err := lead.Send(ctx, "ann", "look at <x>", "look"); err != nil {
		t.Fatal(err)
	}
	if err := ann.Say(ctx, Everyone, Protocol{Type: Idle}); err != nil {
		t.Fatal(err)
	}
	var none *NoMember
	if err := lead.Send(ctx, "eve", "x", ""); !errors.As(err, &none) {
		t.Errorf("a message to nobody: %v", err)
	}
	got, err := ann.Unread(ctx)
	if err != nil || len(got) != 1 || got[0].Text != "look at <x>" || !strings.Contains(got[0].Model(), "look at &lt;x&gt;") {
		t.Fatalf("%v %v", got, err)
	}
	if again, err := ann.Unread(ctx); err != nil || len(again) != 0 {
		t.Errorf("handed out twice: %v %v", again, err)
	}
	ann.mail = mail{} // a process that died before it took the message up
	if again, err := ann.Unread(ctx); err != nil || len(again) != 1 {
		t.Errorf("lost: %v %v", again, err)
	}
	if err := ann.Keep(ctx); err != nil {
		t.Fatal(err)
	}
	ann.mail = mail{}
	if again, err := ann.Unread(ctx); err != nil || len(again) != 0 {
		t.Errorf("came back: %v %v", again, err)
	}
	for _, s := range []*Seat{lead, bob} {
		got, err := s.Unread(ctx)
		if err != nil || len(got) != 1 {
			t.Fatalf("%v %v", got, err)
		}
		if p, ok := got[0].Protocol(); !ok || p.Type != Idle || p.From != "ann" {
			t.Errorf("%+v %v", p, ok)
		}
	}
}

func TestBrokenMailbox(t *testing.T) {
	ann := join(t, t.TempDir(), "ann")
	path := ann.inbox("ann")
	if err := write(path, []any{1, map[string]string{"from": "x"}, Message{From: "bob", Text: "hi", Time: "t"}}); err != nil {
		t.Fatal(err)
	}
	got, err := ann.Unread(t.Context())
	if len(got) != 1 || err == nil || !strings.Contains(err.Error(), "2 entries") {
		t.Errorf("%v %v", got, err)
	}
	if err := os.WriteFile(path, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := ann.Unread(t.Context()); err == nil || !strings.Contains(err.Error(), "repair or remove") {
		t.Error(err)
	}
}

func FuzzMessage(f *testing.F) {
	f.Add(`{"from":"a","text":"{\"type\":\"idle_notification\"}"}`)
	f.Fuzz(func(t *testing.T, raw string) {
		m, ok := readMessage(json.RawMessage(raw))
		if ok && (m.From == "" || m.Text == "") {
			t.Error("an empty message")
		}
		if strings.Count(m.Model(), "</teammate-message>") != 1 {
			t.Errorf("the text leaves its element: %q", m.Model())
		}
		m.Protocol()
	})
}

// TestWorker is not a test: the tests below run it as a process of its own.
func TestWorker(t *testing.T) {
	home, name := os.Getenv("HEW_TEST_TEAM"), os.Getenv("HEW_TEST_MEMBER")
	if home == "" {
		return
	}
	s, err := Join(t.Context(), Folder{home, "crew"}, Member{Name: name}, at)
	if err != nil {
		t.Fatal(err)
	}
	mark := fmt.Sprintf("process-%d", os.Getpid()) // a name comes back, a process does not
	if ok, err := flock.New(filepath.Join(home, mark)).TryLock(); !ok || err != nil {
		t.Fatal(ok, err)
	}
	for {
		it, err := s.Board().Claim(t.Context(), "", name)
		if err != nil {
			t.Fatal(err)
		}
		if it == nil {
			if finished(t, s.Board()) {
				return
			}
			<-time.After(2 * time.Millisecond)
			continue
		}
		work(t, s, it.ID, mark)
	}
}

// work shows that nobody alive works on the same task, then completes it.
func work(t *testing.T, s *Seat, id, mark string) {
	held := filepath.Join(s.Home, "held-"+id)
	if raw, err := os.ReadFile(held); err == nil && len(raw) > 0 && lives(filepath.Join(s.Home, string(raw))) {
		fault(t, s, fmt.Sprintf("%s claims #%s while %s works on it", s.Me.Name, id, raw))
	}
	if err := os.WriteFile(held, []byte(mark), 0o600); err != nil {
		t.Fatal(err)
	}
	err := s.Board().Change(t.Context(), func(all task.Items) error {
		if it := all[id]; it.Status != task.Claimed || it.Owner != s.Me.Name {
			fault(t, s, fmt.Sprintf("%s completes #%s, which is %s of %s", s.Me.Name, id, it.Status, it.Owner))
		}
		if err := os.Remove(held); err != nil {
			return err
		}
		all[id].Status = task.Done
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func lives(mark string) bool {
	l := flock.New(mark)
	defer l.Close()
	ok, _ := l.TryRLock()
	return !ok
}

func fault(t *testing.T, s *Seat, text string) {
	if err := os.WriteFile(filepath.Join(s.Home, "fault-"+s.Me.Name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func finished(t *testing.T, b task.Board) bool {
	all, err := b.Load()
	if err != nil {
		t.Fatal(err)
	}
	for _, it := range all {
		if it.Status != task.Done {
			return false
		}
	}
	return true
}

// claims lets processes work a list off while random ones are killed.
func claims(t *testing.T, processes, tasks, kills int) {
	home := t.TempDir()
	b := task.Board{Dir: Folder{home, "crew"}.Tasks()}
	err := b.Change(t.Context(), func(all task.Items) error {
		for i := 1; i <= tasks; i++ {
			it := &task.Item{ID: fmt.Sprint(i), Subject: "work", Status: task.Open, Blocks: []string{}, BlockedBy: []string{}}
			if i > 4 && i%4 == 0 { // every fourth waits for the one before
				it.BlockedBy = []string{fmt.Sprint(i - 1)}
			}
			all[it.ID] = it
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	crew := make([]*exec.Cmd, processes)
	for i := range crew {
		crew[i] = worker(t, home, i)
	}
	for n := range kills {
		<-time.After(time.Duration(20+rand.IntN(60)) * time.Millisecond)
		i := rand.IntN(processes)
		if err := crew[i].Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
			t.Fatal(err)
		}
		_ = crew[i].Wait() // killed
		crew[i] = worker(t, home, i)
		if n > kills/2 && finished(t, b) {
			break
		}
	}
	for _, c := range crew {
		if err := c.Wait(); err != nil {
			t.Errorf("a worker failed: %v\n%s", err, c.Stdout)
		}
	}
	if faults, _ := filepath.Glob(filepath.Join(home, "fault-*")); len(faults) > 0 {
		raw, _ := os.ReadFile(faults[0])
		t.Errorf("%s", raw)
	}
	all, err := b.Load()
	if err != nil || len(all) != tasks || !finished(t, b) {
		t.Errorf("%d tasks, all done: %v, %v", len(all), finished(t, b), err)
	}
}

func worker(t *testing.T, home string, i int) *exec.Cmd {
	t.Helper()
	c := exec.CommandContext(context.WithoutCancel(t.Context()), os.Args[0], "-test.run=^TestWorker$")
	c.Env = append(os.Environ(), "HEW_TEST_TEAM="+home, fmt.Sprintf("HEW_TEST_MEMBER=m%d", i))
	c.Stdout = &strings.Builder{}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Process.Kill() })
	return c
}

// A list is worked off, each task by one at a time and to its end once, while
// workers are killed.
func TestClaimsWithKills(t *testing.T) { claims(t, 4, 60, 8) }
