package script

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/tidwall/gjson"
	"github.com/tidwall/sjson"
)

// request is a request body, read once. Raw texts are free of cache marks.
type request struct {
	body      []byte
	model     string
	session   string
	side, brk string
	maxTokens int
	stream    bool
	thinking  string // "none", "adaptive", "budget"
	budget    int
	effort    string
	tools     []gjson.Result
	toolsRaw  string
	system    []gjson.Result
	systemRaw string
	messages  []message
	marks     []mark
}

type message struct {
	role    string
	raw     string
	content gjson.Result
	blocks  []gjson.Result
}

// mark is a cache mark, and where it is.
type mark struct {
	where string
	block gjson.Result
	ttl   string
}

// parse reads a body; false when it is not JSON.
func parse(body []byte) (*request, bool) {
	if !gjson.ValidBytes(body) {
		return nil, false
	}
	v := gjson.ParseBytes(body)
	r := &request{
		body:      body,
		model:     v.Get("model").String(),
		session:   v.Get("metadata.user_id").String(),
		maxTokens: int(v.Get("max_tokens").Int()),
		stream:    v.Get("stream").Bool(),
		thinking:  "none",
		budget:    int(v.Get("thinking.budget_tokens").Int()),
		effort:    v.Get("output_config.effort").String(),
		tools:     v.Get("tools").Array(),
	}
	switch v.Get("thinking.type").String() {
	case "adaptive":
		r.thinking = "adaptive"
	case "enabled":
		r.thinking = "budget"
	}
	r.readTools(v.Get("tools"))
	r.readSystem(v.Get("system"))
	for i, m := range v.Get("messages").Array() {
		r.messages = append(r.messages, r.readMessage(i, m))
	}
	return r, true
}

func (r *request) readTools(v gjson.Result) {
	r.toolsRaw = v.Raw
	for i, t := range r.tools {
		if r.noteMark(fmt.Sprintf("tools.%d", i), t) {
			r.toolsRaw = without(r.toolsRaw, fmt.Sprintf("%d.cache_control", i))
		}
	}
}

func (r *request) readSystem(v gjson.Result) {
	r.systemRaw = v.Raw
	r.system = blocksOf(v)
	if !v.IsArray() {
		return
	}
	for i, b := range r.system {
		if r.noteMark(fmt.Sprintf("system.%d", i), b) {
			r.systemRaw = without(r.systemRaw, fmt.Sprintf("%d.cache_control", i))
		}
	}
}

func (r *request) readMessage(i int, v gjson.Result) message {
	c := v.Get("content")
	m := message{role: v.Get("role").String(), raw: v.Raw, content: c, blocks: blocksOf(c)}
	if !c.IsArray() || !strings.Contains(v.Raw, `"cache_control"`) {
		return m
	}
	for j, b := range m.blocks {
		if r.noteMark(fmt.Sprintf("messages.%d.content.%d", i, j), b) {
			m.raw = without(m.raw, fmt.Sprintf("content.%d.cache_control", j))
		}
		for k, n := range b.Get("content").Array() {
			if n.IsObject() && r.noteMark(fmt.Sprintf("messages.%d.content.%d.content.%d", i, j, k), n) {
				m.raw = without(m.raw, fmt.Sprintf("content.%d.content.%d.cache_control", j, k))
			}
		}
	}
	return m
}

func (r *request) noteMark(where string, b gjson.Result) bool {
	c := b.Get("cache_control")
	if !c.IsObject() {
		return false
	}
	ttl := c.Get("ttl").String()
	if ttl == "" {
		ttl = "5m"
	}
	r.marks = append(r.marks, mark{where, b, ttl})
	return true
}

func without(raw, path string) string {
	out, err := sjson.Delete(raw, path)
	if err != nil {
		return raw
	}
	return out
}

// blocksOf reads content that is a list of blocks or a string.
func blocksOf(c gjson.Result) []gjson.Result {
	if c.Type == gjson.String {
		return []gjson.Result{gjson.Parse(`{"type":"text","text":` + c.Raw + `}`)}
	}
	if !c.IsArray() {
		return nil
	}
	return c.Array()
}

// last is the newest message that does not consist of reminders alone: those
// are the harness's, and come when they will.
func (r *request) last() message {
	for _, m := range slices.Backward(r.messages) {
		if !m.reminds() {
			return m
		}
	}
	if len(r.messages) == 0 {
		return message{}
	}
	return r.messages[len(r.messages)-1]
}

