package anthropic_test

import (
	"compress/gzip"
	"io"
	"net/http"
	"testing"

	"github.com/hew-agent/hew/internal/backend/provider/endpoint"
)

// TestCompressedAnswer: a gateway that compresses unasked, or only says so, is understood like any other.
func TestCompressedAnswer(t *testing.T) {
	for _, lies := range []bool{false, true} {
		s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			w.Header().Set("Content-Encoding", "gzip")
			if lies {
				_, _ = io.WriteString(w, stream)
				return
			}
			z := gzip.NewWriter(w)
			_, _ = io.WriteString(z, stream)
			_ = z.Close()
		})
		plain := serve(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(w, stream)
		})
		got, err := collect(t.Context(), client(t, endpoint.Config{BaseURL: s.URL}), request())
		if err != nil {
			t.Fatal(err)
		}
		want, err := collect(t.Context(), client(t, endpoint.Config{BaseURL: plain.URL}), request())
		if err != nil {
			t.Fatal(err)
		}
		if len(got) != len(want) || len(got) == 0 {
			t.Errorf("lies=%v: %d parts, want %d", lies, len(got), len(want))
		}
	}
}
