package hewtest

import (
	"context"
	"fmt"
	"maps"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/hew-agent/hew/internal/app"
	"github.com/hew-agent/hew/internal/backend/feature"
	"github.com/hew-agent/hew/internal/backend/provider/script"
	"github.com/hew-agent/hew/internal/backend/sandbox"
	"github.com/hew-agent/hew/internal/hewtest/mcpserver"
	"github.com/hew-agent/hew/internal/hewtest/robot"
)

func TestMain(m *testing.M) {
	if code, mine := sandbox.Helper(os.Args[1:]); mine {
		os.Exit(code)
	}
	testscript.Main(m, map[string]func(){
		"hew":        func() { os.Exit(app.Main(app.Process())) },
		"mcpserver":  func() { os.Exit(mcpserver.Main(os.Args[1:])) },
		"echoterm":   func() { os.Exit(echoMain()) },
		"langserver": func() { os.Exit(langMain()) },
	})
}

// raceOptions keep the race detector from waiting a second at the end of every
// process.
const raceOptions = "atexit_sleep_ms=0"

const scenarios = "../../testdata/scenarios"

// TestScenarios runs each area as a subtest, so that one can be picked:
// go test ./internal/hewtest -run 'TestScenarios/headless/name'.
func TestScenarios(t *testing.T) {
	areas, err := os.ReadDir(scenarios)
	if err != nil {
		t.Fatal(err)
	}
	shipped := shipping(t)
	for _, a := range areas {
		if !a.IsDir() {
			continue
		}
		t.Run(a.Name(), func(t *testing.T) {
			start := func(env *testscript.Env) error {
				err := setup(env, a.Name(), shipped)
				if err == nil && raced && !watchedForRaces(a.Name()) {
					err = ship(env, shipped)
				}
				return err
			}
			testscript.Run(t, testscript.Params{
				Dir: filepath.Join(scenarios, a.Name()), Setup: start, Cmds: allCommands(),
				RequireExplicitExec: true, RequireUniqueNames: true, UpdateScripts: os.Getenv("UPDATE") != "",
				Condition: condition,
			})
		})
	}
}

func allCommands() map[string]func(*testscript.TestScript, bool, []string) {
	all := commands()
	maps.Copy(all, probes())
	maps.Copy(all, webCommands())
	return all
}

// confines tells whether this machine has a whole sandbox.
var confines = sync.OnceValue(func() bool { return sandbox.Detect(context.Background(), "").Best.Whole() })

// cutOff tells whether this machine lets a program run without any network.
var cutOff = sync.OnceValue(func() bool { return exec.Command("unshare", "-rn", "true").Run() == nil })

// condition adds [feature:NAME]: whether this build has it, [root], [tool:NAME]: whether a program is at hand, [smalldisk]:
// whether a file system can be mounted, [sandbox]: whether commands can be
// confined in every respect, and [netns]: whether unshare -rn works.
func condition(c string) (bool, error) {
	switch name, arg, _ := strings.Cut(c, ":"); name {
	case "feature":
		i := slices.IndexFunc(feature.All(), func(f feature.Flag) bool { return f.Name == arg })
		return i >= 0 && feature.All()[i].Built, nil
	case "root":
		return os.Getuid() == 0, nil
	case "sandbox":
		return confines(), nil
	case "netns":
		return cutOff(), nil
	case "smalldisk":
		return canMount(), nil
	case "tool":
		_, err := os.Stat("/usr/bin/" + arg)
		return err == nil, nil
	}
	return false, fmt.Errorf("unknown condition %q", c)
}

// setup gives a scenario an empty home, a project folder to stand in, and no
// variable of the machine that could change an outcome.
func setup(env *testscript.Env, area string, shipped func() (string, error)) error {
	home, proj := filepath.Join(env.WorkDir, "home"), filepath.Join(env.WorkDir, "proj")
	for _, d := range []string{home, proj, filepath.Join(env.WorkDir, "tmp")} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			return err
		}
	}
	if err := moveFiles(env.WorkDir, proj); err != nil {
		return err
	}
	env.Cd = proj
	env.Setenv("HOME", home)
	env.Setenv("TMPDIR", filepath.Join(env.WorkDir, "tmp"))
	env.Setenv("PROJ", proj)
	env.Setenv("CFG", filepath.Join(home, ".claude"))
	env.Setenv("GOCACHE", goCache())
	env.Setenv("GOFLAGS", "-mod=mod")
	env.Setenv("LANG", "C.UTF-8")
	env.Setenv("GORACE", raceOptions)
	// How long large transcripts are: what shows as well with less is shown with less.
	env.Setenv("MANY", "200000")
	env.Setenv("FEW", "30000")
	if os.Getenv("HEW_RACE") == "all" {
		env.Setenv("MANY", "1000000")
		env.Setenv("FEW", "100000")
	}
	env.Setenv("ANTHROPIC_API_KEY", "test-key-0123456789")
	env.Setenv("ANTHROPIC_BASE_URL", "http://127.0.0.1:9") // nothing listens there until a model starts
	env.Setenv("ANTHROPIC_MODEL", "claude-sonnet-4-5")
	s := &stage{area: area, shipped: shipped}
	env.Values[stageKey{}] = s
	env.Defer(func() { s.stop() })
	return nil
}

// moveFiles puts the files of the scenario into the project folder, except
// those that it placed below home.
func moveFiles(work, proj string) error {
	entries, err := os.ReadDir(work)
	if err != nil {
		return err
	}
	for _, e := range entries {
		switch e.Name() {
		case "home", "proj", "tmp", ".tmp", ".bin":
			continue
		}
		if err := os.Rename(filepath.Join(work, e.Name()), filepath.Join(proj, e.Name())); err != nil {
			return err
		}
	}
	return nil
}

// goCache lets scenarios that run go share the machine's build cache.
func goCache() string {
	if c := os.Getenv("GOCACHE"); c != "" {
		return c
	}
	d, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	return filepath.Join(d, "go-build")
}

type stageKey struct{}

// stage is what a scenario has running.
type stage struct {
	mu       sync.Mutex
	area     string
	robot    *robot.Robot
	tmux     *tmuxServer
	model    *script.Model
	server   *http.Server
	procs    map[string]*process
	answered map[string]bool // questions, by request id
	headers  []http.Header   // of the requests to the current model
	wires    map[string]*wire
	visitors map[string]*visitor
	tubes    map[string]*tube
	shipped  func() (string, error) // the folder of a hew without the race detector
	issuer   *loginServer
}

func on(ts *testscript.TestScript) *stage { return ts.Value(stageKey{}).(*stage) }

// serve starts the scripted model and points hew at it.
func (s *stage) serve(ts *testscript.TestScript, sc *script.Scenario) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	ts.Check(err)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.server != nil {
		ts.Check(s.server.Close())
	}
	s.model = script.New(sc, script.Config{Keep: true})
	s.headers = nil
	s.server = &http.Server{Handler: s.record(s.model), ReadHeaderTimeout: 10 * time.Second}
	go func(srv *http.Server) { _ = srv.Serve(l) }(s.server)
	ts.Setenv("ANTHROPIC_BASE_URL", "http://"+l.Addr().String())
}

func (s *stage) stop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.procs {
		p.kill()
	}
	if s.robot != nil {
		s.robot.Close()
	}
	if s.tmux != nil {
		s.tmux.stop()
	}
	if s.server != nil {
		_ = s.server.Close()
	}
}
