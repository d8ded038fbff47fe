package memory

import (
	"fmt"
	"path/filepath"
	"strings"
)

// AgentNotebook is the folder in which an agent of its own memory keeps notes.
// scope is user (for all projects), project (shared with everybody who has the
// repository) or local (the user's, for this project).
func AgentNotebook(scope, name, home, project string) (Notebook, error) {
	if name == "" || strings.HasPrefix(name, ".") || strings.ContainsAny(name, "/\\\x00:") {
		return Notebook{}, fmt.Errorf("an agent called %q cannot have a memory: its name is no folder name", name)
	}
	switch scope {
	case "user":
		return Notebook{Dir: filepath.Join(home, "agent-memory", name)}, nil
	case "project":
		return Notebook{Dir: filepath.Join(project, ownFolder, "agent-memory", name)}, nil
	case "local":
		return Notebook{Dir: filepath.Join(project, ownFolder, "agent-memory-local", name)}, nil
	}
	return Notebook{}, fmt.Errorf("memory of agent %s is %q; it takes user, project or local", name, scope)
}
