//go:build unix

package shell

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
)

// probeFD is the descriptor on which the shell reports its directory. For bash
// and zsh it is one that neither scripts (3 to 9, 200 of flock) nor the shells
// themselves (from 10 on) pick; dash and others read only single digits.
func probeFD(k kind) int {
	if k == posix {
		return 8
	}
	return 187
}

// cwdProbe learns the directory in which a shell ended. It is a pipe: the
// report fits its buffer, so nobody has to read while the shell runs, and a
// background child that inherits it disturbs nothing.
type cwdProbe struct {
	r, w *os.File
	fd   int
}

func newCwdProbe(_ *scratch, _ string, k kind) (*cwdProbe, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("make the directory pipe of the command: %w", err)
	}
	return &cwdProbe{r: r, w: w, fd: probeFD(k)}, nil
}

// sink is the redirection that the script writes its report to.
func (p *cwdProbe) sink() string { return ">&" + strconv.Itoa(p.fd) }

// attach gives the probe its number in the child; the nil entries between
// stay closed there.
func (p *cwdProbe) attach(cmd *exec.Cmd) {
	if p == nil {
		return
	}
	cmd.ExtraFiles = make([]*os.File, p.fd-3+1)
	cmd.ExtraFiles[p.fd-3] = p.w
}

func (p *cwdProbe) started() {
	if p != nil {
		_ = p.w.Close()
	}
}

func (p *cwdProbe) drop() {
	if p != nil {
		_ = p.w.Close()
		_ = p.r.Close()
	}
}

// read takes the last whole report, or gives back unknown.
func (p *cwdProbe) read(unknown string) string {
	if p == nil {
		return unknown
	}
	defer p.r.Close()
	buf := make([]byte, 64<<10)
	n, _ := readNow(p.r, buf)
	return lastReport(buf[:n], unknown)
}

// lastReport reads records "path LF NUL"; only the last one counts. A path may
// hold any other byte, line feeds at its end too.
func lastReport(b []byte, unknown string) string {
	records := bytes.Split(b, []byte{0})
	for i := len(records) - 2; i >= 0; i-- {
		dir := string(bytes.TrimSuffix(records[i], []byte{'\n'}))
		info, err := os.Stat(dir)
		if filepath.IsAbs(dir) && err == nil && info.IsDir() {
			return dir
		}
	}
	return unknown
}
