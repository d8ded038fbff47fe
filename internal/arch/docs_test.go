package arch

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// docRow is a line of the package table of docs/ARCHITECTURE.md: | layer | `package` | one line | imports inside its own layer |.
type docRow struct{ line, may string }

func docTable(t *testing.T) map[string]docRow {
	t.Helper()
	rows := map[string]docRow{}
	for _, cells := range markdownTable(t, "../../docs/ARCHITECTURE.md", "| layer | package | one line |") {
		name := strings.Trim(cells[1], "`")
		rows[name] = docRow{line: cells[2], may: strings.ReplaceAll(cells[3], "`", "")}
	}
	return rows
}

// markdownTable returns the cells of the table whose header starts with head.
func markdownTable(t *testing.T, file, head string) [][]string {
	t.Helper()
	text, err := os.ReadFile(filepath.FromSlash(file))
	if err != nil {
		t.Fatal(err)
	}
	var out [][]string
	inside := false
	for line := range strings.SplitSeq(string(text), "\n") {
		switch {
		case strings.HasPrefix(line, head):
			inside = true
		case inside && strings.HasPrefix(line, "|---"):
		case inside && strings.HasPrefix(line, "|"):
			var cells []string
			for cell := range strings.SplitSeq(strings.Trim(line, "|"), " | ") {
				cells = append(cells, strings.TrimSpace(cell))
			}
			out = append(out, cells)
		case inside:
			return out
		}
	}
	if !inside {
		t.Fatalf("%s has no table %q", file, head)
	}
	return out
}

// TestDocTable: the table that people read and the one that the tests read are the same.
func TestDocTable(t *testing.T) {
	rows := docTable(t)
	for _, p := range table {
		row, ok := rows[p.path]
		if !ok {
			t.Errorf("docs/ARCHITECTURE.md has no row for %s", p.path)
			continue
		}
		may := "–"
		if len(p.may) > 0 {
			may = strings.Join(p.may, ", ")
		}
		if row.may != may {
			t.Errorf("%s imports inside its layer: docs/ARCHITECTURE.md says %q, law_test.go %q", p.path, row.may, may)
		}
		delete(rows, p.path)
	}
	for name := range rows {
		t.Errorf("docs/ARCHITECTURE.md has a row for %s, law_test.go has none", name)
	}
}

// TestPackageComments: a package's comment begins "Package x", and its first paragraph holds the package's row of the table word for
// word (case, backquotes and line breaks aside), with any verb between: "Package msg holds <row>."
func TestPackageComments(t *testing.T) {
	rows := docTable(t)
	for dir, files := range mustLoad(t).dirs {
		var comment strings.Builder
		for _, f := range files {
			if f.ast.Doc != nil && (!f.test || dir == "internal/arch") {
				comment.WriteString(f.ast.Doc.Text() + "\n\n")
			}
		}
		name := files[0].ast.Name.Name
		want := "Package " + strings.TrimSuffix(name, "_test") + " "
		if name == "main" {
			want = "Command " + dir[strings.LastIndex(dir, "/")+1:] + " "
		}
		first, _, _ := strings.Cut(comment.String(), "\n\n")
		if !strings.HasPrefix(first, want) {
			complain(t, "package comment", dir, "must begin "+want)
			continue
		}
		if row, ok := rows[dir]; ok && !strings.Contains(plain(first), plain(row.line)) {
			complain(t, "package comment", dir, "must hold its row of docs/ARCHITECTURE.md: "+row.line)
		}
	}
}

func plain(s string) string {
	s = strings.ToLower(strings.ReplaceAll(s, "`", ""))
	return strings.TrimSuffix(strings.Join(strings.Fields(s), " "), ".")
}

// TestRequirementRows: docs/rows.md holds each of the 361 requirements once, and what it names as proof exists. Proofs are backquoted:
// a file or folder of the repository, with #TestName where a Go test is meant.
func TestRequirementRows(t *testing.T) {
	id := regexp.MustCompile(`^[A-Z]+-?[0-9]+b?$`)
	proof := regexp.MustCompile("`([^`]+)`")
	seen := map[string]bool{}
	count := map[string]int{}
	for _, cells := range markdownTable(t, "../../docs/rows.md", "| id | priority | part |") {
		if len(cells) != 6 || !id.MatchString(cells[0]) || seen[cells[0]] {
			t.Errorf("docs/rows.md: not six cells, no id, or an id twice: %q", cells)
			continue
		}
		seen[cells[0]] = true
		count[cells[1]]++
		if !slices.Contains([]string{"open", "partly", "shown", "elsewhere"}, cells[5]) {
			t.Errorf("docs/rows.md: %s: status %q", cells[0], cells[5])
		}
		proofs := proof.FindAllStringSubmatch(cells[4], -1)
		if (cells[5] == "shown" || cells[5] == "partly") != (len(proofs) > 0) {
			t.Errorf("docs/rows.md: %s: status %q with %d proofs; a row is shown by what its scenario column names", cells[0], cells[5], len(proofs))
		}
		for _, p := range proofs {
			if why := missing(p[1]); why != "" {
				t.Errorf("docs/rows.md: %s: %s: %s", cells[0], p[1], why)
			}
		}
	}
	if len(seen) != 361 || count["core"] != 219 || count["important"] != 112 || count["edge"] != 30 {
		t.Errorf("docs/rows.md: %d rows (%v); the requirements are 361: 219 core, 112 important, 30 edge", len(seen), count)
	}
}

func missing(proof string) string {
	name, test, _ := strings.Cut(proof, "#")
	text, err := os.ReadFile(filepath.Join("../..", filepath.FromSlash(name)))
	if test == "" {
		if _, err := os.Stat(filepath.Join("../..", filepath.FromSlash(name))); err != nil {
			return "no such file"
		}
		return ""
	}
	if err != nil {
		return "no such file"
	}
	if !strings.Contains(string(text), "func "+test+"(") {
		return "no such test in it"
	}
	return ""
}

// TestDocSizes: documents that nobody reads to the end protect nobody.
func TestDocSizes(t *testing.T) {
	limits := map[string]int{"../../docs/ARCHITECTURE.md": 200, "../../AGENTS.md": 100}
	records, err := filepath.Glob("../../docs/adr/*.md")
	if err != nil || len(records) == 0 {
		t.Fatalf("no decision records: %v", err)
	}
	for _, r := range records {
		limits[r] = 60
	}
	for name, limit := range limits {
		text, err := os.ReadFile(filepath.FromSlash(name))
		if err != nil {
			t.Error(err)
			continue
		}
		if n := strings.Count(string(text), "\n"); n > limit {
			t.Errorf("%s: %d lines, %d at most", name, n, limit)
		}
	}
}
