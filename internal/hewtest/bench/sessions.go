package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"
)

func sessionMeasures() []measure {
	list := []string{"sessions", "list", "--all", "--limit", "20"}
	search := []string{"sessions", "search", "--all", "--json", absent}
	var out []measure
	for _, sort := range []struct {
		name string
		n    int
		each int64
		long bool
	}{{"500 sessions, 250 MB", 500, 500_000, false}, {"10,000 sessions, 5 GB (sparse)", 10_000, 500_000, true}} {
		rows := []measure{
			{name: "`hew sessions list --all`, " + sort.name + ", no index yet", reference: "both ends of each file read", goal: "–"},
			{name: "`hew sessions list --all`, " + sort.name, reference: "both ends of each file read", goal: "stays fast"},
			{name: "`hew sessions search`, nothing to find, " + sort.name, reference: "sequential read and search of the files", goal: "≤ 2×"},
			{name: "`--continue`, " + sort.name + ", above a fresh prompt", reference: "both ends of each file read", goal: "stays fast"},
		}
		takes := []func(ctx context.Context, l *lab, h *home) (taking, taking){
			func(ctx context.Context, l *lab, h *home) (taking, taking) {
				return l.listing(ctx, h, true, list), h.ends
			},
			func(ctx context.Context, l *lab, h *home) (taking, taking) {
				return l.listing(ctx, h, false, list), h.ends
			},
			func(ctx context.Context, l *lab, h *home) (taking, taking) {
				return l.listing(ctx, h, false, search), h.grep
			},
			func(ctx context.Context, l *lab, h *home) (taking, taking) { return nil, h.ends },
		}
		for i := range rows {
			rows[i].unit, rows[i].long = seconds, sort.long
			take := takes[i]
			rows[i].run = func(ctx context.Context, l *lab) (samples, samples, error) {
				h, err := l.crowd(ctx, sort.n, sort.each)
				if err != nil {
					return nil, nil, err
				}
				hew, ref := take(ctx, l, h)
				if hew == nil {
					return l.continuing(ctx, h, ref, 3)
				}
				return both(ctx, 3, hew, ref)
			}
		}
		out = append(out, rows...)
	}
	return append(out, longResume()...)
}

// longResume measures the resume of a transcript that was compacted again and again.
func longResume() []measure {
	const large = 100_000_000
	return []measure{
		{
			name: "`--continue` of a 100 MB transcript with compactions, above a fresh prompt", goal: "≤ 3×", unit: seconds, long: true,
			reference: "read + JSON scan of the file",
			run: func(ctx context.Context, l *lab) (hew, ref samples, err error) {
				h, err := l.compacted(ctx, large)
				if err != nil {
					return nil, nil, err
				}
				return l.continuing(ctx, h, h.scan, 3)
			},
		},
		{
			name: "peak memory of that", goal: "bounded by the window", unit: size, long: true, reference: "a fresh prompt",
			run: func(ctx context.Context, l *lab) (hew, ref samples, err error) {
				h, err := l.compacted(ctx, large)
				if err != nil {
					return nil, nil, err
				}
				fresh, err := l.newHome()
				if err != nil {
					return nil, nil, err
				}
				return both(ctx, 3, l.peak(ctx, h, "--continue"), l.peak(ctx, fresh))
			},
		},
	}
}

// absent stands in no session.
const absent = "quixotic-zeppelin"

func (l *lab) peak(ctx context.Context, h *home, flags ...string) taking {
	return func() (float64, error) {
		_, c, err := l.prompt(ctx, h, always(text("ok")), flags...)
		return c.peak(), err
	}
}

// listing takes the wall time of a subcommand; cold removes the index first.
func (l *lab) listing(ctx context.Context, h *home, cold bool, args []string) taking {
	return func() (float64, error) {
		if cold {
			if err := os.RemoveAll(filepath.Join(h.config, "hew", "index")); err != nil {
				return 0, err
			}
		}
		c, err := l.run(ctx, command{home: h, program: l.hew, args: args})
		return c.wall(), err
	}
}

// continuing takes a continued run above a fresh one.
func (l *lab) continuing(ctx context.Context, h *home, ref taking, rounds int) (samples, samples, error) {
	fresh, err := l.newHome()
	if err != nil {
		return nil, nil, err
	}
	wall := func(h *home, flags ...string) taking {
		return func() (float64, error) {
			_, c, err := l.prompt(ctx, h, always(text("ok")), flags...)
			return c.wall(), err
		}
	}
	out, err := interleave(ctx, rounds, wall(h, "--continue"), ref, wall(fresh))
	if err != nil {
		return nil, nil, err
	}
	return out[0].minus(out[2]), out[1], nil
}

// crowd is a home of n sessions in ten projects, made once for all rows: a
// beginning, an end, and between them a hole up to the size.
func (l *lab) crowd(ctx context.Context, n int, each int64) (*home, error) {
	if h := l.crowds[n]; h != nil {
		return h, nil
	}
	h, folder, err := l.begun(ctx)
	if err != nil {
		return nil, err
	}
	old := time.Now().Add(-24 * time.Hour)
	for i := range n {
		dir := folder
		if i%10 > 0 {
			dir = fmt.Sprintf("%s-other%d", folder, i%10)
		}
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, err
		}
		name := filepath.Join(dir, fmt.Sprintf("%08x-0000-4000-8000-000000000000.jsonl", i))
		if err := sparse(name, h.project, i, each); err != nil {
			return nil, err
		}
		at := old.Add(time.Duration(i) * time.Second)
		if err := os.Chtimes(name, at, at); err != nil {
			return nil, err
		}
	}
	if l.crowds == nil {
		l.crowds = map[int]*home{}
	}
	l.crowds[n] = h
	return h, nil
}

