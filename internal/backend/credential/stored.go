package credential

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"time"
)

// FileName is the token file's name in the configuration folder. The ecosystem
// keeps a login there, with mode 0600.
const FileName = ".credentials.json"

// storedFile is the part of the file that is read. Everything else in it
// belongs to others; hew never writes it.
type storedFile struct {
	OAuth *struct {
		AccessToken string `json:"accessToken"`
		// ExpiresAt is in milliseconds since 1970, 0 when unknown.
		ExpiresAt int64 `json:"expiresAt"`
	} `json:"claudeAiOauth"`
}

// stored reads the token file. A file that is not there is no error; one that
// cannot be used is, with the path but never the content.
func (r *Resolver) stored() (Credential, bool, error) {
	if r.c.Home == "" {
		return Credential{}, false, nil
	}
	path := filepath.Join(r.c.Home, FileName)
	data, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return Credential{}, false, nil
	case err != nil:
		return Credential{}, false, fmt.Errorf("read stored token: %w", err)
	}
	var f storedFile
	if json.Unmarshal(data, &f) != nil {
		return Credential{}, false, fmt.Errorf("read stored token: %s is not valid JSON: log in again, or set ANTHROPIC_API_KEY", path)
	}
	if f.OAuth == nil || f.OAuth.AccessToken == "" {
		return Credential{}, false, nil
	}
	r.warnMode(path)
	if at := f.OAuth.ExpiresAt; at > 0 && !time.UnixMilli(at).After(r.c.Now()) {
		return Credential{}, false, fmt.Errorf("the token in %s has expired: log in again, or set ANTHROPIC_API_KEY", path)
	}
	return Credential{NewSecret(f.OAuth.AccessToken), OAuth, path}, true, nil
}

func (r *Resolver) warnMode(path string) {
	if runtime.GOOS == "windows" {
		return // mode bits say nothing there
	}
	st, err := os.Stat(path)
	if err != nil || st.Mode().Perm()&0o077 == 0 {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.notice(fmt.Sprintf("%s can be read by others (mode %04o); chmod 600 it", path, st.Mode().Perm()))
}
