package wiring

import "os"

// mine trusts the temporary folder, which is the user's own on Windows.
func mine(os.FileInfo) bool { return true }
