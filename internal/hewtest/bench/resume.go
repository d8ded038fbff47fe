package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"
)

func resumeMeasures() []measure {
	return []measure{
		{
			name: "last byte of an answer to next request, requests of 7 MB", goal: "≤ 1.5×", unit: seconds, reference: floorChat,
			run: func(ctx context.Context, l *lab) (hew, ref samples, err error) {
				b, err := l.bigTurns(ctx)
				return b.hewGap, b.refGap, err
			},
		},
		{
			name: "CPU per turn, requests of 7 MB", goal: "independent of history but for sending", unit: seconds, reference: floorChat,
			run: func(ctx context.Context, l *lab) (hew, ref samples, err error) {
				b, err := l.bigTurns(ctx)
				return b.hewCPU, b.refCPU, err
			},
		},
		{
			name: "`--continue` of a 15 MB transcript, above a fresh prompt", goal: "≤ 2×", unit: seconds,
			reference: "read + JSON scan of the file",
			run: func(ctx context.Context, l *lab) (hew, ref samples, err error) {
				return resume(ctx, l, 15_000_000, 7)
			},
		},
		{
			name: "`--continue` of a 60 MB transcript, above a fresh prompt", goal: "–", unit: seconds, long: true,
			reference: "read + JSON scan of the file",
			run: func(ctx context.Context, l *lab) (hew, ref samples, err error) {
				return resume(ctx, l, 60_000_000, 3)
			},
		},
	}
}

// Sizes of the growing of sessions. A chunk is a file that one reading gives whole.
const (
	bigRequest  = 7_000_000
	chunkBytes  = 60_000
	chunksAhead = 64
	bigTurns    = 20
)

// grow lets hew read file after file in a new home until enough says so of the home and of the size of the last request.
func (l *lab) grow(ctx context.Context, enough func(h *home, bytes int) bool) (*home, error) {
	h, err := l.newHome()
	if err != nil {
		return nil, err
	}
	var files []string
	var failed error
	_, _, err = l.prompt(ctx, h, func(turn, bytes int) reply {
		if turn == len(files) {
			var more []string
			more, failed = l.plant(h, chunksAhead, chunkBytes)
			files = append(files, more...)
		}
		if failed != nil || enough(h, bytes) {
			return text("done")
		}
		return reading(files[turn])
	})
	return h, errors.Join(err, failed)
}

// bigFigures are those of a turn whose request has 7 MB, in seconds.
type bigFigures struct{ hewGap, refGap, hewCPU, refCPU samples }

// bigTurns continues a session of 7 MB with turns that read a small file; the floor begins with hew's request of that moment. CPU is
// that of a run with turns above one without, so that start and loading are not in it. The runs serve two rows.
func (l *lab) bigTurns(ctx context.Context) (bigFigures, error) {
	if l.big != nil {
		return *l.big, nil
	}
	h, err := l.grow(ctx, func(_ *home, bytes int) bool { return bytes >= bigRequest })
	if err != nil {
		return bigFigures{}, err
	}
	t, _, err := l.prompt(ctx, h, always(text("ok")), "--continue")
	if err != nil {
		return bigFigures{}, err
	}
	if t.bytes < bigRequest {
		return bigFigures{}, fmt.Errorf("--continue sent %d bytes of the %d that the session had", t.bytes, bigRequest)
	}
	request, err := l.record(t)
	if err != nil {
		return bigFigures{}, err
	}
	plant := func(turns int) ([]string, error) { return l.plant(h, turns, fileBytes) }
	hew := &side{plant: plant, run: func(files []string) (*talk, cost, error) { return l.turns(ctx, h, files, "--continue") }}
	ref := &side{plant: plant, run: func(files []string) (*talk, cost, error) { return l.floorTurns(ctx, h, files, request) }}
	b := &bigFigures{}
	if b.hewGap, b.refGap, err = both(ctx, 5, hew.gap, ref.gap); err != nil {
		return bigFigures{}, err
	}
	b.hewCPU, b.refCPU = hew.cpu[1:], ref.cpu[1:] // without the round that warms up
	l.big = b
	return *b, nil
}

// side is hew or the floor, run over files that plant made new.
type side struct {
	plant func(turns int) ([]string, error)
	run   func(files []string) (*talk, cost, error)
	cpu   samples // per turn, one for each gap taken
}

func (s *side) gap() (float64, error) {
	files, err := s.plant(bigTurns)
	if err != nil {
		return 0, err
	}
	t, with, err := s.run(files)
	if err != nil {
		return 0, err
	}
	_, without, err := s.run(nil)
	s.cpu = append(s.cpu, (with.cpu()-without.cpu())/bigTurns)
	return inner(t).median(), err
}

// resume takes the wall time of a continued run above that of a fresh one, which has a home of its own so that it does not become the
// session to continue.
func resume(ctx context.Context, l *lab, bytes int64, rounds int) (hew, ref samples, err error) {
	h, err := l.grow(ctx, func(h *home, _ int) bool { return h.transcripts() >= bytes })
	if err != nil {
		return nil, nil, err
	}
	if n := h.transcripts(); n < bytes {
		return nil, nil, fmt.Errorf("the transcript ended with %d bytes", n)
	}
	fresh, err := l.newHome()
	if err != nil {
		return nil, nil, err
	}
	takeHew := func(h *home, flags ...string) taking {
		return func() (float64, error) {
			_, c, err := l.prompt(ctx, h, always(text("ok")), flags...)
			return c.wall(), err
		}
	}
	out, err := interleave(ctx, rounds, takeHew(h, "--continue"), h.scan, takeHew(fresh))
	if err != nil {
		return nil, nil, err
	}
	return out[0].minus(out[2]), out[1], nil
}

func (h *home) transcriptFiles() []string {
	names, err := filepath.Glob(filepath.Join(h.config, "projects", "*", "*.jsonl"))
	if err != nil {
		panic(err) // only a malformed pattern
	}
	return names
}

// transcripts is the size of all transcripts.
func (h *home) transcripts() (bytes int64) {
	for _, name := range h.transcriptFiles() {
		if st, err := os.Stat(name); err == nil {
			bytes += st.Size()
		}
	}
	return bytes
}

// scan reads the transcripts and checks each line for JSON: the least that a program does that trusts no line.
func (h *home) scan() (float64, error) {
	began := time.Now()
	for _, name := range h.transcriptFiles() {
		if err := scanLines(name); err != nil {
			return 0, err
		}
	}
	return time.Since(began).Seconds(), nil
}

func scanLines(name string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	lines := bufio.NewReaderSize(f, 1<<20)
	for {
		line, err := lines.ReadBytes('\n')
		if len(line) > 0 && !json.Valid(line) {
			return fmt.Errorf("%s: a line that is not JSON: %.80q", name, line)
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}
