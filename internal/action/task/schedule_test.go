package task

import (
	"testing"
	"time"
)

func clock(at *time.Time) func() time.Time { return func() time.Time { return *at } }

func TestCron(t *testing.T) {
	now := time.Date(2026, 2, 27, 10, 30, 20, 0, time.UTC) // a Friday
	for _, c := range []struct{ cron, next string }{
		{"* * * * *", "2026-02-27 10:31"},
		{"*/15 * * * *", "2026-02-27 10:45"},
		{"0 9 * * 1-5", "2026-03-02 09:00"},
		{"0 0 29 2 *", "2028-02-29 00:00"},
		{"5,10 23 * * 7", "2026-03-01 23:05"},
		{"0 12 1 * 6", "2026-02-28 12:00"}, // the first of a month, or a Saturday
		{"30/10 10 27 2 *", "2026-02-27 10:40"},
	} {
		s := &Schedule{Now: clock(&now)}
		p, err := s.Repeat(Plan{Cron: c.cron})
		if got := p.Next.Format("2006-01-02 15:04"); err != nil || got != c.next {
			t.Errorf("%s: %s %v, want %s", c.cron, got, err, c.next)
		}
	}
	for _, bad := range []string{"", "* * * *", "60 * * * *", "* 24 * * *", "* * 0 * *", "5-1 * * * *", "*/0 * * * *", "a * * * *", "0 0 30 2 *", "1- * * * *", ", * * * *"} {
		if _, err := (&Schedule{Now: clock(&now)}).Repeat(Plan{Cron: bad}); err == nil {
			t.Errorf("%q was taken", bad)
		}
	}
}

func TestSchedule(t *testing.T) {
	now := time.Date(2026, 1, 1, 8, 0, 0, 0, time.UTC)
	s := &Schedule{Now: clock(&now)}
	s.Wake("w0", "old", "", time.Minute)
	w := s.Wake("w1", "wake", "why", time.Second)
	if got := w.Next.Sub(now); got != MinWakeup {
		t.Errorf("the delay is %s", got)
	}
	for _, p := range []Plan{{ID: "c1", Prompt: "hourly", Cron: "0 * * * *", Recurring: true}, {ID: "c2", Prompt: "once", Cron: "0 9 * * *"}} {
		if _, err := s.Repeat(p); err != nil {
			t.Fatal(err)
		}
	}
	if due := s.Due(); len(due) != 0 {
		t.Errorf("too early: %v", due)
	}
	now = now.Add(3 * time.Hour)
	due := s.Due()
	if len(due) != 3 || due[0].ID != "w1" || len(s.Due()) != 0 {
		t.Fatalf("%+v", due)
	}
	if all := s.All(); len(all) != 1 || all[0].ID != "c1" || !all[0].Next.After(now) {
		t.Errorf("%+v", all)
	}
	now = now.Add(planLife)
	if due := s.Due(); len(due) != 1 || len(s.All()) != 0 {
		t.Errorf("a repeated plan outlives its time: %v %v", due, s.All())
	}
	if s.Delete("c1") || s.StopWaking() {
		t.Error("there is nothing to delete")
	}
	for range MaxPlans {
		if _, err := s.Repeat(Plan{Cron: "* * * * *"}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.Repeat(Plan{Cron: "* * * * *"}); err == nil {
		t.Error("there is no limit")
	}
}

func FuzzCron(f *testing.F) {
	f.Add("*/5 1-3,7 * 2 0")
	now := time.Date(2026, 1, 1, 8, 0, 0, 0, time.UTC)
	f.Fuzz(func(t *testing.T, text string) {
		c, err := parseCron(text)
		if err != nil {
			return
		}
		if next, ok := c.after(now); ok && (!next.After(now) || next.Second() != 0) {
			t.Errorf("%q: %s", text, next)
		}
	})
}
