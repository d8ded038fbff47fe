package wiring

import (
	"context"
	"encoding/json"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hew-agent/hew/internal/action/hook"
	"github.com/hew-agent/hew/internal/backend/provider"
	"github.com/hew-agent/hew/internal/backend/shell"
	"github.com/hew-agent/hew/internal/event"
)

// programs notes what hooks are told.
type programs struct {
	mu   sync.Mutex
	told []string
}

func (p *programs) Exec(_ context.Context, x shell.Program) (shell.Result, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.told = append(p.told, string(x.Stdin))
	return shell.Result{}, nil
}

func (p *programs) Shell() string { return "/bin/sh" }

// answersAfter is a person who takes that long.
type answersAfter time.Duration

func (d answersAfter) Ask(ctx context.Context, _ event.Question) (event.Answer, error) {
	time.Sleep(time.Duration(d))
	return event.Answer{Behavior: "allow"}, ctx.Err()
}

// Hooks hear of a question that stays open, not of one that is answered at once.
func TestOpenQuestionsNotify(t *testing.T) {
	for _, c := range []struct {
		after answersAfter
		told  int
	}{{answersAfter(time.Second), 0}, {answersAfter(time.Minute), 1}} {
		synctest.Test(t, func(t *testing.T) {
			p := &programs{}
			d := hook.New(hook.Config{Programs: p})
			d.Load([]hook.Source{{Scope: hook.User, Hooks: json.RawMessage(`{"Notification":[{"matcher":"permission_prompt","hooks":[{"type":"command","command":"beep"}]}]}`)}}, hook.Limits{})
			n := &notifying{c.after, &hooks{b: &build{o: &Options{}}, d: d}, noticeAfter}
			a, err := n.Ask(t.Context(), event.Question{Tool: "Poke"})
			synctest.Wait()
			if err != nil || a.Behavior != "allow" || len(p.told) != c.told {
				t.Fatalf("%v %v %v", a, err, p.told)
			}
			if c.told > 0 && !strings.Contains(p.told[0], "permission to use Poke") {
				t.Fatal(p.told)
			}
			if err := d.Close(); err != nil {
				t.Fatal(err)
			}
		})
	}
}

func TestFailureKinds(t *testing.T) {
	for class, want := range map[provider.Class]string{
		provider.Auth: "authentication_failed", provider.Billing: "billing_error", provider.RateLimited: "rate_limit",
		provider.Overloaded: "overloaded", provider.NotFound: "model_not_found", provider.OutputTooLarge: "max_output_tokens",
		provider.TooLong: "invalid_request", provider.Server: "server_error", provider.Stalled: "unknown",
	} {
		if got := failureKind(class); got != want {
			t.Errorf("%s is told as %s, want %s", class, got, want)
		}
	}
}
