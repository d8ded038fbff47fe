package session

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/hew-agent/hew/internal/event"
	"github.com/hew-agent/hew/internal/msg"
	"github.com/hew-agent/hew/internal/tool"
)

// bigSession writes a session of about the size given, of turns that read a
// file of 20 KB, and returns its path.
func bigSession(tb testing.TB, size int) string {
	tb.Helper()
	s := Store{Home: tb.TempDir(), Project: "-p"}
	l, err := s.Create(id1)
	if err != nil {
		tb.Fatal(err)
	}
	w := NewWriter(WriterConfig{Log: l, Stamp: Stamp{Session: id1, Cwd: "/w", Version: "0.1.0", Branch: "main"}})
	rnd := rand.New(rand.NewPCG(1, 1))
	for i := range size / 21_000 {
		var text strings.Builder
		for text.Len() < 19_000 {
			fmt.Fprintf(&text, "%d\tfunc f%d() { return \"%x\" }\n", i, rnd.IntN(1e6), rnd.Uint64())
		}
		use := fmt.Sprint("t", i)
		reply := &msg.Reply{ID: use, RequestID: use, Model: "m", Final: true, StopReason: "tool_use"}
		for _, b := range []event.Body{
			event.Message{Msg: &msg.Message{ID: NewID(), Role: msg.RoleAssistant, Blocks: []msg.Block{msg.NewToolUse(use, "Read", json.RawMessage(`{"file_path":"/w/a.go"}`))}, Reply: reply}},
			event.ToolFinished{Msg: &msg.Message{ID: NewID(), Role: msg.RoleUser, Blocks: []msg.Block{msg.NewToolResult(use, []msg.Block{msg.NewText(text.String())}, msg.OK)}}, Result: tool.Result{Data: json.RawMessage(`{"type":"text"}`)}},
		} {
			if err := w.Record(b); err != nil {
				tb.Fatal(err)
			}
		}
	}
	if err := l.Close(); err != nil {
		tb.Fatal(err)
	}
	return s.Path(id1)
}

// readAndScan is the reference: the file is read and each line scanned for
// being JSON.
func readAndScan(path string) (int, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return 0, err
	}
	n := 0
	for line := range bytes.Lines(raw) {
		if gjson.ValidBytes(line) {
			n++
		}
	}
	return n, nil
}

func BenchmarkLoad15MB(b *testing.B) {
	path := bigSession(b, 15<<20)
	info, err := os.Stat(path)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("reference", func(b *testing.B) {
		b.SetBytes(info.Size())
		for b.Loop() {
			if _, err := readAndScan(path); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("load", func(b *testing.B) {
		b.SetBytes(info.Size())
		b.ReportAllocs()
		for b.Loop() {
			if _, _, err := Load(path); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkAppend(b *testing.B) {
	l, err := Store{Home: b.TempDir(), Project: "-p"}.Create(id1)
	if err != nil {
		b.Fatal(err)
	}
	defer l.Close()
	w := NewWriter(WriterConfig{Log: l, Stamp: Stamp{Session: id1}})
	m := &msg.Message{Role: msg.RoleUser, Blocks: []msg.Block{msg.NewToolResult("t", []msg.Block{msg.NewText(strings.Repeat("x", 2000))}, msg.OK)}}
	b.ReportAllocs()
	for b.Loop() {
		if err := w.Result(m, tool.Result{}); err != nil {
			b.Fatal(err)
		}
	}
}
