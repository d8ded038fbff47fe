//go:build !hew_lean && !hew_no_snip

package feature

// HistorySnip tells that this build has the context stage that drops the oldest replies and results.
const HistorySnip = true
