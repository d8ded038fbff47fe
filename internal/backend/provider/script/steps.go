package script

import (
	"fmt"
	"strings"
)

// step takes the step that answers r.
func (m *Model) step(r *request, s *session) (*Step, error) {
	if r.side != "" {
		return m.sideStep(r), nil
	}
	steps := m.s.Steps
	for i := range m.s.Lanes {
		if s.lane != mainLane && m.s.Lanes[i].Name == s.lane {
			steps = m.s.Lanes[i].Steps
		}
	}
	if m.s.Select == "match" {
		return m.firstMatch(steps, r)
	}
	i := m.next[s.lane]
	if i >= len(steps) {
		return nil, fmt.Errorf("no step is left (%d were used); the request's newest message is\n%s", i, describe(r))
	}
	st := &steps[i]
	if d := st.Match.mismatches(r); len(d) > 0 {
		return nil, fmt.Errorf("step %d %s does not match:\n  %s\nthe request's newest message is\n%s",
			i+1, st.Name, strings.Join(d, "\n  "), describe(r))
	}
	m.used[st]++
	if !st.Loop && m.used[st] >= max(1, st.Repeat) {
		m.next[s.lane]++
	}
	return st, nil
}

func (m *Model) firstMatch(steps []Step, r *request) (*Step, error) {
	var why []string
	for i := range steps {
		d := steps[i].Match.mismatches(r)
		if len(d) == 0 {
			m.used[&steps[i]]++
			return &steps[i], nil
		}
		why = append(why, fmt.Sprintf("  step %d %s: %s", i+1, steps[i].Name, strings.Join(d, "; ")))
	}
	return nil, fmt.Errorf("no step matches:\n%s\nthe request's newest message is\n%s", strings.Join(why, "\n"), describe(r))
}

// sideStep answers a side query; it never fails and never uses up a main step.
func (m *Model) sideStep(r *request) *Step {
	label := r.side
	steps, ok := m.s.Side[label]
	if !ok {
		label = "*"
		steps = m.s.Side[label]
	}
	if len(steps) == 0 {
		return &Step{Name: "side " + r.side, Reply: []Reply{{Text: "OK"}}}
	}
	i := min(m.next["side\x00"+label], len(steps)-1)
	st := &steps[i]
	m.used[st]++
	if !st.Loop && m.used[st] >= max(1, st.Repeat) {
		m.next["side\x00"+label]++
	}
	return st
}

func (m *Model) unused(what string, steps []Step) []string {
	var out []string
	for i := range steps {
		st := &steps[i]
		switch n, want := m.used[st], max(1, st.Repeat); {
		case n == 0 && !st.Loop:
			out = append(out, fmt.Sprintf("%s %d %s was never used", what, i+1, st.Name))
		case n < want && !st.Loop:
			out = append(out, fmt.Sprintf("%s %d %s was used %d of %d times", what, i+1, st.Name, n, want))
		}
	}
	return out
}

func title(st *Step) string {
	if st.Name != "" {
		return st.Name
	}
	return "(without a name)"
}

// describe shows the newest message of a request for an error text.
func describe(r *request) string {
	m := r.last()
	var lines []string
	for _, b := range m.blocks {
		kind := b.Get("type").String()
		text := texts(blocksOf(b.Get("content")))
		switch kind {
		case "text":
			text = b.Get("text").String()
		case "tool_result":
			kind += " " + b.Get("tool_use_id").String()
			if b.Get("is_error").Bool() {
				kind += " (error)"
			}
		}
		lines = append(lines, fmt.Sprintf("  %s %s: %q", m.role, kind, clip(text)))
	}
	return strings.Join(lines, "\n")
}
