package sandbox

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

// self runs the very program that is running, also when an update has replaced
// it on the disk.
const self = "/proc/self/exe"

// launcher is argv behind hew's helper. The file system is looked at anew for
// every command.
func (s *Sandbox) launcher(argv []string) ([]string, error) {
	j := s.job()
	spec, err := json.Marshal(j)
	if err != nil {
		return nil, fmt.Errorf("describe the sandbox: %w", err)
	}
	return append([]string{self, HelperArg, stageOutside, string(spec)}, argv...), nil
}

func (s *Sandbox) job() job {
	p := s.policy()
	j := job{
		Tier: s.tier, Steps: p.layout(s.private), Roots: p.Roots, Unix: p.UnixSockets, OldProc: p.OldProc, Open: p.FilesOpen,
		Bwrap: findBwrap(s.cfg.Bwrap),
	}
	if s.relay != nil {
		j.Relay = filepath.Join(s.private, "relay")
	}
	if s.tier != Landlock {
		return j
	}
	for _, step := range j.Steps {
		switch step.Do {
		case hide:
			j.Hidden = append(j.Hidden, step.Path)
		case expose:
			j.Write = append(j.Write, step.Path)
		case pin, freeze:
		}
	}
	j.Steps = nil
	return j
}

// enforcement is what each tier of this system holds.
func enforcement(t Tier) Enforcement {
	switch t {
	case Namespaces, Bubblewrap:
		return Enforcement{Write: Whole, Protect: Whole, Read: Whole, Network: Whole, UnixSockets: Whole, Processes: Whole}
	case Landlock:
		return Enforcement{Write: Whole, Protect: Missing, Read: Mostly, Network: Off, UnixSockets: Whole, Processes: Mostly}
	case Seatbelt, None:
	}
	return Enforcement{Write: Missing, Protect: Missing, Read: Missing, Network: Missing, UnixSockets: Missing, Processes: Missing}
}

// tiers are tried in this order.
var tiers = []Tier{Namespaces, Bubblewrap, Landlock}

// tryable says why a tier need not be tried.
func tryable(t Tier, bwrap string) error {
	if auditArch == 0 {
		return fmt.Errorf("there is no system call filter for this processor")
	}
	if t == Bubblewrap {
		if findBwrap(bwrap) == "" {
			return fmt.Errorf("bubblewrap (bwrap) is not installed")
		}
		if _, err := os.Stat(findBwrap(bwrap)); err != nil {
			return fmt.Errorf("bubblewrap: %w", err)
		}
	}
	return nil
}

// probe is the argv that tries a tier.
func probe(t Tier, bwrap string) ([]string, error) {
	j := job{Tier: t, Dir: "/", Bwrap: findBwrap(bwrap), Probe: true, Hidden: []string{"/etc/shadow"}}
	spec, err := json.Marshal(j)
	if err != nil {
		return nil, err
	}
	return []string{self, HelperArg, stageOutside, string(spec)}, nil
}
