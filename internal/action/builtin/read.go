package builtin

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/hew-agent/hew/internal/action/builtin/notebook"
	"github.com/hew-agent/hew/internal/backend/fsys"
	"github.com/hew-agent/hew/internal/backend/picture"
	"github.com/hew-agent/hew/internal/tool"
)

const readName = "Read"

type readInput struct {
	FilePath   string `json:"file_path"`
	Offset     *int   `json:"offset"`
	Limit      *int   `json:"limit"`
	Pages      string `json:"pages"`
	AllowLarge bool   `json:"allow_large"`
}

func newRead(c *Config) tool.Tool {
	spec := tool.Spec{Name: readName, MainField: "file_path", Always: true, MaxResult: maxReading}
	return define("read", spec, func(in readInput, env tool.Env) (tool.Call, error) {
		path, err := place(env, in.FilePath)
		if err != nil {
			return nil, err
		}
		r := &reading{c: c, env: env, path: path, large: in.AllowLarge}
		if err := r.setRange(in); err != nil {
			return nil, err
		}
		return &tool.Func{
			Facts: tool.Traits{ReadOnly: true, ConcurrencySafe: true},
			Wants: []tool.Need{{Kind: tool.NeedRead, Path: path}},
			Line:  r.title(),
			Do:    func(ctx context.Context, _ func(tool.Progress)) tool.Result { return r.run(ctx) },
		}, nil
	})
}

// maxReading bounds one reading in bytes whatever was asked for: LargeTokens
// plus line numbers.
const maxReading = 1 << 20

// reading is one planned call.
type reading struct {
	c    *Config
	env  tool.Env
	path string
	// from is the first line, counted from 1; count the number of lines, 0 for
	// all; ranged tells that the model chose either.
	from, count int
	ranged      bool
	large       bool
	// first and last are PDF pages, 0 when not given.
	first, last int
}

func (r *reading) setRange(in readInput) error {
	r.from = 1
	if in.Offset != nil {
		r.from, r.ranged = max(1, *in.Offset), true
	}
	if in.Limit != nil {
		r.count, r.ranged = *in.Limit, true
	}
	if in.Pages == "" {
		return nil
	}
	a, b, isRange := strings.Cut(in.Pages, "-")
	var err, err2 error
	r.first, err = strconv.Atoi(strings.TrimSpace(a))
	if r.last = r.first; isRange {
		r.last, err2 = strconv.Atoi(strings.TrimSpace(b))
	}
	switch {
	case err != nil || err2 != nil || r.first < 1 || r.last < r.first:
		return fmt.Errorf("pages must be one page or a range such as %q, not %q", "1-5", in.Pages)
	case r.last-r.first >= maxPages:
		return fmt.Errorf("pages %s are %d pages; at most %d can be read per call", in.Pages, r.last-r.first+1, maxPages)
	}
	return nil
}

func (r *reading) title() string {
	t := readName + " " + short(r.env, r.path)
	switch {
	case r.first > 0:
		return fmt.Sprintf("%s, pages %d-%d", t, r.first, r.last)
	case r.count > 0:
		return fmt.Sprintf("%s, lines %d-%d", t, r.from, r.from+r.count-1)
	case r.ranged:
		return fmt.Sprintf("%s, from line %d", t, r.from)
	}
	return t
}

func (r *reading) run(ctx context.Context) tool.Result {
	head, st, err := r.head()
	if err != nil {
		return r.failed(err)
	}
	ext := strings.ToLower(filepath.Ext(r.path))
	switch {
	case bytes.HasPrefix(head, []byte("%PDF-")):
		return r.pdf(ctx, st)
	case picture.Sniff(head) != "" || picture.Extension(ext):
		return r.image()
	case r.first > 0:
		return tool.Failure(fmt.Sprintf("%s is not a PDF; pages can only be given for PDFs. Use offset and limit.", r.path))
	case ext == ".ipynb" && !r.ranged:
		return r.notebook()
	}
	return r.text(ctx, st)
}

// head looks at the first bytes; it opens nothing but regular files.
func (r *reading) head() (head []byte, st fsys.Status, err error) {
	f, st, err := fsys.OpenRegular(r.path)
	if err != nil {
		return nil, st, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	buf := make([]byte, 512)
	n, err := io.ReadFull(f, buf)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, st, fmt.Errorf("read %s: %w", fsys.Printable(r.path), err)
	}
	return buf[:n], st, nil
}

// failed words an error of the file system for the model.
func (r *reading) failed(err error) tool.Result {
	switch fsys.CauseOf(err) {
	case fsys.CauseMissing, fsys.CauseNotDir:
		return tool.Failure(r.c.missing(r.env, r.path))
	case fsys.CauseIsDir:
		return tool.Failure(fmt.Sprintf("EISDIR: %s is a directory; this tool reads files. List it with %s (pattern \"*\").", fsys.Printable(r.path), globName))
	case fsys.CauseBinary:
		return tool.Failure(err.Error() + ". This tool reads text, images, notebooks and PDFs; examine other files with a program made for them.")
	case fsys.CauseOther, fsys.CauseNotRegular, fsys.CauseLinkLoop, fsys.CausePermission, fsys.CauseReadOnlyFile, fsys.CauseReadOnlyFS,
		fsys.CauseDiskFull, fsys.CauseTooLarge, fsys.CauseBadPath, fsys.CauseLocked, fsys.CauseNotPrivate:
	}
	return tool.Failure(err.Error())
}

// notebook shows cells as text blocks, pictures among the outputs as images.
func (r *reading) notebook() tool.Result {
	raw, st, err := fsys.ReadRaw(r.path, fsys.Limits{MaxBytes: maxNotebook})
	if err != nil {
		return r.failed(err)
	}
	nb, err := notebook.Parse(raw)
	if err != nil {
		return tool.Failure(fmt.Sprintf("%s is not a notebook that can be shown: %v. Give offset and limit to read it as text.", fsys.Printable(r.path), err))
	}
	text := nb.Text()
	if n, limit := tokens(len(text)), r.budget(); n > limit {
		return tool.Failure(fmt.Sprintf("The notebook is about %d tokens long, over the limit of %d. Give offset and limit to read parts of the file as text, or set allow_large.", n, limit))
	}
	r.c.Seen.Record(r.path, fsys.View{Status: st, Content: raw, Extent: fsys.Whole})
	res := done(text, map[string]any{"type": "notebook", "file": map[string]any{"filePath": r.path, "cells": nb.Cells()}},
		tool.TextView{Text: fmt.Sprintf("%d cells", len(nb.Cells()))})
	res.Content = append(res.Content, outputImages(nb)...)
	return res
}

// maxNotebook is the size over which notebooks are refused, in bytes.
const maxNotebook = 100 << 20

func (r *reading) budget() int {
	if r.large {
		return r.c.Limits.LargeTokens
	}
	return r.c.Limits.ReadTokens
}

// tokens estimates the tokens of n bytes of mixed code and prose, rounded up.
func tokens(n int) int { return (2*n + 6) / 7 }
