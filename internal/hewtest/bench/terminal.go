//go:build !windows

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hew-agent/hew/internal/hewtest/robot"
)

func terminalMeasures() []measure {
	return []measure{
		{name: "start to the first paint at a terminal", goal: "≤ 50 ms", unit: seconds, reference: "empty program, start to end", run: firstPaint},
		{name: "key to its echo, at rest (p99 of 100)", goal: "≤ 16 ms", unit: seconds, run: func(ctx context.Context, l *lab) (hew, ref samples, err error) {
			return echoes(ctx, l, text("ready"))
		}},
		{name: "key to its echo, while 800 deltas/s arrive (p99 of 100)", goal: "≤ 16 ms", unit: seconds, run: func(ctx context.Context, l *lab) (hew, ref samples, err error) {
			return echoes(ctx, l, reply{deltas: prose(24_000), pace: 1250 * time.Microsecond})
		}},
		{name: "CPU to show 20,000 deltas at a terminal", goal: "–", unit: seconds, reference: "hew -p with the same reply", run: shownDeltas},
		{name: "bytes to the terminal per byte of a reply", goal: "–", unit: count, run: shownBytes},
		{name: "CPU of 10 s at rest at a terminal", goal: "< 0.1 s in 10 min", unit: seconds, run: atRest},
	}
}

// prose is a reply in n small deltas, with lines and paragraphs.
func prose(n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = fmt.Sprintf("word%05d ", i%100_000)
		if i%40 == 39 {
			out[i] += "\n\n"
		}
	}
	out[n-1] += "\n\nthe last word"
	return out
}

// seat starts hew at a terminal of 120x40 cells.
func (l *lab) seat(p plan) (*robot.Robot, error) {
	h, err := l.newHome()
	if err != nil {
		return nil, err
	}
	l.model.converse(p)
	r, err := robot.Open(120, 40)
	if err != nil {
		return nil, missing{"pseudo-terminals"}
	}
	env := append(l.env(h), "TERM=xterm-256color", "COLORTERM=truecolor", "XTERM_VERSION=bench", "ANTHROPIC_MODEL="+modelName)
	return r, r.Start(robot.Config{Path: l.hew, Env: env, Dir: h.project})
}

// watch polls, closely enough for milliseconds.
func watch(ctx context.Context, what string, ok func() bool) error {
	ctx, cancel := context.WithTimeout(ctx, runLimit)
	defer cancel()
	tick := time.NewTicker(200 * time.Microsecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("wait for %s: %w", what, ctx.Err())
		}
	}
	return nil
}

func shows(r *robot.Robot, text string) func() bool {
	return func() bool { return strings.Contains(r.Screen(), text) }
}

func firstPaint(ctx context.Context, l *lab) (hew, ref samples, err error) {
	took := func(start func() (*robot.Robot, error), ready func(*robot.Robot) func() bool) taking {
		return func() (float64, error) {
			began := time.Now()
			r, err := start()
			if r != nil {
				defer r.Close()
			}
			if err != nil {
				return 0, err
			}
			err = watch(ctx, "the first paint", ready(r))
			return time.Since(began).Seconds(), err
		}
	}
	empty := func() (*robot.Robot, error) {
		r, err := robot.Open(120, 40)
		if err != nil {
			return nil, missing{"pseudo-terminals"}
		}
		return r, r.Start(robot.Config{Path: l.empty, Dir: l.dir})
	}
	ended := func(r *robot.Robot) func() bool {
		return func() bool {
			select {
			case <-r.Done():
				return true
			default:
				return false
			}
		}
	}
	return both(ctx, 15, took(func() (*robot.Robot, error) { return l.seat(always(text("ok"))) }, func(r *robot.Robot) func() bool { return shows(r, "❯") }), took(empty, ended))
}

// ask sends a prompt and waits for what the reply begins with.
func ask(ctx context.Context, r *robot.Robot, first string) error {
	if err := watch(ctx, "the prompt", shows(r, "❯")); err != nil {
		return err
	}
	if err := errors.Join(r.Send("1"), watch(ctx, "what was typed", shows(r, "❯ 1")), r.Key("enter")); err != nil {
		return err
	}
	return watch(ctx, "the reply", func() bool { return strings.Contains(r.All(), first) })
}

