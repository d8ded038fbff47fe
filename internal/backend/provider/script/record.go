package script

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// record logs and keeps a request.
func (m *Model) record(in incoming, a *answer, step *Step) {
	if in.count {
		return
	}
	if m.c.Keep {
		rec := Record{Body: in.body, Side: in.side, Break: in.brk, Status: a.status}
		if r, ok := parse(in.body); ok {
			rec.Session = r.session
		}
		if step != nil {
			rec.Step = step.Name
		}
		m.records = append(m.records, rec)
	}
	if m.c.LogDir == "" {
		return
	}
	name := fmt.Sprintf("R%d", m.counts.Turns)
	if in.side != "" {
		name = fmt.Sprintf("S%d-%s", m.counts.Sides, fileName(in.side))
	}
	if err := m.write(name, in); err != nil {
		m.note("log: " + err.Error())
	}
}

func (m *Model) write(name string, in incoming) error {
	if err := os.WriteFile(filepath.Join(m.c.LogDir, name+".json"), in.body, 0o600); err != nil {
		return err
	}
	if in.headers == nil {
		return nil
	}
	shown := map[string]string{}
	for k, v := range in.headers {
		shown[k] = strings.Join(v, ", ")
		switch strings.ToLower(k) {
		case "x-api-key", "authorization", "proxy-authorization", "cookie":
			shown[k] = "[redacted]"
		}
	}
	data, err := json.MarshalIndent(shown, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(m.c.LogDir, name+".headers.json"), data, 0o600)
}

func fileName(label string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_' {
			return r
		}
		return '_'
	}, label)
}
