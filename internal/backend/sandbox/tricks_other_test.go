//go:build !linux

package sandbox

func trick([]string) (code int, mine bool) { return 0, false }
