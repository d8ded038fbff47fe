package web

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io/fs"
	"net/http"
	"path"
	"strings"
	"time"
)

// assets are the page: what web/ builds, and nothing else.
//
//go:embed assets
var assets embed.FS

// page serves the assets. They hold no secret, so strangers get them, too.
type page struct {
	// name changes with the assets: a page of another name is told to reload.
	name  string
	files fs.FS
}

func newPage() (*page, error) {
	files, err := fs.Sub(assets, "assets")
	if err != nil {
		return nil, fmt.Errorf("the page: %w", err)
	}
	sum := sha256.New()
	err = fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := fs.ReadFile(files, name)
		fmt.Fprintf(sum, "%s %d\n", name, len(data))
		sum.Write(data)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("the page: %w", err)
	}
	name := hex.EncodeToString(sum.Sum(nil))[:12]
	if own, err := fs.ReadFile(files, "page.txt"); err == nil { // the build knows it by this name
		name = strings.TrimSpace(string(own))
	}
	return &page{name, files}, nil
}

// kind is what a file of the page is. The machine's own table is not asked: it
// may call a script something that no browser runs.
func kind(name string) string {
	kinds := map[string]string{
		".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8", ".json": "application/json",
		".webmanifest": "application/manifest+json", ".svg": "image/svg+xml", ".png": "image/png", ".ico": "image/x-icon", ".woff2": "font/woff2",
		".txt": "text/plain; charset=utf-8",
	}
	if k, ok := kinds[path.Ext(name)]; ok {
		return k
	}
	return "application/octet-stream"
}

func (p *page) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		http.Error(w, "GET only", http.StatusMethodNotAllowed)
		return
	}
	name := strings.TrimPrefix(path.Clean(r.URL.Path), "/")
	if name == "" || path.Ext(name) == "" { // addresses of the page's own
		name = "index.html"
	}
	data, err := fs.ReadFile(p.files, name)
	if err != nil {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", kind(name))
	w.Header().Set("Cache-Control", "no-cache") // asked for each time; the ETag makes that cheap
	w.Header().Set("ETag", fmt.Sprintf(`"%s"`, p.name))
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(data))
}