// begun is a home with one session of hew's own, and the folder that it is in.
func (l *lab) begun(ctx context.Context) (*home, string, error) {
	h, err := l.newHome()
	if err != nil {
		return nil, "", err
	}
	if _, _, err := l.prompt(ctx, h, always(text("ok"))); err != nil {
		return nil, "", err
	}
	files := h.transcriptFiles()
	if len(files) != 1 {
		return nil, "", fmt.Errorf("a fresh home has %d transcripts", len(files))
	}
	return h, filepath.Dir(files[0]), nil
}

func sparse(name, cwd string, i int, size int64) error {
	f, err := os.OpenFile(name, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	id := strings.TrimSuffix(filepath.Base(name), ".jsonl")
	var head strings.Builder
	for k := range 20 {
		fmt.Fprintf(&head, `{"parentUuid":%s,"isSidechain":false,"type":"user","uuid":"u%d-%d","timestamp":"2026-01-01T00:00:00.000Z","sessionId":%q,"cwd":%q,"version":"0.1.0","gitBranch":"main","entrypoint":"cli","message":{"role":"user","content":"prompt %d of session %d: why does the parser fail"}}`+"\n",
			parentOf(i, k), i, k, id, cwd, k, i)
	}
	tail := fmt.Sprintf("\n"+`{"type":"last-prompt","lastPrompt":"the last prompt of %d","leafUuid":"u%d-19","sessionId":%q}`+"\n", i, i, id)
	_, err = f.WriteString(head.String())
	if err == nil {
		_, err = f.WriteAt([]byte(tail), size-int64(len(tail)))
	}
	return errors.Join(err, f.Close())
}

func parentOf(i, k int) string {
	if k == 0 {
		return "null"
	}
	return fmt.Sprintf(`"u%d-%d"`, i, k-1)
}

// compacted is a home whose newest session has about size bytes, with a compaction every 400 KB.
func (l *lab) compacted(ctx context.Context, size int) (*home, error) {
	if l.tired != nil {
		return l.tired, nil
	}
	h, folder, err := l.begun(ctx)
	if err != nil {
		return nil, err
	}
	id := "00000000-0000-4000-8000-00000000c0de"
	f, err := os.Create(filepath.Join(folder, id+".jsonl"))
	if err != nil {
		return nil, err
	}
	w := bufio.NewWriterSize(f, 1<<20)
	common := fmt.Sprintf(`"isSidechain":false,"timestamp":"2026-01-01T00:00:00.000Z","sessionId":%q,"cwd":%q,"version":"0.1.0","gitBranch":"HEAD","entrypoint":"sdk-cli"`, id, h.project)
	filler := strings.Repeat(`the quick brown fox \"jumps\"\nover `, 500)
	parent, written, since := "null", 0, 0
	line := func(format string, args ...any) {
		n, _ := fmt.Fprintf(w, format+"\n", args...) // bufio keeps its first error
		written, since = written+n, since+n
	}
	for i := 0; written < size; i++ {
		line(`{"parentUuid":%s,"type":"user","uuid":"u%d",%s,"message":{"role":"user","content":"prompt %d %s"}}`, parent, i, common, i, filler)
		line(`{"parentUuid":"u%d","type":"assistant","uuid":"a%d",%s,"requestId":"r%d","message":{"id":"m%d","role":"assistant","model":%q,"content":[{"type":"text","text":"answer %d"}],"stop_reason":"end_turn","usage":{"input_tokens":1,"output_tokens":1}}}`, i, i, common, i, i, modelName, i)
		parent = fmt.Sprintf(`"a%d"`, i)
		if since > 400_000 {
			since = 0
			line(`{"parentUuid":null,"logicalParentUuid":%s,"type":"system","uuid":"b%d",%s,"subtype":"compact_boundary","content":"Conversation compacted","compactMetadata":{"trigger":"auto","preTokens":1}}`, parent, i, common)
			line(`{"parentUuid":"b%d","type":"user","uuid":"s%d",%s,"isCompactSummary":true,"message":{"role":"user","content":"what was said so far"}}`, i, i, common)
			parent = fmt.Sprintf(`"s%d"`, i)
		}
	}
	l.tired = h
	return h, errors.Join(w.Flush(), f.Close())
}

// endBytes is how much of each end of a file a list looks at.
const endBytes = 64 << 10

// ends reads both ends of every transcript, one after the other.
func (h *home) ends() (float64, error) {
	began := time.Now()
	buf := make([]byte, endBytes)
	for _, name := range h.transcriptFiles() {
		f, err := os.Open(name)
		if err != nil {
			return 0, err
		}
		st, err := f.Stat()
		if err == nil {
			_, err = f.ReadAt(buf[:min(st.Size(), endBytes)], 0)
		}
		if err == nil && st.Size() > endBytes {
			_, err = f.ReadAt(buf, st.Size()-endBytes)
		}
		if err := errors.Join(err, f.Close()); err != nil {
			return 0, err
		}
	}
	return time.Since(began).Seconds(), nil
}

// grep reads every transcript through and looks for the word.
func (h *home) grep() (float64, error) {
	began := time.Now()
	buf := make([]byte, 256<<10)
	for _, name := range h.transcriptFiles() {
		f, err := os.Open(name)
		if err != nil {
			return 0, err
		}
		for err == nil {
			var n int
			n, err = f.Read(buf)
			if bytes.Contains(buf[:n], []byte(absent)) {
				return 0, fmt.Errorf("%s has the word", name)
			}
		}
		if errors.Is(err, io.EOF) {
			err = nil
		}
		if err := errors.Join(err, f.Close()); err != nil {
			return 0, err
		}
	}
	return time.Since(began).Seconds(), nil
}
