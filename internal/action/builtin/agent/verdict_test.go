package agent

import "testing"

func TestVerdict(t *testing.T) {
	for in, want := range map[string]string{
		"It failed.\n```json\n{\"verdict\":\"fail\",\"commands\":[{\"command\":\"go test ./...\",\"exit_code\":1},{\"command\":\"go vet\",\"exit_code\":0}]}\n```": "fail 2",
		`{"verdict":"pass","commands":[]}`:          "pass 0",
		"{ no json } {\"verdict\":\"unclear\"}":     "unclear 0",
		`{"verdict":"splendid"}`:                    "",
		`{"verdict":"pass"} and something after it`: "",
		"": "",
	} {
		got := ""
		if v := verdict(in); v != nil {
			got = v.Verdict + " " + string(rune('0'+len(v.Commands)))
		}
		if got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}
