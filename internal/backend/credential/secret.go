// Package credential holds API keys, helper commands, OAuth tokens, keyring; never printed.
package credential

import (
	"fmt"
	"log/slog"
)

// redacted is what any way of printing a Secret shows.
const redacted = "[redacted]"

// Secret is a key or token. However it is printed, logged or encoded, it shows
// nothing of itself; Reveal is the one way out.
type Secret struct{ value string }

// NewSecret wraps s.
func NewSecret(s string) Secret { return Secret{s} }

// Reveal returns the secret, for the header of a request and nothing else.
func (s Secret) Reveal() string { return s.value }

// Empty tells whether there is no secret.
func (s Secret) Empty() bool { return s.value == "" }

// String hides the secret.
func (Secret) String() string { return redacted }

// GoString hides the secret.
func (Secret) GoString() string { return redacted }

// Format hides the secret from every verb, also those that print fields.
func (Secret) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(redacted)) } // a failing writer is the printer's affair

// MarshalJSON hides the secret.
func (Secret) MarshalJSON() ([]byte, error) { return []byte(`"` + redacted + `"`), nil }

// MarshalText hides the secret.
func (Secret) MarshalText() ([]byte, error) { return []byte(redacted), nil }

// LogValue hides the secret.
func (Secret) LogValue() slog.Value { return slog.StringValue(redacted) }
