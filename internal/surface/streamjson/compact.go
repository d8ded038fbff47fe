package streamjson

import "github.com/hew-agent/hew/internal/event"

// compacting writes that a summary is being made, and how that ended. Percent
// is hew's own field: how full the window was.
func (p *Printer) compacting(b event.Compacting) {
	line := struct {
		envelope
		Status  *string `json:"status"`
		Result  string  `json:"compact_result,omitempty"`
		Error   string  `json:"compact_error,omitempty"`
		Percent int     `json:"context_percent,omitempty"`
	}{p.head("system", "status"), nil, "", b.Err, b.Percent}
	switch {
	case !b.Over:
		status := "compacting"
		line.Status = &status
	case b.Err == "":
		line.Result = "success"
	default:
		line.Result = "failed"
	}
	p.write(line)
}

// compacted writes the boundary and the summary behind it.
func (p *Printer) compacted(e event.Event, b event.Compacted) {
	type segment struct {
		Head   string `json:"head_uuid"`
		Anchor string `json:"anchor_uuid"`
		Tail   string `json:"tail_uuid"`
	}
	type meta struct {
		Trigger string   `json:"trigger"`
		Pre     int      `json:"pre_tokens"`
		Post    int      `json:"post_tokens"`
		Dropped int      `json:"cumulative_dropped_tokens"`
		MS      int64    `json:"duration_ms"`
		Kept    *segment `json:"preserved_segment,omitempty"`
	}
	m := meta{b.Trigger, b.PreTokens, b.PostTokens, b.Dropped, b.Took.Milliseconds(), nil}
	if b.HeadID != "" {
		m.Kept = &segment{b.HeadID, b.AnchorID, b.TailID}
	}
	p.write(struct {
		envelope
		Meta meta `json:"compact_metadata"`
	}{envelope{"system", "compact_boundary", b.Boundary, p.id()}, m})
	if b.Summary != nil {
		p.user(e, b.Summary, nil, true, false)
	}
}
