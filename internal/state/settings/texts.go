package settings

import "path/filepath"

// HomeOf is the usual configuration home of a user whose home folder is user, whatever the environment says.
func HomeOf(user string) Home { return Home{Dir: filepath.Join(user, ".claude"), user: user} }

// Text is the content of a settings file that need not exist.
type Text struct {
	From Origin
	JSON []byte
	// FromRepository tells that a repository supplied it: what widens access is held until the folder is trusted.
	FromRepository bool
}

// Merge judges and merges texts exactly as Load does files, weakest first. It touches no disk.
func Merge(trust Trust, texts []Text) (*Settings, []Problem) {
	l := &loader{c: Config{Trust: trust}}
	for _, t := range texts {
		l.files = append(l.files, File{Scope: t.From.Scope, Path: t.From.File})
		l.source(t.From, t.JSON, t.FromRepository)
	}
	return l.result()
}
