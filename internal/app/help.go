package app

import (
	"fmt"
	"io"
	"strings"
)

// runHelp prints what a stranger needs to begin.
func runHelp(e Env, args []string) error {
	if len(args) > 0 {
		for _, c := range commands() {
			if c.name == args[0] {
				_, err := io.WriteString(e.Stdout, c.page())
				return err
			}
		}
		return &usageError{fmt.Sprintf("unknown command '%s'; hew help lists them", args[0])}
	}
	var b strings.Builder
	b.WriteString(`hew - an agentic coding tool: a language model at work in your repository

Usage:
  hew -p "Fix the failing test"      run one prompt in this directory and print the answer
  git diff | hew -p "Review this"    standard input becomes part of the prompt
  hew -c -p "Now the other one"      go on with the newest session of this directory
  hew demo                           see it at work without a key or a network

A key for the Anthropic API goes into ANTHROPIC_API_KEY, another endpoint that
speaks the same API into ANTHROPIC_BASE_URL. What may run unasked is decided by
rules (--allowedTools, --permission-mode, settings files); everything else is
refused in a headless run, and the model is told why.
`)
	for _, g := range commandGroups() {
		fmt.Fprintf(&b, "\n%s:\n", g)
		for _, c := range commands() {
			if commandGroup(c.name) == g {
				row(&b, "hew "+strings.TrimSpace(c.name+" "+c.args), c.help)
			}
		}
	}
	for _, g := range []string{groupRun, groupSession, groupModel, groupPrompt, groupSafe, groupOut, groupOther} {
		fmt.Fprintf(&b, "\n%s:\n", g)
		for _, o := range options() {
			if o.group == g {
				row(&b, o.usage(), o.sentence())
			}
		}
	}
	b.WriteString("\nExit code: 0 after success, 1 after an error, 128+n after signal n.\n")
	_, err := io.WriteString(e.Stdout, b.String())
	return err
}

// page is the help of one command.
func (c command) page() string {
	head := strings.TrimSpace("hew "+c.name+" "+c.args) + "\n\n" + upper(c.help) + "\n"
	switch long := longHelp()[c.name]; {
	case strings.HasPrefix(long, "hew "+c.name+" - "): // a page of its own
		return strings.TrimRight(long, "\n") + "\n"
	case long != "":
		return head + "\n" + strings.TrimRight(long, "\n") + "\n"
	}
	return head
}

// longHelp is what commands of several words say beyond their row of the table.
func longHelp() map[string]string {
	return map[string]string{
		"sessions": sessionsUsage, "permissions": permissionsUsage, "hooks": hooksUsage, "memory": memoryUsage, "mcp": mcpUsage,
		"context": contextUsage, "rewind": rewindLong, "acp": acpLong, "serve": serveLong, "attach": attachLong, "auth": authLong,
	}
}

// asksHelp tells that a command's words ask for its help; what stands behind --
// belongs to another program.
func asksHelp(args []string) bool {
	for _, a := range args {
		if a == "--" {
			return false
		}
		if a == "--help" || a == "-h" {
			return true
		}
	}
	return false
}

func (r option) usage() string {
	s := "--" + r.name
	if r.short != "" {
		s = "-" + r.short + ", " + s
	}
	switch r.arity {
	case none:
	case one:
		s += " <" + r.value + ">"
	case optional:
		s += " [" + r.value + "]"
	case many:
		s += " <" + r.value + "...>"
	}
	return s
}

func (r option) sentence() string {
	if len(r.choices) == 0 {
		return r.help
	}
	return r.help + " (" + strings.Join(r.choices, ", ") + ")"
}

// helpColumn is where explanations begin.
const helpColumn = 34

func row(b *strings.Builder, left, right string) {
	if len(left) > helpColumn-4 {
		fmt.Fprintf(b, "  %s\n%s%s\n", left, strings.Repeat(" ", helpColumn), right)
		return
	}
	fmt.Fprintf(b, "  %-*s%s\n", helpColumn-2, left, right)
}

func upper(s string) string { return strings.ToUpper(s[:1]) + s[1:] + "." }

// runCompletion prints a completion script made from the tables.
func runCompletion(e Env, args []string) error {
	if len(args) != 1 {
		return &usageError{"hew completion needs the name of a shell: bash, zsh or fish"}
	}
	var text string
	switch args[0] {
	case "bash":
		text = bashCompletion()
	case "zsh":
		text = "#compdef hew\nautoload -U +X bashcompinit && bashcompinit\n" + bashCompletion()
	case "fish":
		text = fishCompletion()
	default:
		return &usageError{fmt.Sprintf("no completion for shell '%s': use bash, zsh or fish", args[0])}
	}
	_, err := io.WriteString(e.Stdout, text)
	return err
}

func bashCompletion() string {
	var names, cmds []string
	var cases strings.Builder
	for _, c := range commands() {
		cmds = append(cmds, c.name)
	}
	for _, o := range options() {
		names = append(names, "--"+o.name)
		if len(o.choices) > 0 {
			fmt.Fprintf(&cases, "    --%s) COMPREPLY=($(compgen -W %q -- \"$cur\")); return ;;\n", o.name, strings.Join(o.choices, " "))
		}
	}
	return fmt.Sprintf(`_hew() {
  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}
  case $prev in
%s    --settings|--add-dir|--trace|--system-prompt-file|--append-system-prompt-file) COMPREPLY=($(compgen -f -- "$cur")); return ;;
  esac
  if [[ $cur == -* ]]; then
    COMPREPLY=($(compgen -W %q -- "$cur"))
  elif [[ $COMP_CWORD -eq 1 ]]; then
    COMPREPLY=($(compgen -W %q -- "$cur"))
  fi
}
complete -F _hew hew
`, cases.String(), strings.Join(names, " "), strings.Join(cmds, " "))
}

func fishCompletion() string {
	var b strings.Builder
	for _, c := range commands() {
		fmt.Fprintf(&b, "complete -c hew -n __fish_use_subcommand -f -a %s -d %q\n", c.name, c.help)
	}
	for _, o := range options() {
		fmt.Fprintf(&b, "complete -c hew -l %s", o.name)
		if o.short != "" {
			fmt.Fprintf(&b, " -s %s", o.short)
		}
		if o.arity != none {
			b.WriteString(" -r")
		}
		if len(o.choices) > 0 {
			fmt.Fprintf(&b, " -f -a %q", strings.Join(o.choices, " "))
		}
		fmt.Fprintf(&b, " -d %q\n", o.help)
	}
	return b.String()
}
