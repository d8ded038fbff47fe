package wiring

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
)

// Tally counts what a table of cases came to. A case that should be allowed
// and was asked about or refused is a false prompt, too.
type Tally struct {
	Rows, WrongMust, WrongShould         int
	FalsePromptsMust, FalsePromptsShould int
	// Unanswered rows could not be read; the table fails.
	Unanswered int
}

// Failed tells that a must row is wrong or a row has no answer.
func (t Tally) Failed() bool { return t.WrongMust > 0 || t.Unanswered > 0 }

// String is the summary in one line.
func (t Tally) String() string {
	s := fmt.Sprintf("%d rows, wrong must %d, wrong should %d, false prompts %d (must %d, should %d)",
		t.Rows, t.WrongMust, t.WrongShould, t.FalsePromptsMust+t.FalsePromptsShould, t.FalsePromptsMust, t.FalsePromptsShould)
	if t.Unanswered > 0 {
		s += fmt.Sprintf(", without an answer %d", t.Unanswered)
	}
	return s
}

// CaseResult is the answer to one row.
type CaseResult struct {
	Case PermissionCase
	CallExplanation
	// Right tells that the verdict is the expected one; a row that expects
	// nothing is right whatever the verdict.
	Right bool
}

// maxCase is the longest row.
const maxCase = 64 << 20

// Table judges every row of a table: a JSON object a line. Blank lines and
// objects without an id are skipped. each is told every answer, and every row
// that has none with the reason.
func (c *Cases) Table(r io.Reader, each func(CaseResult, error)) (Tally, error) {
	var t Tally
	sc := bufio.NewScanner(r)
	sc.Buffer(make([]byte, 0, 1<<16), maxCase)
	for n := 1; sc.Scan(); n++ {
		line := bytes.TrimSpace(bytes.TrimPrefix(sc.Bytes(), []byte("\ufeff")))
		if len(line) == 0 {
			continue
		}
		row, ok, err := readCase(line)
		if err == nil && !ok {
			continue
		}
		t.Rows++
		res := CaseResult{Case: row}
		if err == nil {
			res.CallExplanation, err = c.Judge(row)
		}
		if err != nil {
			t.Unanswered++
			each(res, fmt.Errorf("line %d: %w", n, err))
			continue
		}
		res.Right = row.accepts(res.Verdict)
		t.count(row, res.Right)
		each(res, nil)
	}
	if err := sc.Err(); err != nil {
		return t, fmt.Errorf("read the table: %w", err)
	}
	return t, nil
}

// readCase reads one row; ok is false for an object that is no case.
func readCase(line []byte) (row PermissionCase, ok bool, err error) {
	var id struct {
		ID json.RawMessage `json:"id"`
	}
	if err := json.Unmarshal(line, &id); err != nil {
		return row, false, err
	}
	if len(id.ID) == 0 || string(id.ID) == "null" || string(id.ID) == `""` {
		return row, false, nil
	}
	if err := json.Unmarshal(line, &row); err != nil {
		return row, true, err
	}
	if row.Tool == "" {
		return row, true, fmt.Errorf("the row names no tool")
	}
	return row, true, nil
}

func (r PermissionCase) accepts(verdict string) bool {
	return r.Expect == "" || r.Expect == verdict || r.Expect == "not-allow" && verdict != "allow"
}

func (t *Tally) count(r PermissionCase, right bool) {
	if right {
		return
	}
	must := r.Level != "should"
	prompt := r.Expect == "allow"
	switch {
	case must && prompt:
		t.FalsePromptsMust++
	case prompt:
		t.FalsePromptsShould++
	}
	if must {
		t.WrongMust++
	} else {
		t.WrongShould++
	}
}
