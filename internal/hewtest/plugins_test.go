package hewtest

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"github.com/hew-agent/hew/internal/backend/provider/script"
)

// TestPluginsAreWholeAfterKills kills installations and updates at random
// moments: what is recorded is a whole version, it is in use, and what was left
// half done is in nobody's way.
func TestPluginsAreWholeAfterKills(t *testing.T) { pluginKills(t, 3) }

// pluginFiles is how many files the plugin has, so that copying it takes a while.
const pluginFiles = 150

type shelf struct {
	*world
	t        *testing.T
	version  int
	straight time.Duration // a whole installation
}

// pluginKills kills so many installations and as many updates.
func pluginKills(t *testing.T, kills int) {
	w := newWorld(t, &script.Scenario{Steps: []script.Step{}})
	s := &shelf{world: w, t: t}
	rnd := rand.New(rand.NewPCG(seed(t), 7))
	s.publish()
	s.must("plugin", "marketplace", "add", "market")
	began := time.Now()
	s.must("plugin", "install", "p")
	s.straight = time.Since(began)
	for range kills {
		s.must("plugin", "uninstall", "p")
		if err := os.RemoveAll(s.plugins("cache")); err != nil {
			t.Fatal(err)
		}
		s.killed(rnd, "plugin", "install", "p@m")
		if v := s.recorded(); v != "" {
			s.whole(v)
		}
		s.must("plugin", "install", "p@m")
		s.whole(s.number())
	}
	for range kills {
		before := s.number()
		s.publish()
		s.killed(rnd, "plugin", "update", "--accept", "p@m")
		if v := s.recorded(); v != before && v != s.number() {
			t.Fatalf("version %q is recorded, neither %s nor %s", v, before, s.number())
		}
		s.whole(s.recorded())
		s.must("plugin", "update", "--accept", "p@m")
		s.whole(s.number())
	}
}

func (s *shelf) plugins(parts ...string) string {
	return filepath.Join(append([]string{s.home, ".claude", "plugins"}, parts...)...)
}

func (s *shelf) number() string { return fmt.Sprintf("%d.0.0", s.version) }

// publish writes the next version into the marketplace. Its hook is another one each time.
func (s *shelf) publish() {
	s.version++
	files := map[string]string{
		".claude-plugin/marketplace.json": `{"name":"m","owner":{"name":"A"},"plugins":[{"name":"p","source":"./p"}]}`,
		"p/.claude-plugin/plugin.json":    fmt.Sprintf(`{"name":"p","version":%q}`, s.number()),
		"p/hooks/hooks.json":              fmt.Sprintf(`{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"echo %s"}]}]}}`, s.number()),
	}
	for i := range pluginFiles {
		files[fmt.Sprintf("p/files/%03d", i)] = s.number()
	}
	for name, text := range files {
		path := filepath.Join(s.proj, "market", filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			s.t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			s.t.Fatal(err)
		}
	}
}

func (s *shelf) must(args ...string) string {
	s.t.Helper()
	h := s.start(launch{args: args})
	if code := h.wait(); code != 0 {
		s.t.Fatalf("hew %v ended with %d: %s%s", args, code, h.output(), h.stderr.String())
	}
	var out bytes.Buffer
	for _, l := range h.output() {
		out.WriteString(l)
	}
	return out.String()
}

// killed starts hew and kills it at a moment of the time that it needs.
func (s *shelf) killed(rnd *rand.Rand, args ...string) {
	s.t.Helper()
	h := s.start(launch{args: args})
	timer := time.NewTimer(time.Duration(rnd.Int64N(int64(s.straight))))
	defer timer.Stop()
	select {
	case <-timer.C:
		h.kill()
	case <-h.ended:
	}
	<-h.ended
}

// recorded is the version that is installed by the record, "" for none.
func (s *shelf) recorded() string {
	raw, err := os.ReadFile(s.plugins("installed_plugins.json"))
	if os.IsNotExist(err) {
		return ""
	}
	if err != nil || !gjson.ValidBytes(raw) {
		s.t.Fatalf("the record is broken: %v %q", err, raw)
	}
	return gjson.GetBytes(raw, `plugins.p@m.0.version`).String()
}

// whole checks that a version lies in its folder with all its files, and that
// hew uses it.
func (s *shelf) whole(version string) {
	s.t.Helper()
	raw, err := os.ReadFile(s.plugins("installed_plugins.json"))
	if err != nil {
		s.t.Fatal(err)
	}
	root := gjson.GetBytes(raw, `plugins.p@m.0.installPath`).String()
	for i := range pluginFiles {
		got, err := os.ReadFile(filepath.Join(root, "files", fmt.Sprintf("%03d", i)))
		if err != nil || string(got) != version {
			s.t.Fatalf("file %d of version %s: %q %v", i, version, got, err)
		}
	}
	rows := gjson.Parse(s.must("plugin", "list", "--json"))
	if on := rows.Get(`#(id=="p@m")`); on.Exists() && (!on.Get("enabled").Bool() || on.Get("version").String() != version) {
		s.t.Fatalf("version %s is recorded, and hew says %s", version, on)
	}
}
