package app

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hew-agent/hew/internal/backend/fsys"
	"github.com/hew-agent/hew/internal/wiring"
)

const sessionsUsage = `hew sessions - what was said before, kept as one readable file a session

  hew sessions list                     the sessions of this directory, newest first; a fork stands below its source
      --all                             of every directory
      --limit N  --since 7d  --tag T    at most N; only those changed since then; only those tagged T
  hew sessions show ID                  what a session is, its prompts by number, its subagents, what is damaged in it
      --full                            everything that was said, as text
      --agent AGENT                     what a subagent of it said
  hew sessions search WORDS             sessions that contain the words, with the places; lower case finds any case
      --all  --limit N                  in every directory; at most N sessions (20)
  hew sessions export ID                the whole conversation, also what a compaction has replaced since
      --format md|html|json  -o FILE    Markdown when not given; to standard output when not given
  hew sessions fork ID [--id UUID]      a session of its own that continues this one, which stays as it is
  hew sessions rename ID NAME           give it a name, by which --resume finds it; [--tag T] a tag
  hew sessions prune                    say which sessions the settings would let go (cleanupPeriodDays, cleanupMaxBytes)
      --older-than 30d  --max-size 5GB  by these bounds instead
      ID...                             these sessions
      --yes                             remove them: transcript, subagents, results, before-images
  hew sessions redact ID TEXT           take TEXT out of a session: transcript, subagents, results, prompt history
      --regexp  --forks                 TEXT is a regular expression; the same in its forks

ID is a session id, its beginning, or a name. --json prints for programs (list, show, search, prune, fork, redact).
Go on with a session: hew --resume ID -p "..."; go back in one: hew rewind ID.
Nothing but prune and redact rewrites or removes a transcript; both are noted in hew/sessions.log of the home.`

// runSessions looks into past sessions and keeps them in order.
func runSessions(e Env, args []string) error {
	verbs := map[string]func(Env, *asked) error{
		"list": listSessions, "show": showSession, "search": searchSessions, "export": exportSession,
		"fork": forkSession, "rename": renameSession, "prune": pruneSessions, "redact": redactSession,
	}
	if len(args) == 0 {
		return &usageError{sessionsUsage}
	}
	if args[0] == "help" || slices.Contains(args, "--help") || slices.Contains(args, "-h") {
		_, err := fmt.Fprintln(e.Stdout, sessionsUsage)
		return err
	}
	run, ok := verbs[args[0]]
	if !ok {
		var names []string
		for n := range verbs {
			names = append(names, n)
		}
		slices.Sort(names)
		hint := ""
		if near := nearest(names, args[0]); near != "" {
			hint = fmt.Sprintf(" (did you mean hew sessions %s?)", near)
		}
		return &usageError{fmt.Sprintf("unknown command 'sessions %s'%s\n%s", fsys.Printable(args[0]), hint, sessionsUsage)}
	}
	w, err := readAsked(args[0], args[1:])
	if err != nil {
		return err
	}
	return run(e, w)
}

// asked holds the arguments of one subcommand: options wherever they stand, and the rest.
type asked struct {
	verb string
	opts map[string]string
	rest []string
}

// sessionOptions are the options of each subcommand; true for those with a value.
func sessionOptions(verb string) map[string]bool {
	switch verb {
	case "list":
		return map[string]bool{"--all": false, "--json": false, "--limit": true, "--since": true, "--tag": true}
	case "show":
		return map[string]bool{"--json": false, "--full": false, "--agent": true}
	case "search":
		return map[string]bool{"--all": false, "--json": false, "--limit": true}
	case "export":
		return map[string]bool{"--format": true, "-o": true, "--output": true}
	case "fork":
		return map[string]bool{"--id": true, "--json": false}
	case "rename":
		return map[string]bool{"--tag": true}
	case "prune":
		return map[string]bool{"--older-than": true, "--max-size": true, "--yes": false, "--json": false}
	case "redact":
		return map[string]bool{"--regexp": false, "--forks": false, "--json": false}
	}
	return nil
}

