package fsys

// ProcessDead tells that no process of this machine has the id. It is false where
// that cannot be told.
func ProcessDead(pid int) bool { return processDead(pid) }
