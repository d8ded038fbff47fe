package hook

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"github.com/hew-agent/hew/internal/msg"
)

// answer is what a hook did.
type answer struct {
	id             string // of the run
	stdout, stderr string
	exit           int
	// failure says why there is no valid answer; timedOut that its time was over.
	failure   string
	timedOut  bool
	cancelled bool
	// reply is the verdict of a model.
	reply *verdict
	took  time.Duration
}

// verdict is the reply of a prompt or verifier.
type verdict struct {
	OK         bool
	Reason     string
	Impossible bool
}

// run runs one hook and returns at the latest a little after its limit,
// whatever the hook does.
func (d *Dispatcher) run(ctx context.Context, h *loaded, o *occasion, limit time.Duration) answer {
	id := d.newID()
	if d.c.Started != nil {
		d.c.Started(Started{id, o.row.Event, o.name()})
	}
	began := d.c.Now()
	a := d.guarded(ctx, h, o, limit)
	a.id, a.took = id, d.c.Now().Sub(began)
	return a
}

func (d *Dispatcher) guarded(parent context.Context, h *loaded, o *occasion, limit time.Duration) answer {
	if o.err != nil {
		return answer{exit: -1, failure: o.err.Error()}
	}
	ctx, cancel := context.WithTimeout(parent, limit)
	defer cancel()
	done := make(chan answer, 1)
	d.wg.Go(func() {
		defer func() {
			if v := recover(); v != nil {
				done <- answer{exit: -1, failure: fmt.Sprintf("internal error: %v", v)}
			}
		}()
		done <- d.start(ctx, h, o)
	})
	select {
	case a := <-done:
		return ended(parent, ctx, a, limit)
	case <-ctx.Done():
	}
	late := time.NewTimer(grace)
	defer late.Stop()
	select {
	case a := <-done:
		return ended(parent, ctx, a, limit)
	case <-late.C: // it ignores its context: leave it behind
		return ended(parent, ctx, answer{exit: -1, failure: "no answer"}, limit)
	}
}

// ended tells a hook that failed by itself from one whose time was over. An
// answer that is complete counts even if it came with the last tick.
func ended(parent, ctx context.Context, a answer, limit time.Duration) answer {
	switch {
	case a.failure == "":
	case parent.Err() != nil:
		a.cancelled = true
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		a.timedOut, a.failure = true, fmt.Sprintf("no answer within %v", limit)
	}
	return a
}

func (d *Dispatcher) start(ctx context.Context, h *loaded, o *occasion) answer {
	switch h.Kind {
	case Command:
		return d.command(ctx, h, o)
	case HTTP:
		return d.post(ctx, h, o)
	case MCPTool:
		return d.mcp(ctx, h, o)
	case Prompt:
		return d.question(ctx, h, o, d.c.Ask)
	case Verifier:
		return d.question(ctx, h, o, d.c.Verify)
	case Callback:
		return d.host(ctx, h, o)
	}
	return unable("hooks of this type")
}

func unable(what string) answer {
	return answer{exit: -1, failure: "this run has nothing that could carry out " + what}
}

func failure(err error) answer { return answer{exit: -1, failure: clip(err.Error(), 500)} }

func (d *Dispatcher) mcp(ctx context.Context, h *loaded, o *occasion) answer {
	if d.c.CallTool == nil {
		return unable("calls of MCP tools")
	}
	input, err := filled(h.Input, o.payload)
	if err != nil {
		return failure(err)
	}
	text, err := d.c.CallTool(ctx, MCPCall{Server: h.Server, Tool: h.Tool, Input: input})
	if err != nil {
		return failure(err)
	}
	return answer{stdout: text}
}

// filled puts values of the payload into the strings of an MCP tool's input:
// "${tool_input.file_path}" becomes the value itself, inside a longer string
// its text.
func filled(input, payload json.RawMessage) (json.RawMessage, error) {
	if len(input) == 0 {
		return json.RawMessage("{}"), nil
	}
	var v any
	if err := json.Unmarshal(input, &v); err != nil {
		return nil, fmt.Errorf("read the input of the MCP tool: %w", err)
	}
	return msg.Marshal(fill(v, payload))
}

func fill(v any, payload json.RawMessage) any {
	switch v := v.(type) {
	case string:
		return fillText(v, payload)
	case []any:
		for i := range v {
			v[i] = fill(v[i], payload)
		}
	case map[string]any:
		for k := range v {
			v[k] = fill(v[k], payload)
		}
	}
	return v
}

func fillText(s string, payload json.RawMessage) any {
	var b strings.Builder
	for {
		before, rest, ok := strings.Cut(s, "${")
		path, after, closed := strings.Cut(rest, "}")
		if !ok || !closed {
			b.WriteString(s)
			return b.String()
		}
		found := lookup(payload, path)
		if before == "" && after == "" && b.Len() == 0 {
			return found.Value()
		}
		b.WriteString(before)
		b.WriteString(found.String())
		s = after
	}
}

// lookup takes names with dots only: gjson's own syntax has modifiers and
// queries that an input must not reach.
func lookup(payload json.RawMessage, path string) gjson.Result {
	at := gjson.ParseBytes(payload)
	for name := range strings.SplitSeq(path, ".") {
		at = at.Get(gjson.Escape(name))
	}
	return at
}

// question puts the payload to a model and reads {ok, reason, impossible}.
func (d *Dispatcher) question(ctx context.Context, h *loaded, o *occasion, ask func(context.Context, Query) (string, error)) answer {
	if ask == nil {
		return unable("questions to a model")
	}
	text := strings.ReplaceAll(h.Prompt, "$ARGUMENTS", string(o.payload))
	if !strings.Contains(h.Prompt, "$ARGUMENTS") {
		text += "\n\n" + string(o.payload)
	}
	reply, err := ask(ctx, Query{Text: text, Model: h.Model, Agent: o.in.who().ID})
	if err != nil {
		return failure(err)
	}
	v, err := readVerdict(reply)
	if err != nil {
		return answer{stdout: reply, exit: -1, failure: err.Error()}
	}
	return answer{stdout: reply, reply: &v}
}

// readVerdict finds the object in a model's reply, which may have words or a
// code fence around it.
func readVerdict(reply string) (verdict, error) {
	open, end := strings.IndexByte(reply, '{'), strings.LastIndexByte(reply, '}')
	var v struct {
		OK         *bool  `json:"ok"`
		Reason     string `json:"reason"`
		Impossible bool   `json:"impossible"`
	}
	if open < 0 || end < open || json.Unmarshal([]byte(reply[open:end+1]), &v) != nil || v.OK == nil {
		return verdict{}, errors.New("the model's reply is not {\"ok\": true or false, \"reason\": …}")
	}
	return verdict{OK: *v.OK, Reason: v.Reason, Impossible: v.Impossible}, nil
}

func (d *Dispatcher) host(ctx context.Context, h *loaded, o *occasion) answer {
	if d.c.Host == nil {
		return unable("callbacks of a host")
	}
	id, _ := textOf(o.fields["tool_use_id"])
	out, err := d.c.Host(ctx, HostCall{ID: h.Callback, Input: o.payload, UseID: id})
	if err != nil {
		return failure(err)
	}
	return answer{stdout: string(out)}
}
