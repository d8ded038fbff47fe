// Package pdf reads pages of PDF files with the programs of poppler, when the user has them.
package pdf

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// Page is one page: its text, and a picture of it when it has hardly any text.
type Page struct {
	Text  string
	Image []byte // PNG or JPEG, nil when there is none
}

// Renderer names the programs; at least one is set.
type Renderer struct {
	Text  string // path of pdftotext
	Image string // path of pdftoppm
}

// ErrNoSuchPage says that the document ends before the first page asked for.
var ErrNoSuchPage = errors.New("no such page")

const (
	// patience bounds one run of a program: a PDF can be made to take hours.
	patience = 60 * time.Second
	// maxOutput bounds what a program may print, in bytes.
	maxOutput = 16 << 20
	// fewLetters: pages with less text are drawn.
	fewLetters = 16
	// longSide of a picture in pixels: a page may claim to be a kilometre wide.
	longSide = "1200"
)

// Read returns the pages first to last that exist, and whether there are more.
func (r Renderer) Read(ctx context.Context, path string, first, last int) (pages []Page, more bool, err error) {
	if r.Text != "" {
		if pages, err = r.texts(ctx, path, first, last+1); err != nil {
			return nil, false, err
		}
		if more = len(pages) > last-first+1; more {
			pages = pages[:last-first+1]
		}
	} else if pages, more, err = r.blank(ctx, path, first, last); err != nil {
		return nil, false, err
	}
	for i := range pages {
		if r.Image == "" || len(strings.TrimSpace(pages[i].Text)) >= fewLetters {
			continue
		}
		if pages[i].Image, err = r.image(ctx, path, first+i); err != nil {
			return nil, false, err
		}
	}
	return pages, more, nil
}

// texts splits the output at the form feeds that end every page.
func (r Renderer) texts(ctx context.Context, path string, first, last int) ([]Page, error) {
	out, err := run(ctx, r.Text, "-layout", "-enc", "UTF-8", "-f", strconv.Itoa(first), "-l", strconv.Itoa(last), path, "-")
	if err != nil {
		return nil, pageError(err)
	}
	var pages []Page
	for part := range strings.SplitSeq(strings.TrimSuffix(string(out), "\f"), "\f") {
		pages = append(pages, Page{Text: strings.ToValidUTF8(strings.ReplaceAll(part, "\r\n", "\n"), "\uFFFD")})
	}
	if len(out) == 0 {
		return nil, ErrNoSuchPage
	}
	return pages, nil
}

// blank finds out which pages exist by drawing them, when only that is possible.
func (r Renderer) blank(ctx context.Context, path string, first, last int) (pages []Page, more bool, err error) {
	for n := first; n <= last+1; n++ {
		img, err := r.image(ctx, path, n)
		if errors.Is(err, ErrNoSuchPage) && n > first {
			return pages, false, nil
		}
		if err != nil {
			return nil, false, err
		}
		if n <= last {
			pages = append(pages, Page{Image: img})
		}
	}
	return pages, true, nil
}

func (r Renderer) image(ctx context.Context, path string, n int) ([]byte, error) {
	page := strconv.Itoa(n)
	out, err := run(ctx, r.Image, "-png", "-scale-to", longSide, "-f", page, "-l", page, path)
	if err != nil {
		return nil, pageError(err)
	}
	if len(out) == 0 {
		return nil, ErrNoSuchPage
	}
	return out, nil
}

// pageError recognises the only fault that is the caller's. Poppler says
// "Wrong page range given"; exit codes do not tell it from others.
func pageError(err error) error {
	if strings.Contains(err.Error(), "Wrong page range") {
		return ErrNoSuchPage
	}
	return err
}

// run returns what a program printed. The path is an absolute one, so it
// cannot be taken for an option.
func run(ctx context.Context, program string, args ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.WaitDelay = time.Second
	var out, diag bytes.Buffer
	cmd.Stdout, cmd.Stderr = &limited{to: &out, left: maxOutput}, &limited{to: &diag, left: 4 << 10}
	err := cmd.Start()
	if err == nil {
		capMemory(cmd.Process.Pid)
		err = cmd.Wait()
	}
	switch {
	case ctx.Err() != nil:
		return nil, fmt.Errorf("%s took too long or was cancelled: %w", program, ctx.Err())
	case err != nil:
		return nil, fmt.Errorf("%s: %w: %s", program, err, strings.TrimSpace(diag.String()))
	}
	return out.Bytes(), nil
}

// limited keeps the first bytes and refuses more, which ends the program.
type limited struct {
	to   *bytes.Buffer
	left int
}

func (l *limited) Write(p []byte) (int, error) {
	if len(p) > l.left {
		l.to.Write(p[:l.left])
		l.left = 0
		return 0, io.ErrShortWrite
	}
	l.left -= len(p)
	return l.to.Write(p)
}
