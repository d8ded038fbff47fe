package term

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/term"

	"github.com/hew-agent/hew/internal/backend/fsys"
)

// note is what a running hew writes down about its terminal, so that after a
// kill the next hew on that terminal can put it right. Its file is named after
// the device and the process; it is gone after an orderly end.
type note struct {
	folder, device string
	saved, raw     *term.State
}

// noted is the file's content.
type noted struct {
	Saved     *term.State `json:"saved"`
	Raw       *term.State `json:"raw"`
	Alternate bool        `json:"alternate"`
}

// left is what an earlier hew left on the terminal.
type left struct{ any, alternate bool }

func (n note) file(pid int) string {
	return filepath.Join(n.folder, fmt.Sprintf("tty-%s-%d.json", n.device, pid))
}

// write keeps the note. Where it cannot be kept, only the repair after a kill is lost.
func (n note) write(alternate bool) {
	if n.folder == "" || n.device == "" {
		return
	}
	raw, err := json.Marshal(noted{Saved: n.saved, Raw: n.raw, Alternate: alternate})
	if err != nil || os.MkdirAll(n.folder, 0o700) != nil {
		return
	}
	_ = os.WriteFile(n.file(os.Getpid()), raw, 0o600)
}

func (n note) remove() {
	if n.folder != "" && n.device != "" {
		_ = os.Remove(n.file(os.Getpid()))
	}
}

// recover puts the line discipline right if a killed hew left it raw, and tells
// what else it may have left.
func (n note) recover(in *os.File) (found left, notice string) {
	if n.folder == "" || n.device == "" {
		return left{}, ""
	}
	names, err := filepath.Glob(filepath.Join(n.folder, "tty-"+n.device+"-*.json"))
	if err != nil {
		return left{}, ""
	}
	for _, name := range names {
		var pid int
		base := strings.TrimPrefix(filepath.Base(name), "tty-"+n.device+"-")
		if _, err := fmt.Sscanf(base, "%d.json", &pid); err != nil || pid != os.Getpid() && !fsys.ProcessDead(pid) {
			continue
		}
		var was noted
		raw, err := os.ReadFile(name)
		if err == nil && json.Unmarshal(raw, &was) == nil && was.Saved != nil {
			found.any, found.alternate = true, found.alternate || was.Alternate
			notice = "An earlier hew on this terminal was killed; the terminal's modes were put right."
			now, err := term.GetState(in.Fd())
			if err == nil && reflect.DeepEqual(now, was.Raw) && !reflect.DeepEqual(now, was.Saved) {
				if err := term.SetState(in.Fd(), was.Saved); err != nil {
					notice = "An earlier hew on this terminal was killed, and the terminal's modes could not be put right; if typing looks odd after hew: stty sane"
				}
			}
		}
		_ = os.Remove(name)
	}
	return found, notice
}

// undo takes back the modes that a killed hew may have left on.
func (l left) undo(c Caps) string {
	if c.Dumb {
		return ""
	}
	s := ansi.ResetModeSynchronizedOutput + ansi.ResetModeBracketedPaste + ansi.ShowCursor + ansi.ResetStyle
	if c.known {
		s += ansi.ResetModeMouseButtonEvent + ansi.ResetModeMouseExtSgr + ansi.ResetModeFocusEvent
	}
	if l.alternate {
		s += ansi.ResetModeAltScreenSaveCursor
	}
	if c.known { // ignored where nothing was pushed
		s += ansi.PopKittyKeyboard(1) + ansi.ResetModifyOtherKeys
	}
	return s
}
