package trust

import (
	"os"
	"path/filepath"

	"github.com/hew-agent/hew/internal/backend/fsys"
	"github.com/hew-agent/hew/internal/state/catalog"
)

// plugins takes what the plugins in a folder of skills would run. One that cannot
// be read is taken by its manifest: it may be readable the next time.
func (k *collector) plugins(dir string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		root := filepath.Join(dir, e.Name())
		manifest := filepath.Join(root, filepath.FromSlash(catalog.ManifestFile))
		if fsys.KindOf(manifest) == fsys.KindMissing {
			continue
		}
		if raw, ok := k.read(manifest); ok {
			k.add(Plugin, e.Name(), manifest, false, raw)
		}
		p, err := catalog.ReadPlugin(root, e.Name())
		if err != nil {
			continue
		}
		grants, err := p.Grants()
		if err != nil {
			k.fail(err)
			return
		}
		for _, g := range grants {
			k.add(Plugin, e.Name()+" "+g.Kind+" "+g.Name, manifest, false, []byte(g.Digest+"\n"+g.Text))
		}
	}
}
