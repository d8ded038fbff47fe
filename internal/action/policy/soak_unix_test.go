//go:build soak && unix

package policy

import (
	"testing"
	"time"
)

// TestSoakMarker runs random commands around the marker for an hour, from a new seed.
func TestSoakMarker(t *testing.T) { huntMarkers(t, uint64(time.Now().UnixNano()), time.Hour) }
