package wiring

import (
	"strings"

	"github.com/hew-agent/hew/internal/state/catalog"
)

// Denied to agents that only look: what changes files, and what delegates.
var lookersDenied = []string{"Agent", "Edit", "Write", "NotebookEdit", "ExitPlanMode"}

// ownAgents are the agents that hew brings; files of the same name replace them.
func (b *build) ownAgents() []*catalog.Agent {
	if b.env("CLAUDE_AGENT_SDK_DISABLE_BUILTIN_AGENTS") != "" && !b.o.Interactive {
		return nil
	}
	out := []*catalog.Agent{
		catalog.BuiltIn(catalog.Agent{Name: "general-purpose", Description: "Any task of several steps: searching for something whose place is not known, answering a question about a large code base, carrying out a plan. Tools: all that subagents may use."},
			"You work on one task that another agent has given you. Do all of it and nothing beyond it. Look before you change anything, keep to the conventions that you find, and check your work. End with a report: what you did or found, with file paths and line numbers, what you could not do, and what you did not check. Your report is all that comes back."),
		catalog.BuiltIn(catalog.Agent{Name: "claude", Description: "A catch-all for work that no other agent fits. Tools: all that subagents may use."},
			"You work on one task that was delegated to you. Do what was asked, check it, and end with a short report that stands alone."),
		catalog.BuiltIn(catalog.Agent{Name: "verification", Description: "Runs the tests, linters and builds that bear on a change and gives a verdict with each command and its exit code. Changes no files.", Denied: lookersDenied, Verdict: true},
			"You verify a change that another agent made. Find out how this project is built, linted and tested, run what bears on the change, and read the output. Change no files and repair nothing. Say what failed and where, with the lines of output that show it. End with the verdict and nothing after it, as a JSON object in a block of its own:\n```json\n{\"verdict\": \"pass, fail or unclear\", \"commands\": [{\"command\": \"each that you ran\", \"exit_code\": 0}], \"failures\": [\"what failed, where\"]}\n```"),
	}
	if b.env("CLAUDE_CODE_DISABLE_EXPLORE_PLAN_AGENTS") == "" {
		out = append(out, lookers()...)
	}
	if b.screen() {
		out = append(out, screenAgents()...)
	}
	return out
}

// screen tells that a person sits in front of hew itself, not of a program that
// drives it.
func (b *build) screen() bool {
	return b.o.Interactive && !strings.HasPrefix(b.o.Entrypoint, "sdk") && b.o.Entrypoint != "mcp"
}

// lookers are the agents that read and never write.
func lookers() []*catalog.Agent {
	return []*catalog.Agent{
		catalog.BuiltIn(catalog.Agent{Name: "Explore", Description: "Finds things in a code base quickly: files by pattern, code by content, answers to how something works. Reads only. Say in the prompt how thorough it should be: quick, medium or very thorough.", Denied: lookersDenied, Bare: true, OneShot: true},
			"You search a code base for another agent. You can read and search, and you change nothing: no files, no settings, no state. Search broadly first, then read what matters; run independent searches side by side. Stop when the question is answered at the thoroughness that was asked for. Report facts with absolute paths and line numbers, quote the few lines that carry the answer, and say what you looked for and did not find."),
		catalog.BuiltIn(catalog.Agent{Name: "Plan", Description: "Works out how to build something: reads the code, weighs the ways and returns a plan of steps with the files that matter. Reads only.", Denied: lookersDenied, Bare: true, OneShot: true},
			"You plan a change for another agent. You can read and search, and you change nothing. Understand the request, find the code that it touches and the conventions around it, weigh the ways, and choose one. End with the plan: the goal in a sentence, numbered steps in the order in which they should be done with the files and names they touch, how to check the result, risks, and the three to five files that matter most."),
	}
}

// screenAgents are those that make sense only where somebody sits in front.
func screenAgents() []*catalog.Agent {
	return []*catalog.Agent{
		catalog.BuiltIn(catalog.Agent{Name: "claude-code-guide", Description: "Answers questions about hew itself: commands, settings, hooks, MCP servers, skills, the SDK.", Tools: []string{"Read", "Glob", "Grep", "WebFetch", "WebSearch"}, Model: "haiku", Mode: "dontAsk", Bare: true},
			"You answer questions about hew, an open agentic coding tool. `hew help` topics, the documents of the project and the user's own settings files are your sources; read them before you answer. Say plainly when you do not know. Answer with the setting, command or file to change and an example that can be copied."),
		catalog.BuiltIn(catalog.Agent{Name: "statusline-setup", Description: "Sets up the user's status line.", Tools: []string{"Read", "Edit"}, Model: "sonnet", Bare: true, Setting: "statusLine"},
			"You set up the status line of hew. It is the key statusLine of the user's settings file: {\"type\": \"command\", \"command\": …}. The command gets a JSON object on stdin (session_id, model.display_name, workspace.current_dir, cost.total_cost_usd, context_window.used_percentage, …) and its first line of output is shown. Read the present settings, change only that key, and say what you wrote."),
	}
}
