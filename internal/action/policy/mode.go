package policy

import (
	"fmt"
	"strings"
)

// Mode is a permission mode.
type Mode string

// The modes, in the spelling that settings, hooks and the SDK use.
const (
	Default     Mode = "default"
	AcceptEdits Mode = "acceptEdits"
	Plan        Mode = "plan"
	Auto        Mode = "auto"
	DontAsk     Mode = "dontAsk"
	Bypass      Mode = "bypassPermissions"
)

// ParseMode reads a mode. Older names are understood; notice then says so. The
// empty name is the default mode.
func ParseMode(name string) (m Mode, notice string, err error) {
	switch name {
	case "":
		return Default, "", nil
	case string(Default), string(AcceptEdits), string(Plan), string(Auto), string(DontAsk), string(Bypass):
		return Mode(name), "", nil
	case "manual":
		return Default, "", nil
	case "acceptAll":
		return Bypass, "the mode acceptAll is an old name of bypassPermissions", nil
	}
	all := []string{"manual", string(Default), string(AcceptEdits), string(Plan), string(Auto), string(DontAsk), string(Bypass)}
	return Default, "", fmt.Errorf("unknown permission mode %q: use one of %s", name, strings.Join(all, ", "))
}

// mode is the mode in effect.
func (s *Snapshot) mode() Mode {
	m := s.cfg.Mode
	if m == "" || m == Bypass && s.cfg.BypassDisabled {
		return Default
	}
	return m
}

// WithMode returns the snapshot in another mode.
func (s *Snapshot) WithMode(m Mode) *Snapshot {
	c := *s
	c.cfg.Mode = m
	return &c
}
