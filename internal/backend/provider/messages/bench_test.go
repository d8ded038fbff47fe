package messages_test

import (
	"io"
	"strings"
	"testing"
	"time"

	"github.com/hew-agent/hew/internal/backend/provider"
	"github.com/hew-agent/hew/internal/backend/provider/messages"
	"github.com/hew-agent/hew/internal/msg"
)

// BenchmarkDeltas takes in 20,000 small deltas.
func BenchmarkDeltas(b *testing.B) {
	delta := event(`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"ten bytes "}}`)
	stream := []byte(event(start, `{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`) +
		strings.Repeat("event: content_block_delta\n"+delta, 20_000) + event(`{"type":"content_block_stop","index":0}`, stop, end))
	b.SetBytes(int64(len(stream)))
	b.ReportAllocs()
	for b.Loop() {
		n := 0
		d := messages.NewDecoder(messages.Config{Yield: func(provider.Part) bool { n++; return true }})
		s := messages.NewSplitter(d.Event)
		for rest := stream; len(rest) > 0; {
			k := min(1<<12, len(rest))
			if err := s.Feed(rest[:k]); err != nil {
				b.Fatal(err)
			}
			rest = rest[k:]
		}
		if !d.Ended() || n < 20_000 {
			b.Fatal(n)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/20_000, "ns/delta")
}

// BenchmarkEncode writes a request of 7 MB in 600 messages.
func BenchmarkEncode(b *testing.B) {
	r := request(0)
	for range 600 {
		r.Messages = append(r.Messages, msg.User("", time.Time{}, strings.Repeat("some text of a file\n", 600)))
	}
	r.Mark, r.MarkAt = "5m", []int{599}
	b.Run("segments", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			messages.Encode(r, nil)
		}
	})
	b.Run("sent", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			body := messages.Encode(r, nil)
			b.SetBytes(body.Len())
			if _, err := io.Copy(struct{ io.Writer }{io.Discard}, body.Reader()); err != nil {
				b.Fatal(err)
			}
		}
	})
}
