// Package sandbox holds argv → confined argv; network relay; capability report.
//
// A Sandbox turns the argv of a command into that of hew's own helper, which
// confines itself and then runs the command. There are four tiers, and a
// machine's report says which it has:
//
//   - namespaces: own user, mount, pid, ipc and network namespaces, every
//     capability dropped, and a seccomp filter. Files outside the working
//     directories are read-only, protected names stay read-only even where they
//     do not exist, credentials cannot be read, and the only way to the network
//     is hew's relay.
//   - bubblewrap: the same boundary, set up by bwrap, for machines that give
//     namespaces to it and not to hew.
//   - landlock: Landlock and seccomp. It has no names inside a writable folder
//     to protect and no relay; it is reported as partial.
//   - none.
//
// On macOS the seatbelt profile takes the place of the first tier.
package sandbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Tier is a kind of boundary.
type Tier string

// The tiers, from the strongest to none.
const (
	Namespaces Tier = "namespaces"
	Bubblewrap Tier = "bubblewrap"
	Seatbelt   Tier = "seatbelt"
	Landlock   Tier = "landlock"
	None       Tier = "none"
)

// Whole reports whether the tier enforces every part of a Policy, so that a
// command inside it may run unasked.
func (t Tier) Whole() bool { return t == Namespaces || t == Bubblewrap || t == Seatbelt }

// ErrNone is returned when the machine offers no boundary.
var ErrNone = errors.New("this machine offers no sandbox; see hew sandbox status")

// HelperArg is the first argument of a process that is the helper and not hew.
const HelperArg = "__sandbox"

// ExitSetup is the exit code of a command that the helper could not confine
// and therefore did not run. The reason is on standard error.
const ExitSetup = 125

// Config makes a Sandbox.
type Config struct {
	Policy Policy
	// Hosts are the network rules; Ask decides about a host that none of them
	// names, and nil refuses it. It may be called from several goroutines.
	Hosts Hosts
	Ask   func(ctx context.Context, host string, port int) bool
	// ReadOnly is asked before every command: then only the folder for temporary
	// files is writable. Nil is never.
	ReadOnly func() bool
	// Upstream is the proxy that the relay itself must use for a target ("" for
	// none); nil goes out directly.
	Upstream func(scheme, hostPort string) string
	// Unset are the environment variables that a command does not get.
	Unset []string
	// Tier forces one; empty takes the strongest that the machine offers.
	Tier Tier
	// Bwrap is the absolute path of bubblewrap; empty looks in the folders where
	// distributions install it.
	Bwrap string
}

// Sandbox confines the commands of one session. It is safe for concurrent use.
type Sandbox struct {
	cfg   Config
	tier  Tier
	relay *relay
	// private holds the relay's socket; no command sees it.
	private string
}

// New settles the tier and opens the relay. The paths of the policy are
// resolved here, once: a link that a command plants later widens nothing.
// It returns ErrNone when there is no tier.
func New(ctx context.Context, cfg Config) (*Sandbox, error) {
	policy, err := cfg.Policy.resolved()
	if err != nil {
		return nil, err
	}
	cfg.Policy = policy
	s := &Sandbox{cfg: cfg, tier: cfg.Tier}
	if s.tier == "" {
		s.tier = best(ctx, cfg.Bwrap)
	}
	if s.tier == None {
		return nil, ErrNone
	}
	if s.tier == Landlock {
		return s, nil // it has no way out that could be limited to hosts
	}
	if s.private, err = privateDir(); err != nil {
		return nil, err
	}
	if s.relay, err = openRelay(s.private, cfg); err != nil {
		return nil, errors.Join(err, os.RemoveAll(s.private))
	}
	return s, nil
}

// privateDir makes a folder of which the real name is known, so that it can be hidden.
func privateDir() (string, error) {
	dir, err := os.MkdirTemp("", "hew-sandbox-")
	if err != nil {
		return "", fmt.Errorf("make the sandbox's private folder: %w", err)
	}
	return filepath.EvalSymlinks(dir)
}

// Tier is the boundary in force.
func (s *Sandbox) Tier() Tier { return s.tier }

// Close ends the relay. Commands that still run lose the network.
func (s *Sandbox) Close() error {
	if s.relay == nil {
		return nil
	}
	return errors.Join(s.relay.close(), os.RemoveAll(s.private))
}

// Wrap is the shell's seam: see shell.Wrap. argv[0] must be absolute. Inherited
// pipes and plain files reach the command; other descriptors do not.
func (s *Sandbox) Wrap(argv, env []string) ([]string, []string, error) {
	if len(argv) == 0 || !filepath.IsAbs(argv[0]) {
		return nil, nil, fmt.Errorf("confine %q: a program must be named by its absolute path", argv)
	}
	out, err := s.launcher(argv)
	if err != nil {
		return nil, nil, err
	}
	return out, s.environ(env), nil
}

// policy is the one for the next command.
func (s *Sandbox) policy() Policy {
	p := s.cfg.Policy
	if s.cfg.ReadOnly != nil && s.cfg.ReadOnly() {
		p.Roots, p.Write = nil, nil
	}
	return p
}

// environ is a command's environment: what is secret is gone, programs that
// know about proxies find the relay.
func (s *Sandbox) environ(env []string) []string {
	set := map[string]string{}
	if t := s.cfg.Policy.Tmp; t != "" {
		set["TMPDIR"] = t
	}
	if s.relay != nil {
		for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"} {
			set[name] = s.relay.url()
		}
		set["NO_PROXY"], set["no_proxy"] = noProxy, noProxy
		set["NODE_USE_ENV_PROXY"] = "1"
	}
	out := make([]string, 0, len(env)+len(set))
	for _, e := range env {
		name, _, _ := strings.Cut(e, "=")
		if _, replaced := set[name]; !replaced && !slices.Contains(s.cfg.Unset, name) {
			out = append(out, e)
		}
	}
	names := make([]string, 0, len(set))
	for n := range set {
		names = append(names, n)
	}
	slices.Sort(names)
	for _, n := range names {
		out = append(out, n+"="+set[n])
	}
	return out
}

// noProxy are the names that mean the command's own loopback.
const noProxy = "localhost,127.0.0.1,::1"
