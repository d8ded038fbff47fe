package hewtest

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"strings"
	"syscall"
	"testing"

	"github.com/coder/websocket"
	"github.com/tidwall/gjson"
)

// bySocket serves the session and prompts through a WebSocket.
func bySocket(t *testing.T, w *world, trace string) {
	t.Helper()
	r := w.readerOf(strings.NewReader(""), "serve", "--no-open", "--permission-mode", "acceptEdits", "--trace", trace)
	var m []string
	for m == nil {
		line, err := r.buf.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		m = linkOf.FindStringSubmatch(line)
	}
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	c := &http.Client{Jar: jar}
	post := func(path, body string) gjson.Result {
		res, err := c.Post(m[1]+path, "application/json", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		data, err := io.ReadAll(res.Body)
		if err != nil || res.StatusCode >= 300 {
			t.Fatalf("%s: %d %s %v", path, res.StatusCode, data, err)
		}
		return gjson.ParseBytes(data)
	}
	post("/api/login", fmt.Sprintf(`{"token":%q}`, m[2]))
	id := post("/api/sessions", fmt.Sprintf(`{"cwd":%q}`, w.proj)).Get("id").Str
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	conn, _, err := websocket.Dial(ctx, m[1]+"/api/sessions/"+id+"/socket", &websocket.DialOptions{HTTPClient: c})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.CloseNow() }()
	conn.SetReadLimit(-1)
	if err := conn.Write(ctx, websocket.MessageText, []byte(`{"type":"user","message":{"role":"user","content":"go"}}`)); err != nil {
		t.Fatal(err)
	}
	for kind := ""; kind != "result"; {
		_, data, err := conn.Read(ctx)
		if err != nil {
			t.Fatal(err)
		}
		kind = gjson.GetBytes(data, "type").Str
	}
	if err := r.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, r.buf); err != nil {
		t.Fatal(err)
	}
	if err := r.cmd.Wait(); err == nil || r.cmd.ProcessState.ExitCode() != 128+int(syscall.SIGTERM) {
		t.Fatalf("hew serve ends with %v", err)
	}
}
