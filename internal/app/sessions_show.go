package app

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hew-agent/hew/internal/backend/fsys"
	"github.com/hew-agent/hew/internal/state/session"
	"github.com/hew-agent/hew/internal/wiring"
)

// sessionShown is what hew sessions show tells.
type sessionShown struct {
	sessionRow
	Model    string        `json:"model,omitempty"`
	Mode     string        `json:"permissionMode,omitempty"`
	CostUSD  float64       `json:"costUSD,omitempty"`
	OnDisk   int64         `json:"onDisk"`
	Messages int           `json:"messages"`
	Pending  int           `json:"unansweredCalls,omitempty"`
	Prompts  []promptShown `json:"prompts"`
	Agents   []agentShown  `json:"agents"`
	Forks    []string      `json:"forks"`
	Problems []string      `json:"problems"`
}

type promptShown struct {
	Number int    `json:"number"`
	ID     string `json:"id"`
	Time   string `json:"time,omitempty"`
	Text   string `json:"text"`
}

type agentShown struct {
	ID         string `json:"id"`
	Transcript string `json:"transcript"`
}

func showSession(e Env, w *asked) error {
	name, err := w.one("session")
	if err != nil {
		return err
	}
	s, sum, err := e.named(name)
	if err != nil {
		return err
	}
	agents := agentsOf(s, sum)
	if a := w.opts["--agent"]; a != "" {
		return showAgent(e, agents, sum, a)
	}
	if w.has("--full") {
		return e.export(sum.Path, sum, markdownExport(e.Stdout))
	}
	shown, err := examine(s, sum, agents)
	if err != nil {
		return err
	}
	if w.has("--json") {
		return shownJSON(e.Stdout, shown, "  ")
	}
	return writeSession(e.Stdout, shown)
}

func examine(s *wiring.Sessions, sum session.Summary, agents []agentShown) (sessionShown, error) {
	c, reports, err := session.Load(sum.Path)
	if err != nil {
		return sessionShown{}, err
	}
	all, err := session.ListAll(s.Home)
	if err != nil {
		return sessionShown{}, err
	}
	out := sessionShown{
		sessionRow: rowOf(sum), Model: c.Model, Mode: c.Mode, CostUSD: c.Cost.TotalUSD, OnDisk: sum.Weight(),
		Messages: len(c.Messages), Pending: len(c.Pending),
		Prompts: []promptShown{}, Agents: agents, Forks: []string{}, Problems: []string{},
	}
	out.Title = c.Title
	for i, p := range c.Points {
		at := ""
		if !p.Time.IsZero() {
			at = p.Time.UTC().Format("2006-01-02T15:04:05Z")
		}
		out.Prompts = append(out.Prompts, promptShown{Number: i + 1, ID: p.ID, Time: at, Text: p.Text})
	}
	for _, f := range all {
		if f.ForkOf == sum.ID && f.ID != sum.ID {
			out.Forks = append(out.Forks, f.ID)
		}
	}
	for _, r := range reports {
		out.Problems = append(out.Problems, r.String())
	}
	return out, nil
}

func writeSession(out io.Writer, s sessionShown) error {
	var b strings.Builder
	line := func(name, text string) {
		if text != "" {
			fmt.Fprintf(&b, "%-11s %s\n", name, fsys.Printable(text))
		}
	}
	line("session", s.ID)
	line("name", s.Title)
	line("tag", s.Tag)
	line("directory", s.Cwd)
	line("branch", s.Branch)
	line("changed", s.Modified.Local().Format("2006-01-02 15:04:05"))
	line("model", s.Model)
	if s.CostUSD > 0 {
		line("cost", fmt.Sprintf("$%.4f", s.CostUSD))
	}
	line("size", fmt.Sprintf("%s of transcript, %s with results, subagents and before-images", sizeText(s.Size), sizeText(s.OnDisk)))
	line("transcript", s.Transcript)
	line("fork of", s.ForkOf)
	line("forks", strings.Join(s.Forks, " "))
	line("messages", fmt.Sprintf("%d in the live conversation", s.Messages))
	if s.Pending > 0 {
		line("", fmt.Sprintf("%d calls without a result; going on answers them", s.Pending))
	}
	for _, a := range s.Agents {
		line("subagent", a.ID+"  "+a.Transcript)
	}
	for _, p := range s.Problems {
		line("problem", p)
	}
	if len(s.Prompts) > 0 {
		b.WriteString("\nPrompts (hew rewind " + shortID(s.ID) + " --to NUMBER goes back to before one):\n")
	}
	for _, p := range s.Prompts {
		fmt.Fprintf(&b, "%4d  %s  %s\n", p.Number, shortID(p.ID), oneLine(p.Text, 100))
	}
	_, err := io.WriteString(out, b.String())
	return err
}

// agentsOf are the subagents of a session and of those that it was forked
// from, whose logs stay where they were written.
func agentsOf(s *wiring.Sessions, sum session.Summary) []agentShown {
	out := []agentShown{}
	seen := map[string]bool{}
	for !seen[sum.ID] {
		seen[sum.ID] = true
		entries, err := os.ReadDir(filepath.Join(sum.Store.Folder(sum.ID), "subagents"))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			break
		}
		for _, f := range entries {
			id, ok := strings.CutPrefix(strings.TrimSuffix(f.Name(), ".jsonl"), "agent-")
			if ok && strings.HasSuffix(f.Name(), ".jsonl") && !slices.ContainsFunc(out, func(a agentShown) bool { return a.ID == id }) {
				out = append(out, agentShown{ID: id, Transcript: sum.Store.Sidechain(sum.ID, id)})
			}
		}
		if sum.ForkOf == "" {
			break
		}
		up, err := s.Store.Find(sum.ForkOf)
		if err != nil {
			break // the source is gone, and its subagents with it
		}
		sum = up
	}
	return out
}

func showAgent(e Env, agents []agentShown, sum session.Summary, name string) error {
	var found []agentShown
	for _, a := range agents {
		if a.ID == name {
			found = []agentShown{a}
			break
		}
		if strings.HasPrefix(a.ID, name) {
			found = append(found, a)
		}
	}
	if len(found) != 1 {
		return fmt.Errorf("session %s has %d subagents called %q; hew sessions show %s lists them", sum.ID, len(found), name, shortID(sum.ID))
	}
	return e.export(found[0].Transcript, sum, markdownExport(e.Stdout))
}
