package wiring

import "testing"

func TestEditorEntry(t *testing.T) {
	for transport, url := range map[string]string{"ws": "ws://127.0.0.1:4711", "": "ws://127.0.0.1:4711", "sse": "http://127.0.0.1:4711/sse"} {
		e, err := editor{Port: 4711, Transport: transport, Token: "secret"}.entry()
		if err != nil || e.URL != url || e.Headers["X-Claude-Code-Ide-Authorization"] != "secret" {
			t.Errorf("%q: %+v %v", transport, e, err)
		}
	}
}
