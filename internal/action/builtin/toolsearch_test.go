package builtin

import (
	"strings"
	"testing"

	"github.com/hew-agent/hew/internal/msg"
	"github.com/hew-agent/hew/internal/tool"
)

func deferredPool() []tool.Spec {
	return []tool.Spec{
		{Name: "NotebookEdit", Description: "Changes one cell of a Jupyter notebook"},
		{Name: "TaskStop", Aliases: []string{"KillShell"}, Description: "Ends a background task"},
		{Name: "mcp__slack__send_message", Description: "Sends a message to a channel"},
		{Name: "mcp__slack__list_channels", Description: "Lists channels"},
		{Name: "mcp__mail__send", Description: "Sends mail; a message with attachments"},
	}
}

func TestToolSearchForms(t *testing.T) {
	for query, want := range map[string]string{
		"select:TaskStop":                     "TaskStop",
		"select: NotebookEdit , TaskStop":     "NotebookEdit TaskStop",
		"select:KillShell":                    "TaskStop",
		"select:notebookedit":                 "NotebookEdit",
		"select:TaskStop,TaskStop,Unheard":    "TaskStop",
		"select:Unheard":                      "",
		"jupyter":                             "NotebookEdit",
		"notebook":                            "NotebookEdit",
		"send":                                "mcp__mail__send mcp__slack__send_message",
		"send message":                        "mcp__slack__send_message mcp__mail__send",
		"+slack send":                         "mcp__slack__send_message mcp__slack__list_channels",
		"+slack":                              "mcp__slack__list_channels mcp__slack__send_message",
		"+jupyter":                            "",
		"SLACK channels":                      "mcp__slack__list_channels mcp__slack__send_message",
		"quantum":                             "",
		"+":                                   "",
		strings.Repeat("x", 10_000) + " jupy": "",
	} {
		var got []string
		for _, s := range find(searchInput{Query: query}, deferredPool()) {
			got = append(got, s.Name)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%.40q: %v, want %s", query, got, want)
		}
	}
	if got := find(searchInput{Query: "send", Max: 1}, deferredPool()); len(got) != 1 {
		t.Errorf("max_results 1 found %d", len(got))
	}
}

func TestToolSearchLoadsAndAResumeReadsIt(t *testing.T) {
	r := loaded(searchInput{Query: "select:TaskStop,NotebookEdit"}, deferredPool())
	if len(r.Effects) != 1 || strings.Join(r.Effects[0].(tool.LoadTools).Names, " ") != "TaskStop NotebookEdit" {
		t.Fatalf("effects %+v", r.Effects)
	}
	none := loaded(searchInput{Query: "quantum"}, deferredPool())
	if len(none.Effects) != 0 || none.Content[0].(*msg.Text).Text != "No matching deferred tools found" {
		t.Errorf("nothing found: %+v", none)
	}
	history := []*msg.Message{
		{Role: msg.RoleAssistant, Blocks: []msg.Block{msg.NewToolUse("a", ToolSearchName, nil), msg.NewToolUse("b", "Bash", nil), msg.NewToolUse("c", ToolSearchName, nil)}},
		{Role: msg.RoleUser, Blocks: []msg.Block{
			msg.NewToolResult("a", r.Content, msg.OK),
			msg.NewToolResult("b", []msg.Block{msg.NewText(loadedPrefix + "Impostor")}, msg.OK),
			msg.NewToolResult("c", none.Content, msg.OK),
		}},
	}
	if got := strings.Join(LoadedTools(history), " "); got != "TaskStop NotebookEdit" {
		t.Errorf("read again: %s", got)
	}
}
