package mcp

import (
	"strings"
	"testing"
)

// TestShown: what lists of servers show holds no secret, and is still enough to
// know the server.
func TestShown(t *testing.T) {
	const secret = "hunter2"
	for want, e := range map[string]Entry{
		"npx -y @acme/server --api-key …":                         {Command: "npx", Args: []string{"-y", "@acme/server", "--api-key", secret}},
		"npx server --api-key=… --port=80":                        {Command: "npx", Args: []string{"server", "--api-key=" + secret, "--port=80"}},
		"docker run -e API_TOKEN=… -e LEVEL=debug image":          {Command: "docker", Args: []string{"run", "-e", "API_TOKEN=" + secret, "-e", "LEVEL=debug", "image"}},
		`curl -H "Authorization: …"`:                              {Command: "curl", Args: []string{"-H", "Authorization: Bearer " + secret}},
		`srv --token "${TOKEN}" --password …`:                     {Command: "srv", Args: []string{"--token", "${TOKEN}", "--password", "${PW:-" + secret + "}"}},
		`sh -c "SECRET=… exec srv --auth … --verbose"`:            {Command: "sh", Args: []string{"-c", "SECRET=" + secret + " exec srv --auth " + secret + " --verbose"}},
		"srv … … postgres://hidden@db.example/main?…":             {Command: "srv", Args: []string{"sk-" + secret + secret, "aB3dE5fG7hI9jK1lM2nO4", "postgres://me:" + secret + "@db.example/main?password=" + secret}},
		"node /opt/servers/everything-and-more/dist/index2025.js": {Command: "node", Args: []string{"/opt/servers/everything-and-more/dist/index2025.js"}},
		"uvx mcp-server-everything-2025":                          {Command: "uvx", Args: []string{"mcp-server-everything-2025"}},
		"https://host.example/v1/…/mcp (http)":                    {Transport: HTTP, URL: "https://u:" + secret + "@host.example/v1/aB3dE5fG7hI9jK1lM2nO4/mcp?key=" + secret},
	} {
		if e.Transport == "" {
			e.Transport = Stdio
		}
		got := e.Shown()
		if strings.Contains(got, secret) {
			t.Errorf("%s shows the secret", got)
		}
		if got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
