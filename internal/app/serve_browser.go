package app

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"

	"github.com/hew-agent/hew/internal/backend/fsys"
)

var errNoBrowser = errors.New("there is none here; open the link above")

// openBrowser shows a link of hew serve in the person's browser, where there is a
// screen. The link goes into a file that only the person can read: the words of a
// command line can be read by everybody on the machine, and this one opens a door.
//
// The file stays until clean is called: browsers read it when they get to it.
func openBrowser(e Env, link string) (clean func(), err error) {
	opener, err := browserOpener(e)
	if err != nil || opener == nil {
		return func() {}, err
	}
	dir, err := os.MkdirTemp("", "hew-open-")
	if err != nil {
		return func() {}, err
	}
	clean = func() { _ = os.RemoveAll(dir) } // the link in it works once
	file := filepath.Join(dir, "open.html")
	text := fmt.Sprintf(`<!doctype html><meta charset="utf-8"><meta http-equiv="refresh" content="0;url=%s"><title>hew</title><a href="%s">open hew</a>`, link, link)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		return clean, err
	}
	c := exec.Command(opener[0], append(opener[1:], file)...)
	c.Env = e.Environ
	if err := c.Start(); err != nil {
		return clean, err
	}
	go func() { _ = c.Wait() }() // ends with the opener
	return clean, nil
}

// browserOpener is the program that opens a file; nil where nobody has a screen,
// which needs no word.
func browserOpener(e Env) ([]string, error) {
	switch runtime.GOOS {
	case "darwin":
		return []string{"/usr/bin/open"}, nil
	case "windows":
		return []string{filepath.Join(e.getenv("SystemRoot"), "System32", "rundll32.exe"), "url.dll,FileProtocolHandler"}, nil
	}
	if e.getenv("DISPLAY") == "" && e.getenv("WAYLAND_DISPLAY") == "" {
		return nil, nil
	}
	for _, dir := range filepath.SplitList(e.getenv("PATH")) {
		p := filepath.Join(dir, "xdg-open")
		st, err := os.Stat(p)
		if err == nil && filepath.IsAbs(dir) && !fsys.Within(e.Dir, p) && st.Mode().IsRegular() && st.Mode()&0o111 != 0 {
			return []string{p}, nil // not one that the folder has brought
		}
	}
	return nil, errNoBrowser
}
