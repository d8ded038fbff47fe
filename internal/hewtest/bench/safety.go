package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"time"

	"github.com/hew-agent/hew/internal/action/policy"
	"github.com/hew-agent/hew/internal/action/policy/shellread"
	"github.com/hew-agent/hew/internal/backend/sandbox"
	"github.com/hew-agent/hew/internal/tool"
)

func safetyMeasures() []measure {
	all := []measure{}
	for _, rules := range []int{0, 1000} {
		all = append(all, measure{
			name: fmt.Sprintf("permission decision, ordinary command, %d rules", rules), goal: "< 100 µs", unit: seconds,
			run: func(ctx context.Context, _ *lab) (hew, ref samples, err error) { return decisions(ctx, rules) },
		})
	}
	for _, tier := range []sandbox.Tier{sandbox.Namespaces, sandbox.Bubblewrap, sandbox.Landlock, sandbox.Seatbelt} {
		all = append(all, measure{
			name: "start of `true` in the sandbox, " + string(tier), goal: "stated", unit: seconds, reference: "plain exec",
			run: func(ctx context.Context, l *lab) (hew, ref samples, err error) { return confinedStart(ctx, l, tier) },
		})
	}
	return all
}

// ordinary are commands as sessions have them.
func ordinary() []string {
	return []string{
		"ls -la", "git status", "git diff --stat HEAD~1", "go test ./...", "npm run build", "cat go.mod | head -20", "grep -rn TODO internal",
		"cd internal && go vet ./...", "make check 2>&1 | tail -5", "find . -name '*.go' -type f", "rm -rf build", "python3 script.py --fast",
		"git add -A && git commit -m 'a message'", "for f in *.txt; do wc -l \"$f\"; done", "NODE_ENV=test npx jest --ci", "sed -n 1,20p main.go",
	}
}

// bareNames resolves nothing: a decision's own time is measured, not the disk's.
type bareNames struct{}

func (bareNames) Resolve(p string) (string, bool) { return p, true }
func (bareNames) Glob(string) []string            { return nil }

// decisions takes the time of each ordinary command, read for the first time: nothing is remembered from one to the next.
func decisions(ctx context.Context, rules int) (hew, ref samples, err error) {
	l := policy.Layer{Origin: policy.Origin{Scope: policy.ScopeUser, File: "settings.json"}}
	for i := range rules {
		switch rule := fmt.Sprintf("Bash(program%d run *)", i); i % 4 {
		case 0:
			l.Deny = append(l.Deny, rule)
		case 1:
			l.Ask = append(l.Ask, rule)
		case 2:
			l.Allow = append(l.Allow, rule)
		default:
			l.Allow = append(l.Allow, fmt.Sprintf("Edit(/src/part%d/**)", i))
		}
	}
	const rounds = 60
	for round := range rounds {
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		s := policy.New(policy.Config{
			Layers: []policy.Layer{l}, Mode: policy.Default, Project: "/home/dev/proj", Home: "/home/dev", Reader: shellread.NewReader(64),
			Families: policy.Families{Read: "Read", Edit: "Edit", Exec: "Bash", Fetch: "WebFetch"},
		})
		for _, command := range ordinary() {
			input, err := json.Marshal(map[string]string{"command": command})
			if err != nil {
				return nil, nil, err
			}
			r := policy.Request{
				Spec: tool.Spec{Name: "Bash", MainField: "command"}, Input: input, Paths: bareNames{}, Shell: shellread.Bash,
				Needs: []tool.Need{{Kind: tool.NeedExec, Command: command}}, Cwd: "/home/dev/proj",
			}
			began := time.Now()
			s.Decide(r)
			if took := time.Since(began).Seconds(); round > 0 {
				hew = append(hew, took)
			}
		}
	}
	return hew, nil, nil
}

const sandboxRounds = 25

func confinedStart(ctx context.Context, l *lab, tier sandbox.Tier) (hew, ref samples, err error) {
	program, err := exec.LookPath("true")
	if err != nil {
		return nil, nil, missing{"the program true"}
	}
	offered := false
	for _, t := range sandbox.Detect(ctx, "").Tiers {
		offered = offered || t.Tier == tier && t.Available
	}
	if !offered {
		return nil, nil, missing{"the sandbox tier " + string(tier)}
	}
	h, err := l.newHome()
	if err != nil {
		return nil, nil, err
	}
	tmp := l.path("tmp")
	if err := os.Mkdir(tmp, 0o700); err != nil {
		return nil, nil, err
	}
	box, err := sandbox.New(ctx, sandbox.Config{
		Tier: tier, Policy: sandbox.Policy{Roots: []string{h.project}, Tmp: tmp, Home: h.config},
	})
	if err != nil {
		return nil, nil, err
	}
	defer func() { err = errors.Join(err, box.Close()) }()
	return both(ctx, sandboxRounds,
		func() (float64, error) {
			argv, env, err := box.Wrap([]string{program}, os.Environ())
			if err != nil {
				return 0, err
			}
			c := exec.CommandContext(ctx, argv[0], argv[1:]...)
			c.Env, c.Dir = env, h.project
			return startOf(c)
		},
		func() (float64, error) { return startOf(exec.CommandContext(ctx, program)) })
}

func startOf(c *exec.Cmd) (float64, error) {
	var out bytes.Buffer
	c.Stdout, c.Stderr = &out, &out
	began := time.Now()
	if err := c.Run(); err != nil {
		return 0, fmt.Errorf("%s: %w: %s", c, err, out.Bytes())
	}
	return time.Since(began).Seconds(), nil
}