// reminds tells a message of the user's side that holds nothing but reminders.
func (m message) reminds() bool {
	for _, b := range m.blocks {
		if b.Get("type").Str != "text" || !strings.HasPrefix(strings.TrimSpace(b.Get("text").Str), "<system-reminder>") {
			return false
		}
	}
	return m.role == "user" && len(m.blocks) > 0
}

// user is the newest text of the user that is neither a result nor a reminder;
// with nothing else, the newest reminder.
func (r *request) user() string {
	reminder := ""
	for _, m := range slices.Backward(r.messages) {
		t := texts(m.blocks)
		switch {
		case m.role != "user" || t == "":
		case !m.reminds():
			return t
		case reminder == "":
			reminder = t
		}
	}
	return reminder
}

func texts(blocks []gjson.Result) string {
	var out []string
	for _, b := range blocks {
		if b.Get("type").Str == "text" {
			out = append(out, b.Get("text").String())
		}
	}
	return strings.Join(out, "\n")
}

// results are the texts of the results in the newest message, in order.
func (r *request) results() []string {
	var out []string
	for _, b := range r.last().blocks {
		if b.Get("type").Str == "tool_result" {
			out = append(out, texts(blocksOf(b.Get("content"))))
		}
	}
	return out
}

func (r *request) resultError() bool {
	for _, b := range r.last().blocks {
		if b.Get("type").Str == "tool_result" && b.Get("is_error").Bool() {
			return true
		}
	}
	return false
}

func (r *request) replies() int {
	n := 0
	for _, m := range r.messages {
		if m.role == "assistant" {
			n++
		}
	}
	return n
}

func (r *request) offers(tool string) bool {
	for _, t := range r.tools {
		if t.Get("name").String() == tool {
			return true
		}
	}
	return false
}

// text is everything in a message that can be read as text.
func (m message) text() string {
	var out []string
	for _, b := range m.blocks {
		switch b.Get("type").Str {
		case "text":
			out = append(out, b.Get("text").String())
		case "tool_use":
			out = append(out, b.Get("name").String()+" "+b.Get("input").Raw)
		case "tool_result":
			out = append(out, texts(blocksOf(b.Get("content"))))
		}
	}
	return strings.Join(out, "\n")
}

func (r *request) seen(s string) bool {
	for _, m := range r.messages {
		if strings.Contains(m.text(), s) {
			return true
		}
	}
	return false
}

// cwdExpr finds the working directory in an environment section.
var cwdExpr = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?im)^[\t >*-]*(?:primary |current )?working directory:[\t ]*(.+?)[\t ]*$`)
})

// find searches for an expression as Step.Capture says.
func (r *request) find(re *regexp.Regexp) (string, bool) {
	for i := len(r.messages) - 1; i >= 0; i-- {
		if m := re.FindStringSubmatch(r.messages[i].text()); m != nil {
			return m[1], true
		}
	}
	if m := re.FindStringSubmatch(texts(r.system)); m != nil {
		return m[1], true
	}
	return "", false
}

// tokens is the scripted model's count of the prompt.
func (r *request) tokens(bytesPerToken float64) int {
	if bytesPerToken <= 0 {
		bytesPerToken = 4
	}
	n := float64(len(r.toolsRaw) + len(r.systemRaw))
	images := 0
	for _, m := range r.messages {
		n += float64(len(m.raw))
		if !strings.Contains(m.raw, `"base64"`) {
			continue
		}
		for _, im := range imagesOf(m) {
			n -= float64(len(im.Get("source.data").Raw))
			images++
		}
	}
	return max(1, int(n/bytesPerToken)+1600*images)
}

// imagesOf lists the images of a message, those in results too.
func imagesOf(m message) []gjson.Result {
	var out []gjson.Result
	var walk func([]gjson.Result)
	walk = func(blocks []gjson.Result) {
		for _, b := range blocks {
			switch b.Get("type").Str {
			case "image":
				out = append(out, b)
			case "tool_result":
				walk(blocksOf(b.Get("content")))
			}
		}
	}
	walk(m.blocks)
	return out
}

// quote writes a JSON string without HTML escaping.
func quote(s string) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(s) // a string always encodes
	return strings.TrimSuffix(b.String(), "\n")
}
