package app

import (
	"bufio"
	"crypto/pbkdf2"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/hew-agent/hew/internal/backend/plain"
)

// The form of a password file: a name, rounds, salt and hash, parted by '$'.
const (
	hashName   = "pbkdf2-sha256"
	hashRounds = 600_000 // about 0.3 s, what is recommended for this hash
	minRounds  = 100_000
	hashSize   = 32
	minLetters = 10
)

// hashPassword reads a password from standard input and prints what a password
// file holds.
func hashPassword(e Env) error {
	if e.StdinTTY {
		fmt.Fprint(e.Stderr, "password (it shows while you type): ")
	}
	line, err := bufio.NewReader(e.Stdin).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("read the password from standard input: %w", err)
	}
	line = strings.TrimRight(line, "\r\n")
	if len(line) < minLetters {
		return fmt.Errorf("a password for hew serve has at least %d letters: it opens a door through which programs can be run", minLetters)
	}
	salt := make([]byte, 16)
	_, _ = rand.Read(salt) // never fails
	sum, err := pbkdf2.Key(sha256.New, line, salt, hashRounds, hashSize)
	if err != nil {
		return err
	}
	text := base64.RawStdEncoding.EncodeToString
	_, err = fmt.Fprintf(e.Stdout, "%s$%d$%s$%s\n", hashName, hashRounds, text(salt), text(sum))
	return err
}

// passwords reads a password file and returns what checks a password against it.
func passwords(path string) (func(string) bool, error) {
	data, err := readOption(path)
	if err != nil {
		return nil, fmt.Errorf("--password-file: %w", err)
	}
	parts := strings.Split(strings.TrimSpace(string(data)), "$")
	bad := &usageError{fmt.Sprintf("--password-file: %s is not what hew serve --hash-password prints", plain.Line(path))}
	if len(parts) != 4 || parts[0] != hashName {
		return nil, bad
	}
	rounds, err := strconv.Atoi(parts[1])
	if err != nil || rounds < minRounds {
		return nil, bad
	}
	salt, err1 := base64.RawStdEncoding.DecodeString(parts[2])
	want, err2 := base64.RawStdEncoding.DecodeString(parts[3])
	if err1 != nil || err2 != nil || len(salt) < 8 || len(want) != hashSize {
		return nil, bad
	}
	return func(p string) bool {
		got, err := pbkdf2.Key(sha256.New, p, salt, rounds, hashSize)
		return err == nil && subtle.ConstantTimeCompare(got, want) == 1
	}, nil
}
