package endpoint

import (
	"bufio"
	"compress/gzip"
	"io"
)

// unzipped is the body of an answer that says it is compressed. hew asks for
// plain answers, but some gateways compress all the same, and some say so and
// do not: the first bytes decide, when they are there.
type unzipped struct {
	from io.ReadCloser
	r    io.Reader
}

func (u *unzipped) Read(p []byte) (int, error) {
	if u.r == nil {
		br := bufio.NewReader(u.from)
		u.r = br
		if magic, err := br.Peek(2); err == nil && magic[0] == 0x1f && magic[1] == 0x8b {
			z, err := gzip.NewReader(br)
			if err != nil {
				return 0, err
			}
			u.r = z
		}
	}
	return u.r.Read(p)
}

func (u *unzipped) Close() error { return u.from.Close() }
