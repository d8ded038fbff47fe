package shell

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// cwdProbe on Windows is a file: extra descriptors cannot be inherited there.
type cwdProbe struct{ path string }

func newCwdProbe(s *scratch, id string, _ kind) (*cwdProbe, error) {
	path, err := s.write(id+".cwd", nil)
	if err != nil {
		return nil, err
	}
	return &cwdProbe{path: path}, nil
}

func (p *cwdProbe) sink() string         { return ">" + Quote(slashed(p.path)) }
func (p *cwdProbe) attach(cmd *exec.Cmd) {}
func (p *cwdProbe) started()             {}

func (p *cwdProbe) drop() {
	if p != nil {
		_ = os.Remove(p.path)
	}
}

func (p *cwdProbe) read(unknown string) string {
	if p == nil {
		return unknown
	}
	defer p.drop()
	b, err := os.ReadFile(p.path)
	if err != nil {
		return unknown
	}
	dir := filepath.FromSlash(strings.TrimSuffix(strings.TrimSuffix(string(b), "\x00"), "\n"))
	if info, err := os.Stat(dir); !filepath.IsAbs(dir) || err != nil || !info.IsDir() {
		return unknown
	}
	return dir
}
