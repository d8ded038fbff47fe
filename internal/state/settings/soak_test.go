package settings

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/hew-agent/hew/internal/backend/fsys"
)

// workerEnv makes the test binary a process that updates settings: "<home>|<worker>|<updates>".
const workerEnv = "HEW_TEST_SETTINGS_WORKER"

func TestMain(m *testing.M) {
	if spec := os.Getenv(workerEnv); spec != "" {
		os.Exit(work(spec))
	}
	os.Exit(m.Run())
}

// work writes one key after the other and acknowledges each on stdout once Set has returned.
func work(spec string) int {
	parts := bytes.Split([]byte(spec), []byte("|"))
	updates, err := strconv.Atoi(string(parts[2]))
	if err != nil {
		return 2
	}
	c := Config{Home: Home{Dir: string(parts[0])}}
	for i := range updates {
		key := fmt.Sprintf("w%s-%d", parts[1], i)
		if err := c.Set(context.Background(), User, i, "soak", key); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		if _, err := fmt.Println(key); err != nil {
			return 0 // the parent is gone
		}
	}
	return 0
}

// Many processes update one file while some are killed without warning: no acknowledged update is lost, the file parses
// at every instant, and a dead holder's lock holds up nobody. HEW_SOAK=1 runs the full numbers.
func TestConcurrentProcesses(t *testing.T) {
	processes, updates, kills := 6, 25, 2
	if os.Getenv("HEW_SOAK") == "1" {
		processes, updates, kills = 20, 200, 8
	}
	home, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	path := Home{Dir: home}.Settings()
	must(t, os.WriteFile(path, []byte("{\n  \"keep\": [1, 2]\n}\n"), 0o600))

	stop := make(chan struct{})
	polls := make(chan int, 1)
	go func() { polls <- pollFile(t, path, stop) }()

	var (
		wg    sync.WaitGroup
		mu    sync.Mutex
		acked []string
		total int
	)
	for i := range processes {
		killAfter := -1
		if i < kills {
			killAfter = 1 + rand.IntN(updates-1)
		}
		wg.Go(func() {
			got := runWorker(t, home, i, updates, killAfter)
			mu.Lock()
			defer mu.Unlock()
			acked = append(acked, got...)
			if killAfter < 0 {
				total += updates
			}
		})
	}
	wg.Wait()
	close(stop)
	if n := <-polls; n == 0 {
		t.Error("the file was never read")
	}
	checkAcked(t, path, acked, total)

	// The dead hold nothing up.
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	must(t, Config{Home: Home{Dir: home}}.Set(ctx, User, true, "after"))
	entries, err := os.ReadDir(home)
	must(t, err)
	if len(entries) != 1 {
		t.Errorf("left over in the folder: %v", entries)
	}
}

// runWorker returns the keys that a worker acknowledged. With killAfter ≥ 0 it is killed at a random instant after
// that many.
func runWorker(t *testing.T, home string, id, updates, killAfter int) (acked []string) {
	cmd := exec.Command(os.Args[0], "-test.run=^$")
	cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%s|%d|%d", workerEnv, home, id, updates))
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Error(err)
		return nil
	}
	lines := bufio.NewReader(out)
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			if err != io.EOF {
				t.Error(err)
			}
			break
		}
		acked = append(acked, line[:len(line)-1])
		if len(acked) == killAfter {
			time.AfterFunc(time.Duration(rand.IntN(8000))*time.Microsecond, func() { _ = cmd.Process.Kill() })
		}
	}
	if err := cmd.Wait(); err != nil && killAfter < 0 {
		t.Errorf("worker %d: %v\n%s", id, err, stderr.String())
	}
	return acked
}

// pollFile reads the file again and again and returns how often.
func pollFile(t *testing.T, path string, stop <-chan struct{}) (n int) {
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-stop:
			return n
		case <-tick.C:
			raw, err := os.ReadFile(path)
			if err == nil {
				err = fsys.CheckJSON(raw)
			}
			if err != nil || len(raw) == 0 {
				t.Errorf("read %d: %d bytes, %v", n, len(raw), err)
			}
			n++
		}
	}
}

func checkAcked(t *testing.T, path string, acked []string, atLeast int) {
	t.Helper()
	var file struct {
		Keep []int
		Soak map[string]int
	}
	must(t, json.Unmarshal([]byte(text(t, path)), &file))
	for _, key := range acked {
		if _, ok := file.Soak[key]; !ok {
			t.Errorf("the acknowledged update %s is lost", key)
		}
	}
	if len(acked) < atLeast || len(file.Keep) != 2 {
		t.Errorf("%d updates acknowledged of %d at least; keep is %v", len(acked), atLeast, file.Keep)
	}
	t.Logf("%d updates acknowledged, %d in the file", len(acked), len(file.Soak))
}
