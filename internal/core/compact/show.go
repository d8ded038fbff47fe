package compact

import (
	"fmt"
	"strings"
)

// Markdown is the report as tables. detail "all" lists each item of each source,
// "explain" what was taken out of the window.
func (r Report) Markdown(detail string) string {
	var s strings.Builder
	about := "estimated"
	if r.Measured {
		about = "by the provider's count"
	}
	fmt.Fprintf(&s, "## Context\n\n**%s** · %s of %s tokens (%d%%, %s) · compaction begins at %s\n\n", r.Model, thousands(r.Used), thousands(r.Window), r.Percent, about, thousands(r.Trigger))
	s.WriteString("| Source | Tokens | Part | Class |\n|---|---|---|---|\n")
	for _, src := range r.Sources {
		fmt.Fprintf(&s, "| %s | %s | %.1f%% | %s |\n", strings.ReplaceAll(src.Name, "_", " "), thousands(src.Tokens), float64(src.Tokens)*100/float64(max(1, r.Window)), src.Class)
	}
	fmt.Fprintf(&s, "| free | %s | %.1f%% | |\n", thousands(r.Free), float64(r.Free)*100/float64(max(1, r.Window)))
	if r.Used >= r.Trigger {
		s.WriteString("\nThe window is as good as full: /compact summarises the conversation, /clear begins anew.\n")
	}
	if detail == "all" {
		s.WriteString("\n| Source | Item | Tokens |\n|---|---|---|\n")
		for _, src := range r.Sources {
			for _, i := range src.Items {
				fmt.Fprintf(&s, "| %s | %s | %s |\n", strings.ReplaceAll(src.Name, "_", " "), cell(i.Name), thousands(i.Tokens))
			}
		}
	}
	if detail == "explain" || detail == "all" {
		s.WriteString(r.explained())
	} else if len(r.Taken) > 0 {
		fmt.Fprintf(&s, "\n%s out of the window or shortened; `hew context --explain` lists what and where.\n", plural(len(r.Taken), "thing was taken", "things were taken"))
	}
	return s.String()
}

func (r Report) explained() string {
	if len(r.Taken) == 0 {
		return "\nNothing was taken out of this window.\n"
	}
	var s strings.Builder
	s.WriteString("\n| Stage | Taken out or shortened | Tokens | Where it is |\n|---|---|---|---|\n")
	for _, t := range r.Taken {
		fmt.Fprintf(&s, "| %s | %s | %s | %s |\n", t.Stage, cell(t.What), thousands(t.Tokens), cell(t.Where))
	}
	return s.String()
}

// cell keeps text from ending a cell of a table.
func cell(s string) string { return strings.ReplaceAll(oneLine(s, 300), "|", "\\|") }

// thousands writes a number the way it is read quickest.
func thousands(n int) string {
	if n < 10_000 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%.1fk", float64(n)/1000)
}
