package files

import "bytes"

// chunkPaths is how many paths a chunk holds: a worker takes one at a time.
const chunkPaths = 4096

// maxPaths bounds the memory: about 100 MB for paths of 80 bytes.
const maxPaths = 1 << 20

// chunk is paths one after another. A folder's path ends with a slash. A full
// chunk is never changed.
type chunk struct {
	text  []byte
	ends  []uint32
	masks []uint64
}

func (c *chunk) add(path string) {
	c.text = append(c.text, path...)
	c.ends = append(c.ends, uint32(len(c.text)))
	c.masks = append(c.masks, mask(path))
}

func (c *chunk) path(i int) []byte {
	from := uint32(0)
	if i > 0 {
		from = c.ends[i-1]
	}
	return c.text[from:c.ends[i]:c.ends[i]]
}

// mask has a bit for each kind of character in s, without regard of case. What
// has other characters than ASCII could match anything.
func mask[T string | []byte](s T) uint64 {
	var m uint64
	for i := range len(s) {
		m |= bit(s[i])
	}
	return m
}

func bit(c byte) uint64 {
	switch {
	case c >= 0x80:
		return ^uint64(0)
	case c >= 'a' && c <= 'z':
		return 1 << (c - 'a')
	case c >= 'A' && c <= 'Z':
		return 1 << (c - 'A')
	case c >= '0' && c <= '9':
		return 1 << (26 + c - '0')
	}
	return 1 << (36 + c%28)
}

// store is the paths of a folder. It only grows.
type store struct {
	chunks []*chunk
	n      int
	most   int
}

// add takes a path, or refuses it when there are too many.
func (s *store) add(path string) bool {
	if s.n >= s.most {
		return false
	}
	if len(s.chunks) == 0 || len(s.chunks[len(s.chunks)-1].ends) == chunkPaths {
		s.chunks = append(s.chunks, &chunk{})
	}
	s.chunks[len(s.chunks)-1].add(path)
	s.n++
	return true
}

// base is where the last name of a path begins.
func base(path []byte) int {
	return bytes.LastIndexByte(path[:max(0, len(path)-1)], '/') + 1
}
