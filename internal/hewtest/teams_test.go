package hewtest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/hew-agent/hew/internal/backend/provider/script"
)

// TestTeamWorksOffItsList lets hew processes claim tasks of one list while
// random ones are killed: no two that live ever have the same task, each is
// completed once, and the list is worked off.
func TestTeamWorksOffItsList(t *testing.T) { teamKills(t, 3, 15, 3) }

// crew is several hew processes, and the model that all of them talk to.
type crew struct {
	*world
	t     *testing.T
	mu    sync.Mutex
	rnd   *rand.Rand
	tasks int
	lives map[string]*hew   // by the words of their prompts: "m3 life 2"
	dead  map[string]bool   // killed
	owner map[string]string // who was told that a task is its own
	done  map[string]bool   // known to be completed
	ends  map[string]int    // how often somebody was told that it completed a task
	fault []string
	kill  map[int]bool // numbers of requests at which the sender is killed
	asked int
	due   int         // kills that wait for a sender who lives
	over  chan string // the words of those that have ended
}

// teamKills lets processes work a list of tasks off and kills so many of them.
func teamKills(t *testing.T, processes, tasks, kills int) {
	c := &crew{
		t: t, rnd: rand.New(rand.NewPCG(seed(t), 11)), tasks: tasks, lives: map[string]*hew{}, dead: map[string]bool{}, owner: map[string]string{},
		done: map[string]bool{}, ends: map[string]int{}, kill: map[int]bool{}, over: make(chan string, processes+kills),
	}
	for len(c.kill) < kills { // a task takes two requests at least
		c.kill[1+c.rnd.IntN(2*tasks)] = true
	}
	srv := httptest.NewServer(c)
	t.Cleanup(func() { srv.CloseClientConnections(); srv.Close() })
	c.world = newWorld(t, &script.Scenario{Steps: []script.Step{}},
		"ANTHROPIC_BASE_URL="+srv.URL, "CLAUDE_CODE_PRINT_BG_WAIT_CEILING_MS=1")
	c.list()
	for i := range processes {
		c.live(fmt.Sprintf("m%d", i), 1)
	}
	for running := processes; running > 0; running-- {
		words := <-c.over
		if !c.killed(words) {
			continue
		}
		var name string
		var life int
		if _, err := fmt.Sscanf(words, "%s life %d", &name, &life); err != nil {
			t.Fatal(err)
		}
		c.live(name, life+1)
		running++
	}
	c.judge()
}

// list writes the team's tasks as files.
func (c *crew) list() {
	dir := filepath.Join(c.home, ".claude", "tasks", "crew")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		c.t.Fatal(err)
	}
	for i := range c.tasks {
		text := fmt.Sprintf(`{"id":"%d","subject":"work","description":"d","status":"pending","blocks":[],"blockedBy":[]}`, i+1)
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%d.json", i+1)), []byte(text), 0o600); err != nil {
			c.t.Fatal(err)
		}
	}
}

// live starts a member for the life-th time.
func (c *crew) live(name string, life int) {
	words := fmt.Sprintf("%s life %d", name, life)
	c.mu.Lock()
	defer c.mu.Unlock()
	h := c.start(launch{args: []string{"-p", "you are " + words + ".", "--team-name", "crew", "--agent-name", name}})
	c.lives[words] = h
	if err := h.in.Close(); err != nil { // nothing comes that it would have to wait for
		c.t.Error(err)
	}
	go func() {
		<-h.ended
		c.over <- words
	}()
}

// killed tells whether a member was killed; one that was not has ended well.
func (c *crew) killed(words string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	h := c.lives[words]
	if code := h.wait(); code != 0 && !c.dead[words] {
		c.t.Errorf("%s ended with %d: %s", words, code, h.stderr.String())
	}
	return c.dead[words]
}

var memberWords = regexp.MustCompile(`you are (m\d+ life \d+)\.`)

