package cloud

import (
	"bytes"
	"encoding/hex"
	"errors"
	"testing"

	"github.com/hew-agent/hew/internal/backend/provider"
)

// Vectors of the encoding's published test cases.
const (
	vectorEmpty   = "000000100000000005c248eb7d98c8ff"
	vectorPayload = "0000001d00000000fd528c5a7b27666f6f273a27626172277dc3653936"
)

func unhex(t testing.TB, s string) []byte {
	b, err := hex.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestFrameVectors(t *testing.T) {
	stream := append(unhex(t, vectorEmpty), unhex(t, vectorPayload)...)
	for size := 1; size <= len(stream); size++ { // in pieces of every size
		var got []string
		f := &frames{take: func(m awsMessage) error { got = append(got, string(m.payload)); return nil }}
		for rest := stream; len(rest) > 0; {
			n := min(size, len(rest))
			if err := f.feed(rest[:n]); err != nil {
				t.Fatal(err)
			}
			rest = rest[n:]
		}
		if len(got) != 2 || got[0] != "" || got[1] != "{'foo':'bar'}" {
			t.Fatalf("pieces of %d: %q", size, got)
		}
	}
}

// TestDamagedFrames: a changed bit anywhere is an error, never a wrong message.
func TestDamagedFrames(t *testing.T) {
	whole := unhex(t, vectorPayload)
	for i := range whole {
		b := bytes.Clone(whole)
		b[i] ^= 1
		took := false
		f := &frames{take: func(awsMessage) error { took = true; return nil }}
		err := f.feed(b)
		var e *provider.Error
		if took || !errors.As(err, &e) || e.Class != provider.Protocol {
			t.Errorf("byte %d: taken %t, %v", i, took, err)
		}
	}
}

func FuzzFrames(f *testing.F) {
	f.Add(unhex(f, vectorPayload))
	f.Add(unhex(f, vectorEmpty))
	f.Fuzz(func(t *testing.T, b []byte) {
		fr := &frames{take: func(awsMessage) error { return nil }}
		_ = fr.feed(b) // must not panic
		if _, err := awsHeaders(b); err == nil && len(b) == 1 {
			t.Error("one byte is no header")
		}
	})
}
