package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

const plainPrint = "`hew -p`, stream-json"

// hostMeasures are of hew under a host program: the lines and options are those that the Agent SDK writes. The rows with the SDK itself
// include what Node takes for it.
func hostMeasures() []measure {
	return []measure{
		{name: "under a host: spawn to system/init", goal: "–", unit: seconds, reference: plainPrint, run: func(ctx context.Context, l *lab) (hew, ref samples, err error) {
			return hosted(ctx, l, func(s spoken) float64 { return s.init })
		}},
		{name: "under a host: spawn to the first assistant line", goal: "–", unit: seconds, reference: plainPrint, run: func(ctx context.Context, l *lab) (hew, ref samples, err error) {
			return hosted(ctx, l, func(s spoken) float64 { return s.first })
		}},
		{name: "under a host: peak memory", goal: "–", unit: size, reference: plainPrint, run: hostedPeak},
		{name: "under the Agent SDK: query() to system/init", goal: "–", unit: seconds, reference: plainPrint, run: func(ctx context.Context, l *lab) (hew, ref samples, err error) {
			return bySDK(ctx, l, func(s spoken) float64 { return s.init })
		}},
		{name: "under the Agent SDK: query() to the first assistant line", goal: "–", unit: seconds, reference: plainPrint, run: func(ctx context.Context, l *lab) (hew, ref samples, err error) {
			return bySDK(ctx, l, func(s spoken) float64 { return s.first })
		}},
	}
}

// hostLines are what the SDK writes first: it does not wait for the answer to the one before the other.
const hostLines = `{"type":"control_request","request_id":"1","request":{"subtype":"initialize","systemPrompt":[""]}}
{"type":"user","session_id":"","parent_tool_use_id":null,"message":{"role":"user","content":[{"type":"text","text":"` + words + `"}]}}
`

func hostCommand(h *home, program string) command {
	return command{
		home: h, program: program, stdin: hostLines,
		args: []string{"--output-format", "stream-json", "--verbose", "--input-format", "stream-json", "--model=" + modelName, "--permission-prompt-tool=stdio"},
	}
}

// printCommand is one prompt with the same system prompt and the same form of output.
func printCommand(h *home, program string) command {
	return command{
		home: h, program: program,
		args: []string{"-p", words, "--output-format", "stream-json", "--verbose", "--model", modelName, "--system-prompt", "Be brief."},
	}
}

// spoken is when lines came, in seconds after the start.
type spoken struct{ init, first float64 }

// hear starts a program and takes the times of its lines.
func (l *lab) hear(ctx context.Context, run command) (out spoken, err error) {
	l.model.converse(always(text("The answer is short.")))
	ctx, cancel := context.WithTimeout(ctx, runLimit)
	defer cancel()
	c := exec.CommandContext(ctx, run.program, run.args...)
	c.Dir, c.Env = run.home.project, append(l.env(run.home), run.env...)
	var stderr bytes.Buffer
	c.Stdin, c.Stderr = strings.NewReader(run.stdin), &stderr
	pipe, err := c.StdoutPipe()
	if err != nil {
		return out, err
	}
	began := time.Now()
	if err := c.Start(); err != nil {
		return out, err
	}
	err = times(pipe, began, &out)
	if err = errors.Join(err, c.Wait()); err != nil {
		return out, fmt.Errorf("%s: %w: %s", filepath.Base(run.program), err, tail(&stderr))
	}
	return out, nil
}

// times reads lines to the end and notes when the first of each kind came.
func times(from io.Reader, began time.Time, out *spoken) error {
	lines := bufio.NewScanner(from)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var m struct{ Type, Subtype string }
		if err := json.Unmarshal(lines.Bytes(), &m); err != nil {
			return fmt.Errorf("a line of the output: %w", err)
		}
		at := time.Since(began).Seconds()
		switch {
		case m.Subtype == "init" && out.init == 0:
			out.init = at
		case m.Type == "assistant" && out.first == 0:
			out.first = at
		}
	}
	if out.first == 0 {
		return errors.Join(lines.Err(), errors.New("the output has no assistant line"))
	}
	return lines.Err()
}

func hosted(ctx context.Context, l *lab, figure func(spoken) float64) (hew, ref samples, err error) {
	h, err := l.newHome()
	if err != nil {
		return nil, nil, err
	}
	take := func(c command) taking {
		return func() (float64, error) {
			s, err := l.hear(ctx, c)
			return figure(s), err
		}
	}
	return both(ctx, 20, take(hostCommand(h, l.hew)), take(printCommand(h, l.hew)))
}

func hostedPeak(ctx context.Context, l *lab) (hew, ref samples, err error) {
	h, err := l.newHome()
	if err != nil {
		return nil, nil, err
	}
	take := func(c command) taking {
		return func() (float64, error) {
			_, took, err := l.converse(ctx, c, always(text("The answer is short.")))
			return took.peak(), err
		}
	}
	hew, ref, err = both(ctx, 10, take(hostCommand(h, l.hew)), take(printCommand(h, l.hew)))
	if err == nil && ref.median() == 0 {
		return nil, nil, missing{"a system that tells a child's peak memory"}
	}
	return hew, ref, err
}

// bySDK lets the official SDK start hew; conformance/sdk/time.mjs prints when the messages came.
func bySDK(ctx context.Context, l *lab, figure func(spoken) float64) (hew, ref samples, err error) {
	dir := filepath.Join("conformance", "sdk")
	node, err := exec.LookPath("node")
	if err != nil {
		return nil, nil, missing{"Node 20"}
	}
	if _, err := os.Stat(filepath.Join(dir, "node_modules", "@anthropic-ai", "claude-agent-sdk")); err != nil {
		return nil, nil, missing{"the SDK's packages (npm ci in conformance/sdk)"}
	}
	h, err := l.newHome()
	if err != nil {
		return nil, nil, err
	}
	script, err := filepath.Abs(filepath.Join(dir, "time.mjs"))
	if err != nil {
		return nil, nil, err
	}
	return both(ctx, 10,
		func() (float64, error) {
			l.model.converse(always(text("The answer is short.")))
			c := exec.CommandContext(ctx, node, script, l.hew, modelName, words)
			c.Dir, c.Env = h.project, l.env(h)
			out, err := c.Output()
			if err != nil {
				return 0, fmt.Errorf("node %s: %w", script, err)
			}
			var ms struct{ Init, First float64 }
			err = json.Unmarshal(out, &ms)
			return figure(spoken{ms.Init / 1000, ms.First / 1000}), err
		},
		func() (float64, error) {
			s, err := l.hear(ctx, printCommand(h, l.hew))
			return figure(s), err
		})
}
