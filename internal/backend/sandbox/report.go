package sandbox

import (
	"bytes"
	"context"
	"errors"
	"os/exec"
	"runtime"
	"strings"
	"time"
)

// Degree says how well one part of a policy holds.
type Degree string

// The degrees. Off is for a network that does not exist at all: then no host
// can be allowed either.
const (
	Whole   Degree = "whole"
	Mostly  Degree = "mostly"
	Off     Degree = "off"
	Missing Degree = "missing"
)

// Enforcement is what a tier holds: writes outside the working directories,
// protected names inside them, reads of denied files, the network by host,
// local services, other processes.
type Enforcement struct {
	Write       Degree `json:"write"`
	Protect     Degree `json:"protect"`
	Read        Degree `json:"read"`
	Network     Degree `json:"network"`
	UnixSockets Degree `json:"unixSockets"`
	Processes   Degree `json:"processes"`
}

// TierReport is what was found out about one tier by trying it.
type TierReport struct {
	Tier      Tier `json:"tier"`
	Available bool `json:"available"`
	// Reason says why it is not available.
	Reason   string      `json:"reason,omitempty"`
	Enforces Enforcement `json:"enforces"`
	// AutoAllow tells that commands inside may run unasked if the settings say so.
	AutoAllow bool `json:"autoAllow"`
}

// Report is what this machine can enforce.
type Report struct {
	Platform string       `json:"platform"`
	Best     Tier         `json:"best"`
	Tiers    []TierReport `json:"tiers"`
	// Landlock is the version of the kernel's Landlock, 0 for none.
	Landlock int `json:"landlockVersion"`
}

// probeTimeout bounds the trial of one tier.
const probeTimeout = 20 * time.Second

// Detect tries every tier. bwrap is Config.Bwrap.
func Detect(ctx context.Context, bwrap string) Report {
	r := Report{Platform: runtime.GOOS + "/" + runtime.GOARCH, Best: None, Landlock: landlockABI()}
	for _, t := range tiers {
		tr := TierReport{Tier: t, Enforces: enforcement(t), AutoAllow: t.Whole()}
		if err := try(ctx, t, bwrap); err != nil {
			tr.Reason = err.Error()
			tr.AutoAllow = false
		} else {
			tr.Available = true
			if r.Best == None {
				r.Best = t
			}
		}
		r.Tiers = append(r.Tiers, tr)
	}
	return r
}

// best is the first tier that works.
func best(ctx context.Context, bwrap string) Tier {
	for _, t := range tiers {
		if try(ctx, t, bwrap) == nil {
			return t
		}
	}
	return None
}

// try starts the helper without a command; it looks from inside whether the
// boundary holds.
func try(ctx context.Context, t Tier, bwrap string) error {
	if err := tryable(t, bwrap); err != nil {
		return err
	}
	argv, err := probe(t, bwrap)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	var said bytes.Buffer
	cmd.Stderr = &said
	if err := cmd.Run(); err != nil {
		text := strings.TrimSpace(said.String())
		text = strings.TrimPrefix(text, notRun+" ")
		if text == "" || ctx.Err() != nil {
			return errors.Join(err, ctx.Err())
		}
		return errors.New(text)
	}
	return nil
}

// notRun begins the helper's word that a command was not run.
const notRun = "hew sandbox: the command was not run:"
