package builtin

import (
	"context"
	"strings"

	"github.com/hew-agent/hew/internal/backend/plain"
	"github.com/hew-agent/hew/internal/tool"
)

const pushNotificationName = "PushNotification"

// maxPush is how much of a message is told.
const maxPush = 200

type pushInput struct {
	Message string `json:"message"`
}

func newPushNotification(c *Config) tool.Tool {
	spec := tool.Spec{Name: pushNotificationName, Condition: "when HEW_MORE_TOOLS names it", Deferred: true}
	return define("push_notification", spec, func(in pushInput, _ tool.Env) (tool.Call, error) {
		text := plain.Clip(strings.Join(strings.Fields(in.Message), " "), maxPush)
		if text == "" {
			return nil, &tool.InputError{Tool: pushNotificationName, Faults: []string{"The parameter `message` is empty"}}
		}
		return &tool.Func{
			Facts: tool.Traits{ReadOnly: true, ConcurrencySafe: true}, Line: "Notify: " + text,
			Do: func(ctx context.Context, _ func(tool.Progress)) tool.Result {
				if how := strings.Join(c.Push(ctx, text), ", "); how != "" {
					return tool.Text("The user was notified (" + how + ").")
				}
				return tool.Text("Nobody listens to notifications in this session; say it in your reply.")
			},
		}, nil
	})
}
