package catalog

import (
	"os"
	"slices"
)

// mark is how a file or folder was when it was read; zero when it was not there.
type mark struct{ size, time int64 }

func markOf(path string) mark {
	st, err := os.Stat(path)
	if err != nil {
		return mark{}
	}
	return mark{st.Size(), st.ModTime().UnixNano()}
}

func (k *Catalog) mark(path string) {
	m := markOf(path)
	k.mu.Lock()
	defer k.mu.Unlock()
	k.marks[path] = m
}

func (k *Catalog) marked(files []file) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, f := range files {
		k.marks[f.path] = f.mark
	}
}

// Stale names a file or folder that has changed since it was read, "" for none.
// It looks at each of them once.
func (k *Catalog) Stale() string {
	k.mu.RLock()
	defer k.mu.RUnlock()
	var changed []string
	for path, was := range k.marks {
		if markOf(path) != was {
			changed = append(changed, path)
		}
	}
	if len(changed) == 0 {
		return ""
	}
	return slices.Min(changed)
}

// Accept takes everything as it is now for what was read: a change that
// somebody refused is not told again.
func (k *Catalog) Accept() {
	k.mu.Lock()
	defer k.mu.Unlock()
	for path := range k.marks {
		k.marks[path] = markOf(path)
	}
}
