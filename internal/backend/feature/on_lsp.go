//go:build !hew_lean && !hew_no_lsp

package feature

// LanguageServers tells that this build has the client of language servers.
const LanguageServers = true
