//go:build !hew_lean && !hew_no_classifier

package feature

// Classifier tells that this build has auto mode and the model that judges calls in it.
const Classifier = true
