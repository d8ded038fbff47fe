package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
)

const (
	treeFiles = 10_000
	perFolder = 20
	rareWord  = "ConnectionPool" // in every fiftieth file, here and there in another case
)

// searchTree is a folder with treeFiles files of made-up code, some 90 MB, the same in every run, with ignore rules as in a repository.
func (l *lab) searchTree() (string, error) {
	if l.tree != "" {
		return l.tree, nil
	}
	root := l.path("tree")
	if err := os.MkdirAll(filepath.Join(root, ".git"), 0o700); err != nil { // without it, ripgrep takes no ignore rules
		return "", err
	}
	if err := os.WriteFile(filepath.Join(root, ".gitignore"), []byte("*.log\n/build/\nnode_modules/\n*.min.js\n"), 0o600); err != nil {
		return "", err
	}
	a := &author{Rand: rand.New(rand.NewPCG(1, 2))}
	for range 3000 {
		a.words = append(a.words, a.word())
	}
	suffixes := []string{".go", "_test.go", ".md", ".ts", ".json"}
	for i := range treeFiles {
		n := i / perFolder
		folder := filepath.Join(root, fmt.Sprintf("area%02d", n/25), fmt.Sprintf("part%02d", n%25))
		if i%perFolder == 0 {
			if err := os.MkdirAll(folder, 0o700); err != nil {
				return "", err
			}
		}
		name := filepath.Join(folder, fmt.Sprintf("file%05d%s", i, suffixes[i%len(suffixes)]))
		if err := os.WriteFile(name, a.file(i), 0o600); err != nil {
			return "", err
		}
	}
	l.tree = root
	return root, nil
}

// author writes files out of a vocabulary.
type author struct {
	*rand.Rand
	words []string
}

func (a *author) word() string {
	b := make([]byte, 3+a.IntN(8))
	for i := range b {
		b[i] = "etaoinshrdlucmfwypvbgkqjxz"[min(a.IntN(26), a.IntN(26))]
	}
	return string(b)
}

// file has 20 to 500 lines.
func (a *author) file(n int) []byte {
	var b bytes.Buffer
	lines := 20 + a.IntN(a.IntN(480)+1)
	for line := range lines {
		switch {
		case n%50 == 0 && line == lines/2:
			fmt.Fprintf(&b, "\tpool := New%s(%d) // the connectionpool of %s\n", rareWord, line, a.pick())
		case n%70 == 0 && line == lines/2:
			fmt.Fprintf(&b, "// the CONNECTIONPOOL is %s\n", a.pick())
		case n%90 == 0 && line == lines/3:
			fmt.Fprintf(&b, "func %s(ctx context.Context, key string) error {\n", a.pick())
		case n%110 == 0 && line == lines/3:
			fmt.Fprintf(&b, "const id = 0x %04dab\n", a.IntN(10_000))
		case line%12 == 0:
			fmt.Fprintf(&b, "func %s(ctx context.Context, %s int) error {\n", a.pick(), a.pick())
		case line%7 == 0:
			fmt.Fprintf(&b, "\tif %s != %d {\n", a.pick(), a.IntN(10_000))
		default:
			b.WriteByte('\t')
			for range 2 + a.IntN(12) {
				b.WriteString(a.pick())
				b.WriteByte(' ')
			}
			b.WriteByte('\n')
		}
	}
	return b.Bytes()
}

func (a *author) pick() string { return a.words[a.IntN(len(a.words))] }
