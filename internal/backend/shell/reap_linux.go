package shell

import "os"

// selfPath is still there when hew was replaced by an update.
func selfPath() (string, error) {
	const self = "/proc/self/exe"
	_, err := os.Lstat(self)
	return self, err
}
