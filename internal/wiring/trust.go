package wiring

import (
	"context"
	"fmt"
	"slices"

	"github.com/hew-agent/hew/internal/backend/fsys"
	"github.com/hew-agent/hew/internal/state/settings"
	"github.com/hew-agent/hew/internal/state/trust"
)

// judgeFolder settles what counts of what the folder asks for, before any of it
// is read for use, and tells in one line what does not.
func (b *build) judgeFolder() {
	b.trust = trust.Check(trust.Config{Settings: b.settingsConfig, Run: b.o.Consent, ReadOnly: !b.keeps, Includes: b.includes})
	b.settingsConfig.Trust, b.settingsConfig.BaseURLs = b.trust.Level, b.trust.BaseURLs
	if text := b.skipped(); text != "" {
		b.notice(text)
	}
}

// confines is the folder that links of an untrusted checkout must not leave:
// what they lead to would go to the model. "" where the folder is trusted.
func (b *build) confines() string {
	if b.trust.Level != settings.Untrusted {
		return ""
	}
	return settings.CheckoutRoot(b.place.Cwd)
}

func (b *build) skipped() string {
	v := b.trust
	items := slices.DeleteFunc(v.Skipped(b.settingsConfig.Sources), func(it trust.Item) bool {
		return it.Kind == trust.Outside // told file by file; see instructions
	})
	if len(items) == 0 {
		if v.Trouble != nil && v.Level == settings.Untrusted {
			return "this folder counts as untrusted: " + v.Trouble.Error()
		}
		return ""
	}
	why := ""
	switch v.State {
	case trust.Unknown:
		why = "this folder is not trusted, so this was skipped: "
	case trust.Changed:
		why = "what this folder asks for has changed since it was trusted, so this was skipped: "
	case trust.Undecided:
		why = fmt.Sprintf("this folder counts as untrusted (%v), so this was skipped: ", v.Trouble)
	case trust.Accepted, trust.Nothing:
		why = "this folder's trust does not cover everything that it asks for, so this was skipped: "
	}
	return why + trust.Summary(items) + fmt.Sprintf(`; "hew trust" shows it, --trust uses it for one run, "hew trust accept" for good (hasTrustDialogAccepted of %s in %s)`,
		fsys.Printable(v.Key), fsys.Printable(b.home.State()))
}

// ReadFolder says what the folder of o asks for and whether the user agreed. It
// changes nothing.
func ReadFolder(o Options) (trust.Verdict, error) {
	b := &build{o: &o, conv: &Conversation{}}
	if err := b.locate(); err != nil {
		return trust.Verdict{}, err
	}
	return b.trust, nil
}

// AcceptFolder records the user's yes to what the folder of o asks for now.
func AcceptFolder(ctx context.Context, o Options) (trust.Verdict, error) {
	b := &build{o: &o, conv: &Conversation{}}
	if err := b.locate(); err != nil {
		return trust.Verdict{}, err
	}
	return trust.Accept(ctx, trust.Config{Settings: b.settingsConfig, Includes: b.includes})
}

// ForgetFolder takes the user's yes back.
func ForgetFolder(ctx context.Context, o Options) error {
	b := &build{o: &o, conv: &Conversation{}}
	if err := b.locate(); err != nil {
		return err
	}
	return trust.Forget(ctx, trust.Config{Settings: b.settingsConfig})
}
