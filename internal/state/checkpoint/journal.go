package checkpoint

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// The kinds of record.
const (
	kindPrompt = "prompt" // Message begins
	kindStart  = "start"  // Roots and File: what they were like before the first command
	kindBegin  = "begin"  // Use, Command: a command is about to run
	kindEnd    = "end"    // Use: it returned; Open: something of it may go on
	kindScan   = "scan"   // Changes that were found; By says whose they are
	kindEdit   = "edit"   // Use, Changes: a file that an edit tool is about to write
	kindEdited = "edited" // Use, Changes: what became of it
	kindRewind = "rewind" // Changes that a rewind made
)

// Whose changes a scan has found.
const (
	byCommand = "command"
	byOther   = "other"
	// byUnsure are changes by a command that went on in the background, or by
	// somebody else meanwhile.
	byUnsure = "unsure"
)

// record is one line of the journal.
type record struct {
	Kind    string   `json:"kind"`
	Time    int64    `json:"time"`
	Message string   `json:"message,omitempty"`
	Use     string   `json:"use,omitempty"`
	Command string   `json:"command,omitempty"`
	By      string   `json:"by,omitempty"`
	Roots   []string `json:"roots,omitempty"`
	File    string   `json:"file,omitempty"`
	Open    bool     `json:"open,omitempty"`
	// Notes are what this record's command does that no rewind undoes.
	Notes   []string `json:"notes,omitempty"`
	Changes []Change `json:"changes,omitempty"`
}

const journalName = "journal.jsonl"

// journal appends records; a record that was returned from add survives the
// end of the process.
type journal struct {
	dir string
	f   *os.File
	// lenient keeps in unsaved what cannot be written: a rewind must work on a
	// disk that is full.
	lenient bool
	unsaved []record
	// ahead are records to be written before the next one.
	ahead []record
}

func (j *journal) add(r record) error {
	for len(j.ahead) > 0 {
		if err := j.write(j.ahead[0]); err != nil && !j.lenient {
			return err
		}
		j.ahead = j.ahead[1:]
	}
	err := j.write(r)
	if err != nil && j.lenient {
		j.unsaved = append(j.unsaved, r)
		return nil
	}
	return err
}

func (j *journal) write(r record) error {
	if j.f == nil {
		if err := makeDir(j.dir); err != nil {
			return err
		}
		path := filepath.Join(j.dir, journalName)
		f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o600)
		if err != nil {
			return fmt.Errorf("open the journal of changes: %w", err)
		}
		if err := endLine(f); err != nil {
			return errors.Join(err, f.Close())
		}
		j.f = f
	}
	data, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("encode a record of changes: %w", err)
	}
	st, err := j.f.Stat()
	if err != nil {
		return fmt.Errorf("write the journal of changes: %w", err)
	}
	if _, err := j.f.Write(append(data, '\n')); err != nil {
		// Half a line would make the next one unreadable.
		return fmt.Errorf("write the journal of changes: %w", errors.Join(err, j.f.Truncate(st.Size())))
	}
	return nil
}

// endLine ends a line that a killed process left torn.
func endLine(f *os.File) error {
	st, err := f.Stat()
	if err != nil || st.Size() == 0 {
		return err
	}
	var last [1]byte
	if _, err := f.ReadAt(last[:], st.Size()-1); err != nil {
		return err
	}
	if last[0] == '\n' {
		return nil
	}
	_, err = f.Write([]byte{'\n'})
	return err
}

func (j *journal) close() error {
	if j.f == nil {
		return nil
	}
	err := j.f.Close()
	j.f = nil
	return err
}

// readJournal returns what a session's folder tells, nothing when there is
// none. Lines that cannot be read are those of a killed process, and are left
// out.
func readJournal(dir string) ([]record, error) {
	var out []record
	err := eachLine(filepath.Join(dir, journalName), func(line []byte) error {
		var r record
		if json.Unmarshal(line, &r) == nil && r.Kind != "" {
			out = append(out, r)
		}
		return nil
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return out, err
}

func eachLine(path string, visit func([]byte) error) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	r := bufio.NewReaderSize(f, 1<<20)
	for {
		line, err := r.ReadBytes('\n')
		if line = bytes.TrimSpace(line); len(line) > 0 {
			if err := visit(line); err != nil {
				return err
			}
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read %s: %w", path, err)
		}
	}
}

// treeLine is one line of a tree file.
type treeLine struct {
	Path osName `json:"p"`
	Entry
}

// writeTree puts the entries of an index into a file of their own.
func writeTree(path string, entries []Change) error {
	if err := makeDir(filepath.Dir(path)); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return fmt.Errorf("write the state of the working directory: %w", err)
	}
	w := bufio.NewWriterSize(f, 1<<20)
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	for i := range entries {
		if err = enc.Encode(treeLine{entries[i].Path, entries[i].After}); err != nil {
			break
		}
	}
	if err = errors.Join(err, w.Flush(), f.Close()); err != nil {
		return fmt.Errorf("write the state of the working directory: %w", errors.Join(err, os.Remove(path)))
	}
	return nil
}

func readTree(path string, x *index) error {
	return eachLine(path, func(line []byte) error {
		var t treeLine
		if err := json.Unmarshal(line, &t); err != nil {
			return fmt.Errorf("read %s: %w", path, err)
		}
		x.put(string(t.Path), t.Entry)
		return nil
	})
}
