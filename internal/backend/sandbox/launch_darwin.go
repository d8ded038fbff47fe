package sandbox

import (
	"fmt"
	"net"
)

// sandboxExec is Apple's launcher, which is marked deprecated and which
// everything that confines programs on macOS uses.
const sandboxExec = "/usr/bin/sandbox-exec"

func (s *Sandbox) launcher(argv []string) ([]string, error) {
	port := 0
	if s.relay != nil {
		port = s.relay.door.(*net.TCPListener).Addr().(*net.TCPAddr).Port
	}
	p := s.policy()
	return append([]string{sandboxExec, "-p", seatbelt(p, p.layout(s.private), port)}, argv...), nil
}

// openRelay listens on the machine's own loopback: there is no other on macOS.
func openRelay(_ string, cfg Config) (*relay, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("open the sandbox's relay: %w", err)
	}
	r := newRelay(cfg)
	r.door, r.addr = l, l.Addr().String()
	go func() { _ = r.server.Serve(l) }() // ends with the listener
	return r, nil
}

// Helper does nothing on macOS: the system's own launcher confines commands.
func Helper([]string) (code int, mine bool) { return 0, false }

var tiers = []Tier{Seatbelt}

func enforcement(t Tier) Enforcement {
	if t == Seatbelt {
		return Enforcement{Write: Whole, Protect: Whole, Read: Whole, Network: Whole, UnixSockets: Whole, Processes: Mostly}
	}
	return Enforcement{Write: Missing, Protect: Missing, Read: Missing, Network: Missing, UnixSockets: Missing, Processes: Missing}
}

func tryable(Tier, string) error { return nil }

func probe(Tier, string) ([]string, error) {
	return []string{sandboxExec, "-p", "(version 1)(allow default)", "/usr/bin/true"}, nil
}

func landlockABI() int { return 0 }
