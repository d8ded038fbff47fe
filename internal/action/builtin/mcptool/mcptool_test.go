package mcptool

import (
	"bytes"
	"context"
	"encoding/json"
	"image"
	"image/png"
	"strings"
	"testing"

	"github.com/hew-agent/hew/internal/backend/mcp"
	"github.com/hew-agent/hew/internal/msg"
	"github.com/hew-agent/hew/internal/tool"
	"github.com/hew-agent/hew/internal/tool/tooltest"
)

type fake struct{ a mcp.Answer }

func (f fake) Call(context.Context, string, json.RawMessage, func(mcp.Progress)) (mcp.Answer, error) {
	return f.a, nil
}
func (fake) List(context.Context, string) ([]mcp.Resource, error) { return nil, nil }
func (f fake) Read(context.Context, string, string) ([]mcp.Part, error) {
	return f.a.Parts, nil
}

func remoteTool() mcp.Tool {
	return mcp.Tool{
		Server: "s", Full: "mcp__s__t", Name: "t", Description: "Does it.",
		Schema: json.RawMessage(`{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]}`),
	}
}

func TestConformance(t *testing.T) {
	env := tool.Env{Cwd: t.TempDir()}
	tooltest.Check(t, New(remoteTool(), fake{}, Config{MaxText: 1000}), env, json.RawMessage(`{"text":"x"}`))
	all := Resources(fake{}, Config{MaxText: 1000})
	tooltest.Check(t, all[0], env, json.RawMessage(`{"server":"s"}`))
	tooltest.Check(t, all[1], env, json.RawMessage(`{"server":"s","uri":"u://x"}`))
}

func TestClaimsGrantNothing(t *testing.T) {
	about := remoteTool()
	about.ReadOnly = true
	c, err := New(about, fake{}, Config{}).Plan(json.RawMessage(`{"text":"x"}`), tool.Env{})
	if err != nil {
		t.Fatal(err)
	}
	if !c.Traits().ConcurrencySafe {
		t.Error("a tool that says it is read-only may run beside others")
	}
	if n := c.Needs(); len(n) != 1 || n[0].Kind != tool.NeedUse {
		t.Errorf("it must still ask: %+v", n)
	}
}

func TestResultsBecomeBlocks(t *testing.T) {
	var saved string
	c := Config{Save: func(path string, _ []byte) error { saved = path; return nil }}
	f := fake{mcp.Answer{Parts: []mcp.Part{
		{Text: "hello\xff"}, {Data: []byte("RIFF"), MIMEType: "audio/wav"}, {Data: []byte("no picture"), MIMEType: "image/png"}, {URI: "u://x", MIMEType: "text/plain", Text: "body"},
	}}}
	call, err := New(remoteTool(), f, c).Plan(json.RawMessage(`{"text":"x"}`), tool.Env{SpillDir: "/spill", Use: "../../use"})
	if err != nil {
		t.Fatal(err)
	}
	r := call.Run(context.Background(), func(tool.Progress) {})
	var text strings.Builder
	for _, b := range r.Content {
		text.WriteString(b.(*msg.Text).Text + "\n")
	}
	for _, want := range []string{"hello\ufffd", "4 bytes of audio/wav saved to /spill/mcp-______use", "cannot be shown", "[Resource u://x]\nbody"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("%q is not in\n%s", want, text.String())
		}
	}
	if !strings.HasPrefix(saved, "/spill/mcp-") || strings.Contains(saved, "..") {
		t.Errorf("saved to %s", saved)
	}
}

func TestPicturesWithWrongChecksums(t *testing.T) {
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 3, 3))); err != nil {
		t.Fatal(err)
	}
	raw := b.Bytes()
	raw[len(raw)-1] ^= 0xff
	raw[29] ^= 0xff // of the first chunk
	f := fake{mcp.Answer{Parts: []mcp.Part{{Data: raw, MIMEType: "image/png"}}}}
	call, err := New(remoteTool(), f, Config{}).Plan(json.RawMessage(`{"text":"x"}`), tool.Env{})
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := call.Run(context.Background(), func(tool.Progress) {}).Content[0].(*msg.Image); !ok {
		t.Error("the picture was not taken")
	}
	for n := range raw {
		mended(raw[:n]) // must not panic
	}
}