// echoes takes the time from a key to the moment at which the screen shows it.
func echoes(ctx context.Context, l *lab, answer reply) (hew, ref samples, err error) {
	r, err := l.seat(always(answer))
	if r != nil {
		defer r.Close()
	}
	if err != nil {
		return nil, nil, err
	}
	if err := ask(ctx, r, strings.TrimSpace(answer.deltas[0])); err != nil {
		return nil, nil, err
	}
	var took samples
	for i := range 100 {
		key := string(rune('a' + i%26))
		began := time.Now()
		if err := r.Send(key); err != nil {
			return nil, nil, err
		}
		if err := watch(ctx, "the echo", shows(r, "❯ "+key)); err != nil {
			return nil, nil, err
		}
		took = append(took, time.Since(began).Seconds())
		if err := errors.Join(r.Key("backspace"), watch(ctx, "the erasure", func() bool { return !shows(r, "❯ "+key)() })); err != nil {
			return nil, nil, err
		}
	}
	slices.Sort(took)
	return samples{took[len(took)*99/100]}, nil, nil
}

// show lets hew show a reply and leave, and returns what it wrote and took.
func (l *lab) show(ctx context.Context, answer reply, last string) (written int, cpu float64, err error) {
	r, err := l.seat(always(answer))
	if r != nil {
		defer r.Close()
	}
	if err != nil {
		return 0, 0, err
	}
	if err := ask(ctx, r, last); err != nil {
		return 0, 0, err
	}
	written = r.Written()
	err = watch(ctx, "the end", func() bool {
		_ = r.Key("ctrl+d") // the terminal may be closed by now
		select {
		case <-r.Done():
			return true
		case <-time.After(50 * time.Millisecond):
			return false
		}
	})
	return written, r.CPU().Seconds(), err
}

func shownDeltas(ctx context.Context, l *lab) (hew, ref samples, err error) {
	h, err := l.newHome()
	if err != nil {
		return nil, nil, err
	}
	many, one := reply{deltas: prose(20_000)}, text("the last word")
	shown := func(r reply) taking {
		return func() (float64, error) { _, cpu, err := l.show(ctx, r, "the last word"); return cpu, err }
	}
	headless := func(r reply) taking {
		return func() (float64, error) { _, c, err := l.prompt(ctx, h, always(r)); return c.cpu(), err }
	}
	out, err := interleave(ctx, 3, shown(many), headless(many), shown(one), headless(one))
	if err != nil {
		return nil, nil, err
	}
	return out[0].minus(out[2]), out[1].minus(out[3]), nil
}

func shownBytes(ctx context.Context, l *lab) (hew, ref samples, err error) {
	deltas := prose(4_000)
	written, _, err := l.show(ctx, reply{deltas: deltas, pace: 1250 * time.Microsecond}, "the last word")
	if err != nil {
		return nil, nil, err
	}
	return samples{float64(written) / float64(len(strings.Join(deltas, "")))}, nil, nil
}

// atRest takes the CPU time of ten seconds in which nothing happens.
func atRest(ctx context.Context, l *lab) (hew, ref samples, err error) {
	r, err := l.seat(always(text("ready")))
	if r != nil {
		defer r.Close()
	}
	if err != nil {
		return nil, nil, err
	}
	if err := ask(ctx, r, "ready"); err != nil {
		return nil, nil, err
	}
	<-time.After(2 * time.Second) // what follows a reply is no rest
	before, err := onCPU(r.Pid())
	if err != nil {
		return nil, nil, err
	}
	<-time.After(10 * time.Second)
	after, err := onCPU(r.Pid())
	if err != nil {
		return nil, nil, err
	}
	return samples{after - before}, nil, nil
}

// onCPU is the time that the threads of a process have run.
func onCPU(pid int) (float64, error) {
	files, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", pid))
	if err != nil || len(files) == 0 {
		return 0, missing{"/proc with schedstat"}
	}
	sum := 0.0
	for _, f := range files {
		raw, err := os.ReadFile(f)
		if err != nil {
			continue // the thread has ended
		}
		ns, err := strconv.ParseFloat(strings.Fields(string(raw))[0], 64)
		if err != nil {
			return 0, fmt.Errorf("read %s: %w", f, err)
		}
		sum += ns / 1e9
	}
	return sum, nil
}
