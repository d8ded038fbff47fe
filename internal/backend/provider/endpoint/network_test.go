package endpoint

import (
	"net/http"
	"testing"
)

func TestProxyIsChosenByTheUsualVariables(t *testing.T) {
	for _, c := range []struct {
		no, url, want string
	}{
		{"", "http://a.example.test", "http://plain:1"},
		{"", "https://a.example.test", "http://secure:2"},
		{"", "http://127.0.0.1:99", ""},
		{"", "http://localhost:99", ""},
		{"", "http://[::1]:99", ""},
		{"example.test", "http://a.example.test", ""},
		{".example.test", "http://A.example.test.", ""},
		{"*.example.test", "http://a.example.test", ""},
		{"other.test, a.example.test:80", "http://a.example.test:80", ""},
		{"a.example.test:81", "http://a.example.test:80", "http://plain:1"},
		{"ample.test", "http://a.example.test", "http://plain:1"},
		{"10.0.0.0/8", "http://10.1.2.3", ""},
		{"10.0.0.0/8", "http://11.1.2.3", "http://plain:1"},
		{"10.1.2.3", "http://10.1.2.3:8080", ""},
		{"*", "https://a.example.test", ""},
	} {
		env := map[string]string{"HTTP_PROXY": "plain:1", "https_proxy": "http://secure:2", "NO_PROXY": c.no}
		proxy, err := NetworkFromEnv(func(n string) string { return env[n] }).proxy()
		if err != nil {
			t.Fatal(err)
		}
		r, err := http.NewRequest(http.MethodPost, c.url, nil)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if u, err := proxy(r); err != nil {
			t.Error(err)
		} else if u != nil {
			got = u.String()
		}
		if got != c.want {
			t.Errorf("NO_PROXY=%q, %s: %q, want %q", c.no, c.url, got, c.want)
		}
	}
}
