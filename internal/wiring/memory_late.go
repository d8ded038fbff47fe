package wiring

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/hew-agent/hew/internal/backend/fsys"
	"github.com/hew-agent/hew/internal/state/memory"
	"github.com/hew-agent/hew/internal/state/prompt"
)

// lazyFiles brings in the instructions of folders and the rules whose files are
// read. It returns all of them each time, so that a compaction loses none.
type lazyFiles struct {
	b     *build
	paths []string // that brought something in
	items []prompt.Item
	fresh []memory.File // hooks have not heard of them
}

// Name is the source's word for programs.
func (*lazyFiles) Name() string { return "nested_memory" }

// Class says that the files come when something asks for them.
func (*lazyFiles) Class() prompt.Class { return prompt.OnDemand }

// Delta reads what the files that were read bring in.
func (l *lazyFiles) Delta(_ context.Context, f prompt.Facts) ([]prompt.Item, error) {
	for _, path := range f.Read {
		if l.bring(path) {
			l.paths = append(l.paths, path)
		}
	}
	return l.items, nil
}

// bring takes up what reading a file brings in, and tells whether it is anything.
func (l *lazyFiles) bring(path string) bool {
	if fsys.KindOf(path) != fsys.KindRegular {
		return false
	}
	files, notes := l.b.memory().Read(path)
	for _, n := range notes {
		l.b.tell(n)
	}
	for _, file := range files {
		l.items = append(l.items, prompt.Item{Key: file.Path, Text: contents(file)})
	}
	l.fresh = append(l.fresh, files...)
	return len(files) > 0
}

// reread takes the files up as they are now, after what was known of
// instructions was forgotten: a compaction must not lose them.
func (l *lazyFiles) reread() {
	if l == nil {
		return
	}
	l.items, l.fresh = nil, nil
	for _, path := range l.paths {
		l.bring(path)
	}
	l.fresh = nil // hooks have heard of them
}

// told takes the files that hooks have not heard of.
func (l *lazyFiles) told() []memory.File {
	if l == nil {
		return nil
	}
	out := l.fresh
	l.fresh = nil
	return out
}

func contents(f memory.File) string {
	path := strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, f.Path)
	return "Contents of " + path + ":\n\n" + f.Text
}

// recall lets a model pick the notes that help with a prompt. It asks in the
// background, so that no request waits for it; what it picked joins the next one.
type recall struct {
	b    *build
	book memory.Notebook
	// pick asks which notes help with a prompt. It ends with the conversation, not
	// with the run of the prompt.
	pick func(words string) ([]memory.File, error)
	wait sync.WaitGroup

	mu     sync.Mutex
	came   []memory.File
	failed string
	told   string          // the failure that the person knows of
	given  map[string]bool // paths that the model has, or is about to get
	busy   bool
	words  []string // prompts that came while it was busy
}

// memoryModel names the environment variable of the model that picks. Without it
// the small model of the family does.
const memoryModel = "HEW_MEMORY_MODEL"

// remember makes the source of notes.
func (b *build) remember(ctx context.Context) *recall {
	r := &recall{b: b, book: *b.notebook, given: map[string]bool{}}
	ctx, stop := context.WithCancel(context.WithoutCancel(ctx))
	r.pick = func(words string) ([]memory.File, error) { return r.ask(ctx, words) }
	b.conv.close = append(b.conv.close, func() error {
		stop()
		r.wait.Wait()
		return nil
	})
	return r
}

// Name is the source's word for programs.
func (*recall) Name() string { return "relevant_memory" }

// Class says that the system keeps the notes.
func (*recall) Class() prompt.Class { return prompt.SystemWritten }

// Delta hands out what was picked so far and begins to pick for a new prompt.
func (r *recall) Delta(_ context.Context, f prompt.Facts) ([]prompt.Item, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	var out []prompt.Item
	for _, file := range r.came {
		out = append(out, prompt.Item{Key: file.Path, Text: "A note of yours from an earlier conversation. " + contents(file)})
	}
	r.came = nil
	for _, path := range slices.Concat(f.Read, f.Edited) {
		r.given[path] = true
	}
	r.words = append(r.words, f.Words...)
	r.begin()
	if slices.Contains(f.Edited, r.book.Index()) {
		if text := r.book.Full(); text != "" {
			out = append(out, prompt.Item{Text: text})
		}
	}
	if r.failed != r.told {
		r.b.notice("no notes are recalled: " + r.failed)
		r.told = r.failed
	}
	return out, nil
}

// forget drops what the old conversation was given.
func (r *recall) forget() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.came, r.words, r.given = nil, nil, map[string]bool{}
}

// begin picks for the prompts that came, one question at a time.
func (r *recall) begin() {
	if r.busy || len(r.words) == 0 {
		return
	}
	words := strings.Join(r.words, "\n")
	r.words, r.busy = nil, true
	r.wait.Go(func() {
		files, err := r.pick(words)
		r.mu.Lock()
		defer r.mu.Unlock()
		r.busy = false
		r.came = append(r.came, files...)
		if err != nil {
			r.failed = err.Error()
		}
	})
}

// ask lets the model pick, and reads what it picked.
func (r *recall) ask(ctx context.Context, words string) ([]memory.File, error) {
	topics, notes := r.book.Topics()
	for _, n := range notes {
		r.b.tell(n)
	}
	r.mu.Lock()
	topics = slices.DeleteFunc(topics, func(t memory.Topic) bool { return r.given[t.Path] })
	r.mu.Unlock()
	if len(topics) == 0 {
		return nil, nil
	}
	model := r.b.env(memoryModel)
	if model == "" {
		model = fastModel
	}
	system, user := memory.Question(words, topics)
	reply, err := r.b.conv.Engine.Query(ctx, "memory", model, system, user)
	if err != nil {
		return nil, err
	}
	picked, err := memory.Choice(reply, topics)
	if err != nil {
		return nil, fmt.Errorf("the model that picks them: %w", err)
	}
	var out []memory.File
	for _, t := range picked {
		f, err := t.Open(r.b.o.Now())
		if err != nil {
			r.b.notice(err.Error())
			continue
		}
		r.mu.Lock()
		r.given[t.Path] = true
		r.mu.Unlock()
		out = append(out, f)
	}
	return out, nil
}
