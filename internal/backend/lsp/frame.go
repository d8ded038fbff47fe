package lsp

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
)

// Bounds of what a server may send, in bytes.
const (
	maxHeader  = 4 << 10
	maxMessage = 64 << 20
)

// readFrame reads one message: header lines as in HTTP, an empty line, and as
// many bytes as Content-Length says (Language Server Protocol 3.17, base protocol).
func readFrame(r *bufio.Reader) ([]byte, error) {
	length, read := -1, 0
	for {
		line, err := r.ReadSlice('\n')
		if errors.Is(err, io.EOF) && read+len(line) == 0 {
			return nil, io.EOF
		}
		if err != nil {
			return nil, fmt.Errorf("read the head of a message: %w", unexpected(err))
		}
		if read += len(line); read > maxHeader {
			return nil, fmt.Errorf("the head of a message is longer than %d bytes", maxHeader)
		}
		line = bytes.TrimRight(line, "\r\n")
		if len(line) == 0 {
			break
		}
		name, value, ok := bytes.Cut(line, []byte(":"))
		if !ok {
			return nil, fmt.Errorf("%q is no line of a message's head", clip(line))
		}
		if !bytes.EqualFold(bytes.TrimSpace(name), []byte("Content-Length")) {
			continue
		}
		if length, err = strconv.Atoi(string(bytes.TrimSpace(value))); err != nil || length < 0 {
			return nil, fmt.Errorf("%q is no length of a message", clip(value))
		}
	}
	if length < 0 {
		return nil, errors.New("a message has no Content-Length")
	}
	if length > maxMessage {
		return nil, fmt.Errorf("a message of %d bytes is longer than the %d that are taken", length, maxMessage)
	}
	// Grown as the bytes come: a length is only a claim.
	var body bytes.Buffer
	if n, err := io.CopyN(&body, r, int64(length)); err != nil {
		return nil, fmt.Errorf("read a message: %d of %d bytes came: %w", n, length, unexpected(err))
	}
	return body.Bytes(), nil
}

func unexpected(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

func clip(b []byte) string { return string(b[:min(len(b), 80)]) }

// frame puts a head before a message.
func frame(body []byte) []byte {
	return append([]byte("Content-Length: "+strconv.Itoa(len(body))+"\r\n\r\n"), body...)
}
