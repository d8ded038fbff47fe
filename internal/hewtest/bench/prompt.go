package main

import (
	"context"
	"fmt"
	"os/exec"
)

const floorChat = "floor"

func promptMeasures() []measure {
	return []measure{
		{
			name: "one prompt, one answer, `-p`: wall", goal: "≤ 2×", unit: seconds, reference: floorChat,
			run: func(ctx context.Context, l *lab) (hew, ref samples, err error) {
				return onePrompt(ctx, l, cost.wall, plainFolder)
			},
		},
		{
			name: "one prompt, one answer in a git repository: wall", goal: "–", unit: seconds, reference: floorChat,
			run: func(ctx context.Context, l *lab) (hew, ref samples, err error) {
				return onePrompt(ctx, l, cost.wall, repository)
			},
		},
		{
			name: "one prompt, one answer, `-p`: peak memory", goal: "≤ 25 MB", unit: size, reference: floorChat,
			run: func(ctx context.Context, l *lab) (hew, ref samples, err error) {
				return onePrompt(ctx, l, cost.peak, plainFolder)
			},
		},
		{name: "first request with all tools, bytes", goal: "≤ 20 KB", unit: size, run: requestSize},
	}
}

func plainFolder(context.Context, *lab, *home) error { return nil }

// repository makes the project one with a commit.
func repository(ctx context.Context, l *lab, h *home) error {
	if _, err := exec.LookPath("git"); err != nil {
		return missing{"git"}
	}
	for _, args := range [][]string{
		{"init", "-q"},
		{"add", "."},
		{"-c", "user.name=bench", "-c", "user.email=bench@example.com", "commit", "-q", "-m", "Begin"},
	} {
		c := exec.CommandContext(ctx, "git", args...)
		c.Dir, c.Env = h.project, l.env(h)
		if text, err := c.CombinedOutput(); err != nil {
			return fmt.Errorf("git %s: %w: %s", args[0], err, text)
		}
	}
	return nil
}

func onePrompt(
	ctx context.Context, l *lab, figure func(cost) float64, prepare func(context.Context, *lab, *home) error,
) (hew, ref samples, err error) {
	request, err := l.firstRequest(ctx)
	if err != nil {
		return nil, nil, err
	}
	h, err := l.newHome()
	if err != nil {
		return nil, nil, err
	}
	if err := prepare(ctx, l, h); err != nil {
		return nil, nil, err
	}
	reply := always(text("The answer is short."))
	hew, ref, err = both(ctx, 20,
		func() (float64, error) {
			_, c, err := l.prompt(ctx, h, reply)
			return figure(c), err
		},
		func() (float64, error) {
			_, c, err := l.chat(ctx, h, reply, request)
			return figure(c), err
		})
	if err == nil && ref.median() == 0 {
		return nil, nil, missing{"a system that tells a child's peak memory"}
	}
	return hew, ref, err
}

// requestSize takes the request of a run in which somebody answers questions: some tools are offered only then.
func requestSize(ctx context.Context, l *lab) (hew, ref samples, err error) {
	h, err := l.newHome()
	if err != nil {
		return nil, nil, err
	}
	t, _, err := l.converse(ctx, command{
		home: h, program: l.hew,
		args: []string{
			"-p", "--model", modelName, "--input-format", "stream-json", "--output-format", "stream-json", "--verbose",
			"--permission-prompt-tool", "stdio",
		},
		stdin: `{"type":"user","message":{"role":"user","content":"` + words + `"}}` + "\n",
	}, always(text("ok")))
	if err != nil {
		return nil, nil, err
	}
	return samples{float64(len(t.first))}, nil, nil
}
