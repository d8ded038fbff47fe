package search

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// errRefused means that rg would not take the query; the own engine, which
// has accepted it, answers then.
var errRefused = errors.New("ripgrep refused the query")

// ripgrep answers q, whose Root is a folder, by running rg.
func ripgrep(ctx context.Context, rg string, q *GrepQuery) (GrepResult, error) {
	args, err := ripgrepArgs(q)
	if err != nil {
		return GrepResult{}, err
	}
	cmd := exec.CommandContext(ctx, rg, args...)
	cmd.Dir = q.Root
	cmd.WaitDelay = time.Second
	stderr := &headBuffer{max: 64 << 10}
	cmd.Stderr = stderr
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return GrepResult{}, fmt.Errorf("run %s: %w", rg, err)
	}
	if err := cmd.Start(); err != nil {
		return GrepResult{}, errRefused
	}
	skips := &skipList{}
	found := newCollector(q, skips)
	out := &ripgrepOutput{q: q, found: found, in: bufio.NewReaderSize(stdout, 64<<10), need: q.keep()}
	readErr := out.read()
	_, _ = io.Copy(io.Discard, stdout)
	waitErr := cmd.Wait()
	if ctx.Err() != nil {
		return GrepResult{}, ctx.Err()
	}
	if readErr != nil {
		return GrepResult{}, fmt.Errorf("read the output of %s: %w", rg, readErr)
	}
	var exit *exec.ExitError
	if errors.As(waitErr, &exit) && exit.ExitCode() != 1 && !reportSkips(stderr.String(), q.Root, skips) {
		return GrepResult{}, errRefused
	}
	return found.result(), nil
}

func ripgrepArgs(q *GrepQuery) ([]string, error) {
	args := []string{"--no-config", "--color=never", "--no-ignore-messages"}
	switch q.Mode {
	case ModeFiles:
		args = append(args, "--files-with-matches", "--null")
	case ModeCount:
		args = append(args, "--count", "--null", "--with-filename")
	case ModeContent:
		args = append(args, "--json", "-B", strconv.Itoa(q.Before), "-A", strconv.Itoa(q.After))
	}
	if q.IgnoreCase {
		args = append(args, "--ignore-case")
	}
	if q.Multiline {
		args = append(args, "--multiline", "--multiline-dotall")
	}
	for _, g := range q.Globs {
		args = append(args, "--glob="+g)
	}
	for dir := range versionControl {
		args = append(args, "--glob=!"+dir)
	}
	if q.Type != "" {
		globs, err := typeGlobs(q.Type)
		if err != nil {
			return nil, err
		}
		// hew's own table, so that the answer does not depend on rg's version.
		for _, g := range globs {
			args = append(args, "--type-add=hew:"+g)
		}
		args = append(args, "--type=hew")
	}
	return append(args, "-e", q.Pattern, "--", "./"), nil
}

