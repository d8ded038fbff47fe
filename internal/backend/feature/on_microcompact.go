//go:build !hew_lean && !hew_no_microcompact

package feature

// Microcompact tells that this build has the context stage that clears old results with an eye on the cache.
const Microcompact = true
