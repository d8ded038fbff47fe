package shell

import "os"

func selfPath() (string, error) { return os.Executable() }
