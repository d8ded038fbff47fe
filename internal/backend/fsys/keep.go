package fsys

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"path/filepath"
)

// keptDigits is how much of a SHA-256 names a kept file, in hexadecimal digits:
// 128 bits never meet by chance, and a model has to write the name out.
const keptDigits = 32

// KeptName is the name under which Keep stores data.
func KeptName(data []byte, ext string) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])[:keptDigits] + ext
}

// Keep stores what r holds in the folder dir, which is made when it is missing,
// under a name that is the digest of its bytes: the same bytes are there once,
// however often they are kept. It returns where they are and how many they are.
// A file of that name whose bytes are others is replaced. An error leaves
// nothing behind.
func Keep(dir, ext string, r io.Reader) (path string, size int64, err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", 0, wrap("create the folder", dir, err)
	}
	tmp, err := os.CreateTemp(dir, ".keep-*.tmp") // mode 0600
	if err != nil {
		return "", 0, wrap("create a file in", dir, err)
	}
	sum := sha256.New()
	size, err = io.Copy(io.MultiWriter(tmp, sum), r)
	err = errors.Join(err, tmp.Close())
	digest := sum.Sum(nil)
	path = filepath.Join(dir, hex.EncodeToString(digest)[:keptDigits]+ext)
	if err == nil && holds(path, size, digest) {
		return path, size, os.Remove(tmp.Name())
	}
	if err == nil {
		err = os.Rename(tmp.Name(), path)
	}
	if err != nil {
		return "", 0, errors.Join(wrap("keep", path, err), os.Remove(tmp.Name()))
	}
	return path, size, nil
}

// holds tells that a file has the bytes that its name promises.
func holds(path string, size int64, digest []byte) bool {
	f, st, err := OpenRegular(path)
	if err != nil {
		return false
	}
	sum := sha256.New()
	_, err = io.Copy(sum, f)
	return errors.Join(err, f.Close()) == nil && st.Size == size && bytes.Equal(sum.Sum(nil), digest)
}
