package session

import (
	"encoding/json"
	"iter"
	"slices"

	"github.com/tidwall/gjson"
)

// tree is the index of a loader with the parents that count: compact
// boundaries relink preserved messages behind their summary.
type tree struct {
	*loader
	parentOf map[int]int  // overrides by index in recs
	gone     map[int]bool // retracted
	kids     children
	withheld []string
}

// newTree applies the entries that change the meaning of others.
func (l *loader) newTree() (*tree, error) {
	t := &tree{loader: l, parentOf: map[int]int{}, gone: map[int]bool{}, kids: newChildren(len(l.recs))}
	t.unfinished()
	old := t.settled()
	for i, r := range l.recs {
		if r.kind != kindSystem || r.sidechain || t.gone[i] {
			continue
		}
		switch r.subtype {
		case "retracted":
			if err := t.retract(i); err != nil {
				return nil, err
			}
		case quarantine:
			if err := t.quarantine(i); err != nil {
				return nil, err
			}
		case boundarySubtype:
			if i < old {
				continue
			}
			if err := t.relink(i); err != nil {
				return nil, err
			}
		}
	}
	for i, r := range slices.Backward(l.recs) {
		if r.sidechain {
			continue
		}
		if at, ok := l.byID[or(r.source, r.parent)]; ok && at != i {
			t.kids.before(at, i)
		}
	}
	return t, nil
}

// children are the entries that hang on each entry, in two numbers an entry: a
// session that nobody compacts has a million of them.
type children struct{ first, next []int32 }

func newChildren(n int) children { return children{make([]int32, n), make([]int32, n)} }

// before puts the child i in front of those of at; numbers are from 1, 0 is none.
func (c children) before(at, i int) {
	c.next[i], c.first[at] = c.first[at], int32(i+1)
}

// of yields the children of at in their order.
func (c children) of(at int) iter.Seq[int] {
	return func(yield func(int) bool) {
		for k := c.first[at]; k != 0; k = c.next[k-1] {
			if !yield(int(k - 1)) {
				return
			}
		}
	}
}

// maxRelinked is how many compactions are relinked, each of which may walk the
// whole file: a forged file of nothing else must not keep anybody waiting for
// minutes. What a compaction kept has left the conversation many windows later.
const maxRelinked = 64

// settled is the index of the oldest boundary that is still relinked.
func (t *tree) settled() int {
	n := 0
	for i, r := range slices.Backward(t.recs) {
		if r.kind != kindSystem || r.subtype != boundarySubtype || r.sidechain || t.gone[i] {
			continue
		}
		if n++; n == maxRelinked {
			return i
		}
	}
	return 0
}

func (t *tree) retract(i int) error {
	line, err := t.read(t.recs[i].off, t.recs[i].size)
	if err != nil {
		return err
	}
	gjson.GetBytes(line, "retractedUuids").ForEach(func(_, v gjson.Result) bool {
		if at, ok := t.byID[v.String()]; ok {
			t.gone[at] = true
		}
		return true
	})
	return nil
}

// maxWithheld bounds what a forged file makes hew remember.
const maxWithheld = 10_000

func (t *tree) quarantine(i int) error {
	line, err := t.read(t.recs[i].off, t.recs[i].size)
	if err != nil {
		return err
	}
	gjson.GetBytes(line, "withheldBlocks").ForEach(func(_, v gjson.Result) bool {
		t.withheld = append(t.withheld, v.String())
		return len(t.withheld) < maxWithheld
	})
	return nil
}

// relink hangs the messages that a boundary preserved behind its summary (the
// anchor), and what followed the summary behind the last of them.
func (t *tree) relink(i int) error {
	r := t.recs[i]
	line, err := t.read(r.off, r.size)
	if err != nil {
		return err
	}
	var meta struct {
		Segment struct{ HeadUUID, AnchorUUID, TailUUID string } `json:"preservedSegment"`
		Kept    struct {
			AnchorUUID      string
			UUIDs, AllUUIDs []string
		} `json:"preservedMessages"`
	}
	raw := gjson.GetBytes(line, "compactMetadata").Raw
	if raw == "" || json.Unmarshal([]byte(raw), &meta) != nil {
		return nil
	}
	t.expect(append([]string{meta.Segment.HeadUUID, meta.Segment.TailUUID}, meta.Kept.UUIDs...)...)
	anchor, ok := t.byID[or(meta.Kept.AnchorUUID, meta.Segment.AnchorUUID)]
	kept := t.indexes(meta.Kept.UUIDs)
	if len(kept) == 0 {
		kept = t.indexes(meta.Kept.AllUUIDs)
	}
	if len(kept) == 0 {
		kept = t.segment(meta.Segment.HeadUUID, meta.Segment.TailUUID)
	}
	if len(kept) == 0 {
		return nil
	}
	if !ok || slices.Contains(kept, anchor) {
		t.report(r.line, "the messages that this compaction kept are left out: its summary is not in the file")
		return nil
	}
	prev := anchor
	for _, k := range kept {
		t.parentOf[k] = prev
		prev = k
	}
	for j := i + 1; j < len(t.recs); j++ {
		if t.recs[j].subtype == rewound {
			continue // it says itself where the conversation ends
		}
		if t.recs[j].parent == t.recs[anchor].uuid && !slices.Contains(kept, j) && j != anchor {
			t.parentOf[j] = prev
		}
	}
	return nil
}

