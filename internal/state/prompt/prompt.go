// Package prompt builds system prompt, environment, reminders, request layout for caching.
//
// It decides what a request holds and in which order, so that each request
// begins with the bytes of the one before it.
package prompt

// Reminder wraps text of the harness so that the model can tell it from the
// words of a person.
func Reminder(text string) string {
	return "<system-reminder>\n" + text + "\n</system-reminder>"
}
