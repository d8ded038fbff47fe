package wiring

import (
	"context"

	"github.com/hew-agent/hew/internal/action/hook"
	"github.com/hew-agent/hew/internal/event"
)

// push tells the person something, by their hooks and on every surface that
// listens, and says which of both somebody is behind.
func (b *build) push(ctx context.Context, text string) []string {
	b.conv.Engine.Aside(event.Event{Body: event.Notice{Level: event.Info, Code: event.PushNotification, Text: text}})
	var how []string
	if b.hooks != nil && b.hooks.d.Wants("Notification") {
		b.hooks.fire(ctx, hook.Notification{Message: text, Title: "hew", Type: "push_notification"}, func(body event.Body) {
			b.conv.Engine.Aside(event.Event{Body: body})
		})
		how = append(how, "a Notification hook")
	}
	if b.o.Interactive {
		how = append(how, "the session's surface")
	}
	return how
}
