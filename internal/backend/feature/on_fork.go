//go:build !hew_lean && !hew_no_fork

package feature

// ForkSubagent tells that this build has subagents that begin with the whole conversation.
const ForkSubagent = true
