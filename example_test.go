package hew_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/hew-agent/hew"
)

// quiet are options for examples: a folder of its own, no settings of this
// machine, and a scripted model in the place of a real one.
func quiet(script string) (hew.Options, func()) {
	dir, err := os.MkdirTemp("", "hew-example-")
	if err != nil {
		panic(err)
	}
	here, err := os.Getwd()
	if err != nil {
		panic(err)
	}
	o := hew.Options{
		Dir: dir, Model: "script:" + filepath.Join(here, "testdata", "gosdk", script),
		Env: []string{"HOME=" + dir, "PATH=" + os.Getenv("PATH"), "TMPDIR=" + os.TempDir()},
	}
	return o, func() { _ = os.RemoveAll(dir) } // a temporary folder
}

// One prompt, and its answer.
func ExampleQuery() {
	o, remove := quiet("answer.json") // in a program: o := hew.Options{}
	defer remove()
	for ev := range hew.Query(context.Background(), "What is the answer?", o) {
		switch ev := ev.(type) {
		case hew.Reply:
			fmt.Println(ev.Text)
		case hew.Done:
			fmt.Println(ev.Reason, ev.Err)
		}
	}
	// Output:
	// Forty-two.
	// completed <nil>
}

// A tool in Go: its schema is that of the function's parameter.
func ExampleNewTool() {
	o, remove := quiet("weather.json")
	defer remove()
	type place struct {
		City string `json:"city" jsonschema:"a city, in English"`
	}
	o.Tools = []hew.Tool{hew.NewTool("weather", "Tells the weather of a city.", func(_ context.Context, p place) (string, error) {
		return "rain in " + p.City, nil
	})}
	o.Allow = []string{"weather"}
	for ev := range hew.Query(context.Background(), "What do I wear in Oslo?", o) {
		switch ev := ev.(type) {
		case hew.Reply:
			if ev.Text != "" {
				fmt.Println(ev.Text)
			}
		case hew.ToolFinished:
			fmt.Println(ev.Call.Tool, "->", ev.Text)
		}
	}
	// Output:
	// I look it up.
	// weather -> rain in Oslo
	// Take a coat.
}

// A conversation of several prompts.
func ExampleSession() {
	o, remove := quiet("talk.json")
	defer remove()
	s, err := hew.Open(context.Background(), o)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, prompt := range []string{"my name is Ada", "who am I"} {
		for ev := range s.Query(context.Background(), prompt) {
			if d, ok := ev.(hew.Done); ok {
				fmt.Println(d.Text)
			}
		}
	}
	if err := s.Close(); err != nil {
		fmt.Println(err)
	}
	// Output:
	// Hello Ada.
	// Ada.
}

// Somebody decides about calls that no rule decides.
func ExampleOptions_permission() {
	o, remove := quiet("touch.json")
	defer remove()
	o.Permission = func(_ context.Context, q hew.Question) (hew.Answer, error) {
		if strings.Contains(string(q.Call.Input), "touch") {
			return hew.Answer{Allow: true}, nil
		}
		return hew.Answer{Message: "not that"}, nil
	}
	for ev := range hew.Query(context.Background(), "Tidy up.", o) {
		switch ev := ev.(type) {
		case hew.ToolFinished:
			fmt.Println("refused:", ev.Error)
		case hew.Done:
			fmt.Println(ev.Text, len(ev.Denied))
		}
	}
	_, err := os.Stat(filepath.Join(o.Dir, "allowed"))
	fmt.Println(err)
	// Output:
	// refused: false
	// refused: true
	// Then I leave it. 1
	// <nil>
}

// A hook keeps a tool from a file.
func ExampleHook() {
	o, remove := quiet("hook.json")
	defer remove()
	o.Hooks = []hew.Hook{{Event: "PreToolUse", Matcher: "Read", Run: func(_ context.Context, in hew.HookInput) (hew.HookOutput, error) {
		if strings.Contains(string(in.ToolInput), "secret") {
			return hew.HookOutput{Permission: "deny", Reason: "that file is private"}, nil
		}
		return hew.HookOutput{}, nil
	}}}
	for ev := range hew.Query(context.Background(), "Read secret.txt.", o) {
		switch ev := ev.(type) {
		case hew.Denied:
			fmt.Println(strings.Contains(ev.Reason, "that file is private"))
		case hew.Done:
			fmt.Println(ev.Text)
		}
	}
	// Output:
	// true
	// I may not read that.
}