func readAsked(verb string, args []string) (*asked, error) {
	w := &asked{verb: verb, opts: map[string]string{}}
	known := sessionOptions(verb)
	for i := 0; i < len(args); i++ {
		name, value, given := strings.Cut(args[i], "=")
		wants, ok := known[name]
		switch {
		case args[i] == "--":
			w.rest = append(w.rest, args[i+1:]...)
			return w, nil
		case !strings.HasPrefix(args[i], "-") || args[i] == "-":
			w.rest = append(w.rest, args[i])
		case !ok || given && !wants:
			return nil, &usageError{fmt.Sprintf("unknown option '%s' of hew sessions %s; hew sessions --help lists them", fsys.Printable(args[i]), verb)}
		case !wants:
			w.opts[name] = "true"
		case given:
			w.opts[name] = value
		case i+1 == len(args):
			return nil, &usageError{fmt.Sprintf("option '%s' of hew sessions %s needs a value", name, verb)}
		default:
			i++
			w.opts[name] = args[i]
		}
		// An unset variable must not become no bound at all.
		if wants && name != "--tag" && w.opts[name] == "" {
			return nil, &usageError{fmt.Sprintf("option '%s' of hew sessions %s needs a value", name, verb)}
		}
	}
	return w, nil
}

func (w *asked) has(name string) bool { return w.opts[name] != "" }

// one is the only argument.
func (w *asked) one(what string) (string, error) {
	if len(w.rest) != 1 || w.rest[0] == "" {
		return "", &usageError{fmt.Sprintf("hew sessions %s takes one %s; hew sessions --help shows more", w.verb, what)}
	}
	return w.rest[0], nil
}

func (w *asked) number(name string, otherwise int) (int, error) {
	if !w.has(name) {
		return otherwise, nil
	}
	n, err := strconv.Atoi(w.opts[name])
	if err != nil || n < 1 {
		return 0, &usageError{fmt.Sprintf("option '%s' takes a number from 1, not '%s'", name, fsys.Printable(w.opts[name]))}
	}
	return n, nil
}

// span reads a time like 36h, 30d or 2w.
func (w *asked) span(name string) (time.Duration, error) {
	if !w.has(name) {
		return 0, nil
	}
	text := w.opts[name]
	units := map[string]time.Duration{"d": 24 * time.Hour, "w": 7 * 24 * time.Hour}
	if unit, ok := units[text[len(text)-1:]]; ok {
		if n, err := strconv.ParseFloat(text[:len(text)-1], 64); err == nil && n >= 0 && n < 1e5 {
			return time.Duration(n * float64(unit)), nil
		}
	}
	if d, err := time.ParseDuration(text); err == nil && d >= 0 {
		return d, nil
	}
	return 0, &usageError{fmt.Sprintf("option '%s' takes a time such as 36h, 30d or 2w, not '%s'", name, fsys.Printable(text))}
}

// bytes reads a size like 500MB or 5G.
func (w *asked) bytes(name string) (int64, error) {
	if !w.has(name) {
		return 0, nil
	}
	text := strings.ToUpper(strings.TrimSuffix(strings.ToUpper(w.opts[name]), "B"))
	factor := int64(1)
	for i, unit := range []string{"K", "M", "G", "T"} {
		if rest, ok := strings.CutSuffix(text, unit); ok {
			text, factor = rest, int64(1)<<(10*(i+1))
			break
		}
	}
	n, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if err != nil || n <= 0 || n*float64(factor) > 1<<60 {
		return 0, &usageError{fmt.Sprintf("option '%s' takes a size such as 500MB or 5GB, not '%s'", name, fsys.Printable(w.opts[name]))}
	}
	return int64(n * float64(factor)), nil
}

// sessions opens the sessions of the process's user.
func (e Env) sessions() (*wiring.Sessions, error) {
	return wiring.OpenSessions(wiring.Options{
		Version: Version(), Environ: e.Environ, Cwd: e.Dir, Sources: "user,project,local", Now: time.Now, Notice: e.notice,
	})
}

// shortID is the beginning of an id, as people type it.
func shortID(id string) string { return id[:min(8, len(id))] }

func sizeText(n int64) string {
	switch {
	case n < 1<<10:
		return fmt.Sprintf("%d B", n)
	case n < 1<<20:
		return fmt.Sprintf("%.1f KB", float64(n)/(1<<10))
	case n < 1<<30:
		return fmt.Sprintf("%.1f MB", float64(n)/(1<<20))
	}
	return fmt.Sprintf("%.2f GB", float64(n)/(1<<30))
}
