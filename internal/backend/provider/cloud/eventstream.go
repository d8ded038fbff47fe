package cloud

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"

	"github.com/hew-agent/hew/internal/backend/provider"
)

// awsMessage is one message of the AWS event stream encoding; only string
// headers are kept.
type awsMessage struct {
	headers map[string]string
	payload []byte
}

// Sizes of the encoding: two lengths and their checksum, and the last checksum.
const (
	preludeSize  = 12
	trailerSize  = 4
	maxAWSFrame  = 24 << 20
	stringHeader = 7
)

// frames cuts a byte stream into messages and checks both checksums of each.
type frames struct {
	buf  []byte
	take func(awsMessage) error
}

func badFrame(what string) error {
	return &provider.Error{Class: provider.Protocol, Message: "the endpoint sent a damaged frame: " + what}
}

func (f *frames) feed(chunk []byte) error {
	f.buf = append(f.buf, chunk...)
	used := 0
	for {
		n, m, err := nextFrame(f.buf[used:])
		if err != nil {
			return err
		}
		if n == 0 {
			break
		}
		used += n
		if err := f.take(m); err != nil {
			return err
		}
	}
	f.buf = append(f.buf[:0], f.buf[used:]...)
	return nil
}

// end is called when the stream has ended; a frame that was cut off is no error
// of its own, as the reply is not complete then.
func (f *frames) end() error { return nil }

// nextFrame reads one message; n is 0 when it has not come whole.
func nextFrame(b []byte) (n int, m awsMessage, err error) {
	if len(b) < preludeSize {
		return 0, m, nil
	}
	total, heads := binary.BigEndian.Uint32(b), binary.BigEndian.Uint32(b[4:])
	if crc32.ChecksumIEEE(b[:8]) != binary.BigEndian.Uint32(b[8:]) {
		return 0, m, badFrame("the checksum of its lengths is wrong")
	}
	if total > maxAWSFrame || total < preludeSize+trailerSize || heads > total-preludeSize-trailerSize {
		return 0, m, badFrame(fmt.Sprintf("lengths %d and %d", total, heads))
	}
	if uint32(len(b)) < total {
		return 0, m, nil
	}
	b = b[:total]
	body := total - trailerSize
	if crc32.ChecksumIEEE(b[:body]) != binary.BigEndian.Uint32(b[body:]) {
		return 0, m, badFrame("its checksum is wrong")
	}
	if m.headers, err = awsHeaders(b[preludeSize : preludeSize+heads]); err != nil {
		return 0, m, err
	}
	m.payload = b[preludeSize+heads : body]
	return int(total), m, nil
}

// headerSizes are the lengths of values by type; -1 has a length of two bytes in front.
func headerSize(kind byte) (int, bool) {
	switch kind {
	case 0, 1: // true, false
		return 0, true
	case 2: // byte
		return 1, true
	case 3: // short
		return 2, true
	case 4: // integer
		return 4, true
	case 5, 8: // long, timestamp
		return 8, true
	case 6, stringHeader: // bytes, string
		return -1, true
	case 9: // uuid
		return 16, true
	}
	return 0, false
}

func awsHeaders(b []byte) (map[string]string, error) {
	out := map[string]string{}
	for len(b) > 0 {
		n := int(b[0])
		if len(b) < 2+n {
			return nil, badFrame("a header is cut off")
		}
		name, kind := string(b[1:1+n]), b[1+n]
		b = b[2+n:]
		size, ok := headerSize(kind)
		if !ok {
			return nil, badFrame(fmt.Sprintf("a header of type %d", kind))
		}
		if size < 0 {
			if len(b) < 2 {
				return nil, badFrame("a header is cut off")
			}
			size = int(binary.BigEndian.Uint16(b))
			b = b[2:]
		}
		if len(b) < size {
			return nil, badFrame("a header is cut off")
		}
		if kind == stringHeader {
			out[name] = string(b[:size])
		}
		b = b[size:]
	}
	return out, nil
}
