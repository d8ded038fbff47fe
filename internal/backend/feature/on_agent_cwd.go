//go:build !hew_lean && !hew_no_agent_cwd

package feature

// AgentCwd tells that this build has subagents that work in another folder.
const AgentCwd = true
