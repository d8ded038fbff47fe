//go:build soak

package hewtest

import (
	"math/rand/v2"
	"os"
	"os/exec"
	"testing"
	"time"
)

// Numbers and the longest time of each part of `make soak`. A part that its
// time ends says how far it came, and fails below half of its number.
const (
	soakKills, soakKillTime   = 200, 40 * time.Minute
	soakTrials, soakTrialTime = 1000, 40 * time.Minute
)

// TestSoakRunningExample kills the running example at random points, in both
// languages in turn; the resumed run ends with the same diff each time.
func TestSoakRunningExample(t *testing.T) {
	rnd := rand.New(rand.NewPCG(seed(t), 2))
	var all []*example
	diffs, clocks := map[*example]string{}, map[*example][]time.Time{}
	for _, name := range []string{"go", "node"} {
		t.Run(name, func(t *testing.T) {
			if name == "node" {
				needNode(t)
			}
			x := loadExample(t, name)
			diffs[x], clocks[x] = x.straight(t)
			all = append(all, x)
		})
	}
	began, hits, n := time.Now(), 0, 0
	for ; n < soakKills && time.Since(began) < soakKillTime && !t.Failed(); n++ {
		x := all[n%len(all)]
		k := point(rnd, clocks[x])
		t.Run(x.name+"-"+k.String(), func(t *testing.T) {
			got, hit := x.killed(t, k)
			if got != diffs[x] {
				t.Errorf("the diff is\n%s\nwant\n%s", got, diffs[x])
			}
			if hit {
				hits++
			}
		})
	}
	t.Logf("%d kill points, %d of them before the end of the run, in %s", n, hits, time.Since(began).Round(time.Second))
	if n < soakKills/2 {
		t.Errorf("only %d of %d kill points were tried", n, soakKills)
	}
}

// TestSoakNothingAcknowledgedIsLost is the property test with many trials.
func TestSoakNothingAcknowledgedIsLost(t *testing.T) {
	if done := trials(t, soakTrials, soakTrialTime); done < soakTrials/2 {
		t.Errorf("only %d of %d trials were run", done, soakTrials)
	}
}

// TestSoakNoHistoryBricksASession is the storm with many runs.
func TestSoakNoHistoryBricksASession(t *testing.T) {
	if done := storms(t, soakTrials, soakTrialTime); done < soakTrials/2 {
		t.Errorf("only %d of %d storms were run", done, soakTrials)
	}
}

// TestSoakSettings runs the concurrency test of the settings in full: 20
// processes, 200 updates each, killed at random.
func TestSoakSettings(t *testing.T) {
	cmd := exec.Command("go", "test", "-count=1", "-timeout=20m", "-run=^TestConcurrentProcesses$", "-v", "../state/settings")
	cmd.Env = append(os.Environ(), "HEW_SOAK=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

// TestSoakPlugins kills many installations and updates of plugins.
func TestSoakPlugins(t *testing.T) { pluginKills(t, 150) }

// TestSoakTeam is a team of eight processes with 200 tasks, killed at random.
func TestSoakTeam(t *testing.T) { teamKills(t, 8, 200, 60) }
