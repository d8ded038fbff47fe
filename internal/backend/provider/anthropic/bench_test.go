package anthropic_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/hew-agent/hew/internal/backend/provider"
	"github.com/hew-agent/hew/internal/backend/provider/anthropic"
	"github.com/hew-agent/hew/internal/backend/provider/endpoint"
	"github.com/hew-agent/hew/internal/msg"
)

// BenchmarkStream takes in 20,000 small deltas over loopback, each flushed by
// itself, so that the socket's share is in the figure; "floor" only reads them.
func BenchmarkStream(b *testing.B) {
	head, tail, _ := strings.Cut(stream, "data: {\"type\":\"ping\"}\n\n")
	delta := "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"ten bytes \"}}\n\n"
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		sse(w, head)
		f := http.NewResponseController(w)
		for range 20_000 {
			_, _ = io.WriteString(w, delta)
			_ = f.Flush()
		}
		_, _ = io.WriteString(w, tail)
	}))
	defer s.Close()
	b.Run("adapter", func(b *testing.B) {
		cl, err := anthropic.New(endpoint.Config{BaseURL: s.URL})
		if err != nil {
			b.Fatal(err)
		}
		b.ReportAllocs()
		for b.Loop() {
			if parts, err := collect(b.Context(), cl, request()); err != nil || len(parts) < 20_000 {
				b.Fatal(len(parts), err)
			}
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/20_000, "ns/delta")
	})
	b.Run("floor", func(b *testing.B) {
		for b.Loop() {
			resp, err := http.Post(s.URL+"/v1/messages", "application/json", strings.NewReader("{}"))
			if err != nil {
				b.Fatal(err)
			}
			_, _ = io.Copy(io.Discard, resp.Body)
			_ = resp.Body.Close()
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/20_000, "ns/delta")
	})
}

// BenchmarkRequest sends 7 MB in 600 messages; "floor" sends as many bytes.
func BenchmarkRequest(b *testing.B) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		sse(w, stream)
	}))
	defer s.Close()
	text := strings.Repeat("some text of a file\n", 600)
	r := request()
	for range 600 {
		r.Messages = append(r.Messages, msg.User("", time.Time{}, text))
	}
	b.Run("adapter", func(b *testing.B) {
		cl, err := anthropic.New(endpoint.Config{BaseURL: s.URL})
		if err != nil {
			b.Fatal(err)
		}
		for b.Loop() {
			for _, err := range cl.Stream(b.Context(), r) {
				if err != nil {
					b.Fatal(err)
				}
			}
		}
	})
	size := 0
	for range plain(s.URL).Stream(provider.WithObserver(b.Context(), provider.Observer{Sent: func(n int) { size = n }}), r) {
	}
	body := strings.Repeat("x", size)
	b.Run("floor", func(b *testing.B) {
		for b.Loop() {
			resp, err := http.Post(s.URL+"/v1/messages", "application/json", strings.NewReader(body))
			if err != nil {
				b.Fatal(err)
			}
			_, _ = io.Copy(io.Discard, resp.Body)
			_ = resp.Body.Close()
		}
	})
}

func plain(url string) provider.Provider {
	cl, err := anthropic.New(endpoint.Config{BaseURL: url})
	if err != nil {
		panic(err)
	}
	return cl
}
