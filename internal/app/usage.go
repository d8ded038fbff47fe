package app

import (
	"fmt"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/hew-agent/hew/internal/wiring"
)

// runUsage adds up what the transcripts of all projects say was used.
func runUsage(e Env, args []string) error {
	q := wiring.UsageQuery{By: "model"}
	asJSON := false
	for i := 0; i < len(args); i++ {
		name, value, given := strings.Cut(args[i], "=")
		if name == "--json" && !given {
			asJSON = true
			continue
		}
		if name != "--by" && name != "--since" {
			return &usageError{"hew usage takes: [--since WHEN] [--by model|project|day|agent|tool] [--json]"}
		}
		if !given {
			if i++; i == len(args) {
				return &usageError{name + " needs a value"}
			}
			value = args[i]
		}
		if name == "--by" {
			q.By = value
			continue
		}
		at, err := sinceWhen(value, time.Now())
		if err != nil {
			return &usageError{err.Error()}
		}
		q.Since = at
	}
	rows, err := wiring.Usage(wiring.Options{Environ: e.Environ, Cwd: e.Dir, Sources: "user,project,local"}, q)
	if err != nil {
		return err
	}
	if asJSON {
		return printJSON(e.Stdout, rows)
	}
	w := tabwriter.NewWriter(e.Stdout, 0, 4, 2, ' ', 0)
	fmt.Fprintf(w, "%s\tREQUESTS\tINPUT\tCACHE WRITE\tCACHE READ\tOUTPUT\tUSD\n", strings.ToUpper(q.By))
	var sum float64
	for _, r := range rows {
		cost := fmt.Sprintf("%.4f", r.CostUSD)
		if r.Unpriced > 0 {
			cost += fmt.Sprintf(" (%d without a price)", r.Unpriced)
		}
		sum += r.CostUSD
		u := r.Usage
		fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%d\t%d\t%s\n", r.Key, r.Requests, u.InputTokens, u.CacheCreationInputTokens, u.CacheReadInputTokens, u.OutputTokens, cost)
	}
	fmt.Fprintf(w, "total\t\t\t\t\t\t%.4f\n", sum)
	return w.Flush()
}

// sinceWhen reads a date (2026-11-30), a time (RFC 3339), or an age (12h, 7d).
func sinceWhen(s string, now time.Time) (time.Time, error) {
	if at, err := time.ParseInLocation(time.DateOnly, s, time.Local); err == nil {
		return at, nil
	}
	if at, err := time.Parse(time.RFC3339, s); err == nil {
		return at, nil
	}
	if days, ok := strings.CutSuffix(s, "d"); ok {
		if n, err := strconv.Atoi(days); err == nil && n >= 0 {
			return now.AddDate(0, 0, -n), nil
		}
	}
	if d, err := time.ParseDuration(s); err == nil && d >= 0 {
		return now.Add(-d), nil
	}
	return time.Time{}, fmt.Errorf("--since %s is no date (2026-11-30), time, or age (12h, 7d)", s)
}
