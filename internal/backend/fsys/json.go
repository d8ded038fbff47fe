package fsys

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"unicode/utf8"
)

// jsonLimit bounds the JSON files that hew changes; the ecosystem's limit for settings is 2 MiB, its state file may be
// larger.
const jsonLimit = 64 << 20

// InvalidJSONError is the detail inside an *Error when a file is not one strict JSON object. Line and column count
// from 1; columns count characters.
type InvalidJSONError struct {
	Line, Col int
	Reason    string
}

// Error names place and reason.
func (e *InvalidJSONError) Error() string {
	return fmt.Sprintf("line %d, column %d: %s; fix the file by hand, it was left as it is", e.Line, e.Col, e.Reason)
}

// UpdateJSON changes keys of the JSON object in path, which change receives as it is on disk at that moment: empty when
// the file is missing or holds nothing but white space. The whole step happens under a lock that every hew on this
// machine honours and ends with WriteFile, so no concurrent update is lost and the file parses at every instant.
// Everything that change does not touch keeps its bytes. A file that is not a strict JSON object is never overwritten:
// the error holds an *InvalidJSONError. When change returns an error or changes nothing, nothing is written.
func UpdateJSON(ctx context.Context, path string, o WriteOptions, change func(*JSONDoc) error) error {
	real, err := Real(path)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(real), 0o777); err != nil {
		return wrap("create the folder of", path, err)
	}
	return withFileLock(ctx, real, func() error {
		doc, err := readJSON(path, real)
		if err != nil {
			return err
		}
		before := doc.Bytes()
		if err := change(doc); err != nil {
			return err
		}
		if bytes.Equal(before, doc.Bytes()) {
			return nil
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		_, err = WriteFile(real, doc.Bytes(), o)
		return err
	})
}

func readJSON(path, real string) (*JSONDoc, error) {
	raw, _, err := ReadRaw(real, Limits{MaxBytes: jsonLimit})
	if CauseOf(err) == CauseMissing {
		return &JSONDoc{}, nil
	}
	if err != nil {
		return nil, err
	}
	doc, err := ParseJSON(raw)
	if err != nil {
		return nil, &Error{Op: "update", Path: path, Cause: CauseOther, Err: err}
	}
	return doc, nil
}

// CheckJSON returns an *InvalidJSONError when raw is not one strict JSON object: no comment, no trailing comma, nothing
// after it, valid UTF-8. It is nil for an object, and for nothing but white space.
func CheckJSON(raw []byte) error {
	body := bytes.TrimLeft(raw, " \t\r\n")
	if len(body) == 0 {
		return nil
	}
	if bytes.HasPrefix(raw, []byte(bomUTF8)) {
		return invalidAt(raw, 0, "a byte order mark stands before the JSON text")
	}
	if !utf8.Valid(raw) {
		i := 0
		for r, n := utf8.DecodeRune(raw); r != utf8.RuneError || n != 1; r, n = utf8.DecodeRune(raw[i:]) {
			i += n
		}
		return invalidAt(raw, i, "bytes that are not UTF-8")
	}
	if body[0] != '{' {
		return invalidAt(raw, len(raw)-len(body), "the top level must be an object: { … }")
	}
	if json.Valid(raw) {
		return nil
	}
	var v json.RawMessage
	err := json.Unmarshal(raw, &v)
	var syn *json.SyntaxError
	if errors.As(err, &syn) {
		return invalidAt(raw, int(syn.Offset)-1, syn.Error())
	}
	return invalidAt(raw, 0, fmt.Sprint(err))
}

func invalidAt(raw []byte, off int, reason string) *InvalidJSONError {
	line, col := Position(raw, off)
	return &InvalidJSONError{Line: line, Col: col, Reason: reason}
}

// Position returns line and column, both from 1, of a byte offset; columns count characters.
func Position(raw []byte, off int) (line, col int) {
	head := raw[:max(0, min(off, len(raw)))]
	start := bytes.LastIndexByte(head, '\n') + 1
	return bytes.Count(head, []byte("\n")) + 1, utf8.RuneCount(head[start:]) + 1
}