// expect notes when an entry that counts is not in the window.
func (t *tree) expect(uuids ...string) {
	for _, u := range uuids {
		if _, ok := t.byID[u]; u != "" && !ok && t.windowed {
			t.outside = true
		}
	}
}

func (t *tree) indexes(uuids []string) []int {
	var out []int
	for _, u := range uuids {
		if at, ok := t.byID[u]; ok && !slices.Contains(out, at) {
			out = append(out, at)
		}
	}
	return out
}

// segment walks from tail up to head and returns it in order; nil when head is
// not above tail. What an earlier compaction kept may be kept again, so its links count.
func (t *tree) segment(head, tail string) []int {
	var out []int
	seen := map[int]bool{}
	next := func(at int) (int, bool) {
		if up, ok := t.parentOf[at]; ok {
			return up, true
		}
		up, ok := t.byID[t.recs[at].parent]
		return up, ok
	}
	for at, ok := t.byID[tail]; ok && !seen[at]; at, ok = next(at) {
		seen[at] = true
		out = append(out, at)
		if t.recs[at].uuid == head {
			slices.Reverse(out)
			return out
		}
	}
	return nil
}

// leaf is the newest entry of the conversation, -1 when there is none.
func (t *tree) leaf() int {
	for i := len(t.recs) - 1; i >= 0; i-- {
		r := t.recs[i]
		if r.kind == kindOther || r.sidechain || t.gone[i] {
			continue
		}
		if t.orphaned(i) {
			continue
		}
		return i
	}
	return -1
}

// orphaned tells that i is the result of a retracted call.
func (t *tree) orphaned(i int) bool {
	r := t.recs[i]
	at, ok := t.byID[or(r.source, r.parent)]
	return ok && r.result && t.gone[at]
}

// up is the entry before i on the way to the root; -1 ends the way.
func (t *tree) up(i int, seen []bool) int {
	at, ok := t.parentOf[i]
	if !ok {
		r := t.recs[i]
		if r.parent == "" {
			return -1
		}
		t.expect(r.parent)
		at, ok = t.byID[r.parent]
	}
	if ok && !seen[at] {
		return at
	}
	// The link is broken. What stands before it in the file was said before it,
	// and losing all of it would be worse than one wrong link.
	why := "its parent is not in the file"
	if ok {
		why = "the parents form a circle"
	}
	for at = i - 1; at >= 0; at-- {
		if r := t.recs[at]; r.kind != kindOther && !r.sidechain && !t.gone[at] && !seen[at] {
			t.report(t.recs[i].line, "%s; continued with line %d", why, r.line)
			return at
		}
	}
	t.report(t.recs[i].line, "%s", why)
	return -1
}

// walk returns the way from the root to the leaf, retracted entries left out.
func (t *tree) walk(leaf int) []int {
	var out []int
	seen := make([]bool, len(t.recs))
	for at := leaf; at >= 0; at = t.up(at, seen) {
		seen[at] = true
		if !t.gone[at] {
			out = append(out, at)
		}
	}
	slices.Reverse(out)
	return out
}

// reply is one model reply of the way, with the entries that hang off it.
type reply struct {
	blocks  []int
	results []int
}

// reply collects the blocks of the reply that i is a block of, and the results
// of their calls. Blocks that the way does not pass are taken in when a result
// of the reply is on the way: with parallel calls the way leads through one
// result, and what hangs beside it was part of the same turn.
func (t *tree) reply(i int, onWay []bool) reply {
	key := t.recs[i].reply
	if key == "" {
		return reply{blocks: []int{i}, results: t.results([]int{i})}
	}
	group := []int{i}
	seen := map[int]bool{i: true}
	answered := false
	for n := 0; n < len(group); n++ {
		for k := range t.kids.of(group[n]) {
			answered = answered || t.recs[k].result && onWay[k]
			for _, b := range t.below(k, key) {
				if !seen[b] {
					seen[b] = true
					group = append(group, b)
				}
			}
		}
	}
	if !answered {
		group = slices.DeleteFunc(group, func(b int) bool { return !onWay[b] })
	}
	slices.Sort(group)
	return reply{blocks: group, results: t.results(group)}
}

// below returns k itself when it is a block of reply key, or the blocks that
// hang on k when k is a result: some writers chain the next block there.
func (t *tree) below(k int, key string) []int {
	if t.gone[k] {
		return nil
	}
	if t.recs[k].reply == key {
		return []int{k}
	}
	if !t.recs[k].result {
		return nil
	}
	var out []int
	for kk := range t.kids.of(k) {
		if t.recs[kk].reply == key && !t.gone[kk] {
			out = append(out, kk)
		}
	}
	return out
}

// results are the tool results that hang on the blocks, in call order.
func (t *tree) results(blocks []int) []int {
	var out []int
	for _, b := range blocks {
		for k := range t.kids.of(b) {
			if t.recs[k].result && !t.gone[k] {
				out = append(out, k)
			}
		}
	}
	return out
}
