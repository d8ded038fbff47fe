//go:build race

package hewtest

const raced = true
