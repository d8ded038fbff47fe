package bash

import (
	"slices"
	"strings"

	"github.com/hew-agent/hew/internal/action/policy/shellread"
	"github.com/hew-agent/hew/internal/backend/shell"
	"github.com/hew-agent/hew/internal/tool"
)

// traits come from the facts that policy reads, so that scheduling and
// permission never disagree about what a command does.
func traits(f *shellread.Facts, carries bool) tool.Traits {
	t := tool.Traits{ReadOnly: f.ReadOnly(), Check: checked(f)}
	// Of two commands at once that both move, the later to end would win.
	t.ConcurrencySafe = t.ReadOnly && (!carries || !moves(f))
	for i := range f.Parts {
		removes := slices.ContainsFunc(f.Parts[i].Paths, func(a shellread.PathArg) bool { return a.Access == shellread.AccessRemove })
		t.Destructive = t.Destructive || removes && !t.ReadOnly
	}
	return t
}

func moves(f *shellread.Facts) bool {
	return slices.ContainsFunc(f.Parts, func(p shellread.Part) bool {
		return p.Name == "cd" || p.Name == "pushd" || p.Name == "popd"
	})
}

// atTimeout says what becomes of a command whose time is over. It goes on in
// the background unless that helps nobody (a sleep), holds a lock that later
// commands need (git), or nobody knows what it is.
func atTimeout(command string, f *shellread.Facts) shell.OnTimeout {
	if f.Opaque() != "" || startsWithSleep(f) || mentionsGit(command) {
		return shell.Kill
	}
	if slices.ContainsFunc(f.Parts, func(p shellread.Part) bool { return p.Name == "git" }) {
		return shell.Kill
	}
	return shell.Detach
}

func startsWithSleep(f *shellread.Facts) bool {
	return len(f.Parts) > 0 && f.Parts[0].Name == "sleep"
}

// mentionsGit looks for the word itself, wherever it stands: a script, a
// variable or a program that is given a command may run it.
func mentionsGit(command string) bool {
	const word = "git"
	for from := 0; ; {
		at := strings.Index(command[from:], word)
		if at < 0 {
			return false
		}
		at += from
		from = at + len(word)
		rest := strings.TrimPrefix(command[from:], ".exe")
		if (at == 0 || !inName(command[at-1])) && (rest == "" || !inName(rest[0])) {
			return true
		}
	}
}

func inName(c byte) bool {
	return c == '_' || c == '-' || c == '.' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// viewer knows the programs that print a file; a command that is nothing but
// one of them, on one file, is a way of reading it (tools.md §3).
func viewer(name string) bool {
	switch name {
	case "cat", "nl", "bat", "batcat", "head", "tail", "sed", "grep", "egrep", "fgrep", "rg":
		return true
	}
	return false
}

// viewed returns the operand of a command that does nothing but show one file.
func viewed(f *shellread.Facts) (shellread.PathArg, bool) {
	if len(f.Issues) > 0 || len(f.Parts) != 1 {
		return shellread.PathArg{}, false
	}
	p := &f.Parts[0]
	if p.Shadow || !viewer(p.Name) || len(p.Paths) != 1 {
		return shellread.PathArg{}, false
	}
	a := p.Paths[0]
	return a, a.Access == shellread.AccessRead && !a.Redirect && a.Word.Literal()
}
