package skill

import (
	"embed"
	"io/fs"
)

//go:embed bundled
var bundled embed.FS

// Bundled are hew's own skills, a folder with a SKILL.md each. All of them are
// for the user to type: the model is told of none, so they cost no context.
func Bundled() fs.FS {
	sub, err := fs.Sub(bundled, "bundled")
	if err != nil {
		panic(err) // a fixed, valid name
	}
	return sub
}
