//go:build !hew_lean && !hew_no_reactive

package feature

// ReactiveCompact tells that this build has the recovery from a request that the provider found too long.
const ReactiveCompact = true