// ServeHTTP answers a member: it tries to take a task, completes what it has,
// and ends when there is nothing left.
func (c *crew) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the sender was killed
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	step := script.Step{Reply: []script.Reply{{Text: "ok"}}}
	if found := memberWords.FindSubmatch(body); found != nil && r.Header.Get("X-Hew-Side") == "" {
		step.Reply = c.reply(string(found[1]), body)
	}
	one, err := json.Marshal(&script.Scenario{Steps: []script.Step{step}})
	if err != nil {
		c.t.Error(err)
		return
	}
	sc, err := script.Parse(one)
	if err != nil {
		c.t.Error(err)
		return
	}
	script.New(sc, script.Config{}).ServeHTTP(w, r)
}

func (c *crew) reply(words string, body []byte) []script.Reply {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.learn(words, body)
	c.asked++
	if c.kill[c.asked] {
		c.due++
	}
	if c.due > 0 && !c.dead[words] {
		c.due--
		c.dead[words] = true
		c.lives[words].kill()
	}
	for id, who := range c.owner {
		if who == words && !c.done[id] {
			return c.call(id, "completed")
		}
	}
	var open []string
	for i := 1; i <= c.tasks && len(open) < 6; i++ { // few, so that they meet
		if id := fmt.Sprint(i); !c.done[id] && (c.owner[id] == "" || c.dead[c.owner[id]]) {
			open = append(open, id)
		}
	}
	if len(open) > 0 {
		return c.call(open[c.rnd.IntN(len(open))], "in_progress")
	}
	return []script.Reply{{Text: "nothing left for me"}}
}

func (c *crew) call(id, status string) []script.Reply {
	input := fmt.Sprintf(`{"taskId":%q,"status":%q}`, id, status)
	return []script.Reply{{Tool: "TaskUpdate", ID: fmt.Sprintf("toolu_%06d", c.asked), Input: json.RawMessage(input)}}
}

var completedAlready = regexp.MustCompile(`Task #(\d+) is completed already`)

// learn reads what became of the member's last call.
func (c *crew) learn(words string, body []byte) {
	all := gjson.GetBytes(body, "messages").Array()
	if len(all) < 2 {
		return
	}
	var text strings.Builder
	for _, b := range all[len(all)-1].Get("content").Array() {
		if b.Get("type").String() == "tool_result" {
			text.WriteString(b.Get("content").String())
		}
	}
	var call gjson.Result
	for _, b := range all[len(all)-2].Get("content").Array() {
		if b.Get("type").String() == "tool_use" {
			call = b.Get("input")
		}
	}
	id := call.Get("taskId").String()
	if m := completedAlready.FindStringSubmatch(text.String()); m != nil {
		c.done[m[1]] = true
	}
	if !strings.Contains(text.String(), "Updated task #"+id+" ") {
		return
	}
	switch who := c.owner[id]; {
	case call.Get("status").String() == "completed":
		c.done[id] = true
		c.ends[id]++
	case who != "" && who != words && !c.dead[who]:
		c.fault = append(c.fault, fmt.Sprintf("%s was given #%s while %s had it", words, id, who))
	case c.ends[id] > 0:
		c.fault = append(c.fault, fmt.Sprintf("%s was given #%s, which was completed", words, id))
	default:
		c.owner[id] = words
	}
}

// judge reads the list as it lies on the disk.
func (c *crew) judge() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, f := range c.fault {
		c.t.Error(f)
	}
	for i := range c.tasks {
		id := fmt.Sprint(i + 1)
		raw, err := os.ReadFile(filepath.Join(c.home, ".claude", "tasks", "crew", id+".json"))
		if err != nil || gjson.GetBytes(raw, "status").String() != "completed" || gjson.GetBytes(raw, "owner").String() == "" {
			c.t.Errorf("task %s: %s %v", id, raw, err)
		}
		if c.ends[id] > 1 {
			c.t.Errorf("task %s was completed %d times", id, c.ends[id])
		}
	}
	c.t.Logf("%d requests, %d killed", c.asked, len(c.dead))
}