// ripgrepSkip finds the path in a message such as
// "rg: ./a: Permission denied (os error 13)".
var ripgrepSkip = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?m)^(?:rg: )?(.+): (.+ \(os error \d+\))$`)
})

// reportSkips turns messages about unreadable files into skips. It returns
// false when there are none, so that rg must have failed for another reason.
func reportSkips(stderr, root string, skips *skipList) bool {
	matches := ripgrepSkip().FindAllStringSubmatch(stderr, -1)
	for _, m := range matches {
		skips.add(filepath.Join(root, m[1]), errors.New(m[2]))
	}
	return len(matches) > 0
}

// headBuffer keeps the first max bytes written to it.
type headBuffer struct {
	bytes.Buffer
	max int
}

func (b *headBuffer) Write(p []byte) (int, error) {
	if room := b.max - b.Len(); room > 0 {
		b.Buffer.Write(p[:min(room, len(p))])
	}
	return len(p), nil
}

type ripgrepOutput struct {
	q     *GrepQuery
	found *collector
	in    *bufio.Reader
	need  int
	file  fileFound
}

func (o *ripgrepOutput) read() error {
	for {
		var err error
		if o.q.Mode == ModeContent {
			err = o.readMessage()
		} else {
			err = o.readFile()
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func (o *ripgrepOutput) path(rel string) string {
	return filepath.Join(o.q.Root, filepath.FromSlash(rel))
}

func (o *ripgrepOutput) excluded(path string) bool {
	if o.q.Exclude == nil {
		return false
	}
	// A folder that is hidden hides what is in it, as in the own walk.
	for dir := path; len(dir) > len(o.q.Root); dir = filepath.Dir(dir) {
		if o.q.Exclude(dir) {
			return true
		}
	}
	return false
}

// readFile reads one record of --null output: path, NUL and, when counting,
// a number and a line feed.
func (o *ripgrepOutput) readFile() error {
	rel, err := o.in.ReadString(0)
	if err != nil {
		return io.EOF
	}
	f := fileFound{path: o.path(strings.TrimSuffix(rel, "\x00")), count: 1}
	if o.q.Mode == ModeCount {
		number, err := o.in.ReadString('\n')
		if err != nil {
			return io.EOF
		}
		if f.count, err = strconv.Atoi(strings.TrimSpace(number)); err != nil {
			return err
		}
	}
	if !o.excluded(f.path) {
		o.found.add(f)
	}
	return nil
}

// ripgrepMessage is one line of rg --json.
type ripgrepMessage struct {
	Type string `json:"type"`
	Data struct {
		Path       ripgrepText `json:"path"`
		Lines      ripgrepText `json:"lines"`
		LineNumber int         `json:"line_number"`
		Submatches []struct {
			Start int `json:"start"`
			End   int `json:"end"`
		} `json:"submatches"`
	} `json:"data"`
}

// ripgrepText is text, or bytes in base64 where they are not UTF-8.
type ripgrepText struct {
	Text  string `json:"text"`
	Bytes []byte `json:"bytes"`
}

func (t ripgrepText) String() string {
	if t.Bytes != nil {
		return string(t.Bytes)
	}
	return t.Text
}

func (o *ripgrepOutput) readMessage() error {
	line, err := o.record()
	if errors.Is(err, errTooLong) { // the file is told to be left out, as by the own engine
		o.file.err = errTooLong
		return nil
	}
	if err != nil {
		return io.EOF
	}
	var m ripgrepMessage
	if err := json.Unmarshal(line, &m); err != nil {
		return err
	}
	switch m.Type {
	case "begin":
		o.file = fileFound{path: o.path(m.Data.Path.String())}
	case "match":
		o.file.count++
		o.addLines(LineMatch, &m)
	case "context":
		o.addLines(LineContext, &m)
	case "end":
		if !o.excluded(o.file.path) {
			o.found.add(o.file)
		}
		o.file = fileFound{}
	}
	return nil
}

// record reads one line of rg's output. One that is longer than what may be
// held is read to its end and given up: a match in a line of 1 GB is told in
// a record of 1 GB.
func (o *ripgrepOutput) record() ([]byte, error) {
	line, err := o.in.ReadSlice('\n')
	if !errors.Is(err, bufio.ErrBufferFull) {
		return line, err
	}
	line = slices.Clone(line)
	for long := false; ; {
		part, err := o.in.ReadSlice('\n')
		if long = long || len(line)+len(part) > maxHeldBytes; long {
			line = nil
		} else {
			line = append(line, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
		case err == nil && long:
			return nil, errTooLong
		default:
			return line, err
		}
	}
}

func (o *ripgrepOutput) addLines(kind LineKind, m *ripgrepMessage) {
	f := &o.file
	if len(f.lines) > o.need+o.q.After {
		return
	}
	number, text := m.Data.LineNumber, m.Data.Lines.String()
	if n := len(f.lines); n > 0 && o.q.Before+o.q.After > 0 && number > f.lines[n-1].Number+1 {
		f.lines = append(f.lines, Line{Kind: LineBreak})
	}
	if kind == LineMatch && o.q.OnlyMatching {
		for _, sub := range m.Data.Submatches {
			if sub.Start == sub.End {
				continue
			}
			at := number + strings.Count(text[:sub.Start], "\n")
			o.addText(kind, at, text[sub.Start:sub.End])
		}
		return
	}
	o.addText(kind, number, text)
}

func (o *ripgrepOutput) addText(kind LineKind, number int, text string) {
	for i, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		kept := line[:min(len(line), o.q.maxLine())]
		o.file.lines = append(o.file.lines, Line{
			Kind: kind, Path: o.file.path, Number: number + i,
			Text: strings.Clone(kept), Omitted: len(line) - len(kept),
		})
	}
}
