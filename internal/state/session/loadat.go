package session

import (
	"fmt"
	"io/fs"
)

// LoadAt is Load of the conversation as it was when the entry at was its end:
// what came later stays in the file, beside the way. It is fs.ErrNotExist when
// no entry of the conversation has that id.
func LoadAt(path, at string) (*Conversation, []Report, error) {
	f, err := openTranscript(path)
	if err != nil {
		return nil, nil, fmt.Errorf("load session: %w", err)
	}
	defer f.close()
	l, c, err := loadFrom(f, window{at: at})
	if err != nil {
		return nil, nil, err
	}
	c, reports, err := loaded(path, l, c, err)
	if c != nil {
		c.Rewound = true
	}
	return c, reports, err
}

// end is the entry that the conversation ends with.
func (t *tree) end(at string) (int, error) {
	if at == "" {
		return t.leaf(), nil
	}
	i, ok := t.byID[at]
	if !ok || t.recs[i].kind == kindOther || t.recs[i].sidechain || t.gone[i] {
		return 0, fmt.Errorf("no message %q in the conversation: %w", at, fs.ErrNotExist)
	}
	return i, nil
}

// Dropped are the prompts and the injected notices of c that an earlier state of
// the same conversation does not have, by their ids.
func (c *Conversation) Dropped(earlier *Conversation) (prompts, notices []string) {
	kept := map[string]bool{}
	for _, m := range earlier.Messages {
		kept[m.ID] = true
	}
	for _, p := range c.Points {
		if !kept[p.ID] {
			prompts = append(prompts, p.ID)
		}
	}
	for _, m := range c.Messages {
		if c.Kinds[m.ID] == "background_notice" && !kept[m.ID] {
			notices = append(notices, m.ID)
		}
	}
	return prompts, notices
}
