package wiring

import (
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/hew-agent/hew/internal/action/builtin/agent"
	"github.com/hew-agent/hew/internal/action/builtin/bash"
	"github.com/hew-agent/hew/internal/backend/search"
	"github.com/hew-agent/hew/internal/tool"
)

// more tells whether a tool is offered that most sessions do not need, whose
// definition would cost each of their requests: HEW_MORE_TOOLS lists such tools,
// or is "all".
func (b *build) more(name string) bool {
	names := strings.FieldsFunc(b.env("HEW_MORE_TOOLS"), func(r rune) bool { return r == ',' || r == ' ' })
	return slices.Contains(names, name) || slices.Contains(names, "all")
}

// wanted leaves those of the tools that more names.
func (b *build) wanted(tools ...tool.Tool) []tool.Tool {
	return slices.DeleteFunc(tools, func(t tool.Tool) bool { return !b.more(t.Spec().Name) })
}

// watching is the tool that watches commands, where work may go on in the background.
func (b *build) watching(sh *bash.Shell) []tool.Tool {
	if b.env("CLAUDE_CODE_DISABLE_BACKGROUND_TASKS") != "" {
		return nil
	}
	return b.wanted(sh.Monitor())
}

// powerShell is the tool that runs PowerShell: on Windows where the program is
// found, elsewhere when the user asks for it too.
func (b *build) powerShell(sh *bash.Shell) []tool.Tool {
	if on, err := strconv.ParseBool(b.env("CLAUDE_CODE_USE_POWERSHELL_TOOL")); runtime.GOOS != "windows" && (err != nil || !on) || err == nil && !on {
		return nil
	}
	for _, name := range []string{"pwsh", "powershell"} {
		if path := search.FindProgram(name, b.o.getenv("PATH"), b.place.Roots...); path != "" {
			return []tool.Tool{sh.PowerShell(path)}
		}
	}
	return nil
}

// listing is the tool that lists agents: in a team, or when it is asked for.
func (b *build) listing(c *agent.Crew) []tool.Tool {
	if b.team != nil {
		return []tool.Tool{c.List()}
	}
	return b.wanted(c.List())
}
