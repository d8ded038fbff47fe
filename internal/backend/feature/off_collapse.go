//go:build hew_lean || hew_no_collapse

package feature

// ContextCollapse tells that this build has the context stage that shows digests of old work.
const ContextCollapse = false
