package catalog

import (
	"slices"
	"strings"
)

// Shown says how a skill is listed to the model (setting skillOverrides).
type Shown string

// The positions of skillOverrides.
const (
	ShownOn       Shown = "on"
	ShownName     Shown = "name-only"
	ShownUserOnly Shown = "user-invocable-only"
	ShownOff      Shown = "off"
)

// Listing is the text that tells the model which skills there are, within
// budget bytes: over it, the descriptions of the least used go first, names
// stay. It is "" when there is nothing to list. used counts a skill's uses,
// shown is its override.
func (k *Catalog) Listing(budget int, used func(name string) int, shown func(name string) Shown) string {
	type row struct {
		name, text string
		used       int
	}
	var rows []row
	size := 0
	for _, s := range k.Skills {
		how := shown(s.Name)
		if !s.ForModel || len(s.Paths) > 0 || how == ShownOff || how == ShownUserOnly {
			continue
		}
		r := row{name: s.Name, used: used(s.Name)}
		if how != ShownName {
			r.text = strings.Join(strings.Fields(s.Listing()), " ")
		}
		rows = append(rows, r)
		size += len(r.name) + len(r.text) + len("- : \n")
	}
	order := make([]int, len(rows))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return rows[a].used - rows[b].used })
	for _, i := range order {
		if size <= budget {
			break
		}
		size -= len(rows[i].text)
		rows[i].text = ""
	}
	var b strings.Builder
	for _, r := range rows {
		b.WriteString("- " + r.name)
		if r.text != "" {
			b.WriteString(": " + r.text)
		}
		b.WriteByte('\n')
	}
	return b.String()
}
