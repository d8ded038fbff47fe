package web

import (
	"encoding/json"
	"os"
	"path/filepath"

	"github.com/hew-agent/hew/internal/backend/fsys"
	"github.com/hew-agent/hew/internal/msg"
	"github.com/hew-agent/hew/internal/state/session"
)

// maxDraft bounds what is kept of a prompt that was not sent, in bytes.
const maxDraft = 1 << 20

// draftPath is where a draft is kept.
func (s *Server) draftPath(id string) string {
	return filepath.Join(s.c.Home, "hew", "drafts", id+".json")
}

// readDraft reads what was typed before this process began. One that cannot be
// read is none: it is worth less than the session.
func (s *Server) readDraft(id string) (d draft) {
	if !session.ValidID(id) {
		return d
	}
	data, err := os.ReadFile(s.draftPath(id))
	if err != nil || json.Unmarshal(data, &d) != nil {
		return draft{}
	}
	return d
}

// type takes what a client has typed, keeps it and tells the others.
func (m *room) typed(c *client, text string) error {
	m.typing.Lock()
	defer m.typing.Unlock()
	m.mu.Lock()
	if m.draft.Text == text {
		m.mu.Unlock()
		return nil
	}
	m.draft = draft{text, m.draft.Rev + 1, c.guest.id}
	c.draft = m.draft.Rev
	d, path := m.draft, m.s.draftPath(m.id)
	m.stir()
	m.mu.Unlock()
	if text == "" {
		err := os.Remove(path)
		if os.IsNotExist(err) {
			err = nil
		}
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	_, err := fsys.WriteFile(path, msg.Encode(d), fsys.WriteOptions{Mode: 0o600})
	return err
}
