// Package hewtest is the scenario runner: the real binary, a scripted model, a virtual terminal.
//
// A scenario is a txtar file under testdata/scenarios; docs/testing.md says how
// to write one.
package hewtest
