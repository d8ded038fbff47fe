//go:build !linux && !darwin

package sandbox

import "runtime"

func (s *Sandbox) launcher([]string) ([]string, error) { return nil, ErrNone }

func openRelay(string, Config) (*relay, error) { return nil, ErrNone }

// Helper does nothing: there is no sandbox on this system.
func Helper([]string) (code int, mine bool) { return 0, false }

// tiers holds the one answer that there is, so that a report says it.
var tiers = []Tier{None}

func enforcement(Tier) Enforcement {
	return Enforcement{Write: Missing, Protect: Missing, Read: Missing, Network: Missing, UnixSockets: Missing, Processes: Missing}
}

// noSandbox says why.
type noSandbox struct{}

func (noSandbox) Error() string { return "hew has no sandbox for " + runtime.GOOS }

func tryable(Tier, string) error { return noSandbox{} }

func probe(Tier, string) ([]string, error) { return nil, ErrNone }

func landlockABI() int { return 0 }
