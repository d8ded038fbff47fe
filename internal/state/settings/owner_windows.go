package settings

// ownedByUser: administrators create files that the group owns, so the owner says nothing about whose a folder is.
func ownedByUser(string) bool { return true }
