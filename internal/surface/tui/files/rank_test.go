package files

import (
	"context"
	"fmt"
	"testing"
)

func planted(n int) *store {
	s := &store{most: n}
	dirs := []string{"src", "internal", "lib", "test", "vendor", "packages", "components", "services"}
	words := []string{"user", "session", "editor", "config", "parser", "window", "button", "router", "network", "storage", "render", "buffer"}
	for i := 0; s.n < n; i++ {
		s.add(fmt.Sprintf("%s/%s/%s_%d/%s_%s%d.go", dirs[i%8], words[i/8%12], words[i/96%12], i/1000, words[i/7%12], words[i/5%12], i))
	}
	return s
}

func BenchmarkRank500k(b *testing.B) {
	s := planted(500_000)
	for _, q := range []string{"e", "ed", "edi", "edit", "usrsess", "internal/user", "zzz", "router_button77"} {
		b.Run(q, func(b *testing.B) {
			for b.Loop() {
				rank(context.Background(), s.chunks, q, 100, nil)
			}
		})
	}
	b.Run("typed", func(b *testing.B) {
		for b.Loop() {
			var p *narrowed
			for i := range "editor_ren" {
				_, p = rank(context.Background(), s.chunks, "editor_ren"[:i+1], 100, p)
			}
		}
	})
}
