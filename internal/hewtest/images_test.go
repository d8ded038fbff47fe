package hewtest

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"hash/crc32"
	"image"
	"image/color"
	"image/png"
	"math/rand/v2"
	"os"
	"regexp"
	"strconv"

	"github.com/rogpeppe/go-internal/testscript"
)

// picture FILE WIDTH HEIGHT [noise|header] makes a PNG: plain, of noise (three
// bytes a pixel, whatever the compression), or only the header of one.
func cmdPicture(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 3 || len(args) > 4 {
		ts.Fatalf("usage: picture FILE WIDTH HEIGHT [noise|header]")
	}
	w, err := strconv.Atoi(args[1])
	ts.Check(err)
	h, err := strconv.Atoi(args[2])
	ts.Check(err)
	kind := ""
	if len(args) == 4 {
		kind = args[3]
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), drawn(w, h, kind), 0o600))
}

func drawn(w, h int, kind string) []byte {
	if kind == "header" {
		return header(w, h)
	}
	var pic image.Image = image.NewPaletted(image.Rect(0, 0, w, h), color.Palette{color.White, color.Black})
	if kind == "noise" {
		p := image.NewNRGBA(image.Rect(0, 0, w, h))
		rnd := rand.New(rand.NewPCG(uint64(w), uint64(h)))
		for i := range p.Pix {
			p.Pix[i] = byte(rnd.Uint32()) | byte(i%4/3*255) // opaque
		}
		pic = p
	}
	var buf bytes.Buffer
	if err := (&png.Encoder{CompressionLevel: png.BestSpeed}).Encode(&buf, pic); err != nil {
		panic(err) // memory only
	}
	return buf.Bytes()
}

// header is a PNG that says how large it is, and holds nothing.
func header(w, h int) []byte {
	body := append([]byte("IHDR"), make([]byte, 13)...)
	binary.BigEndian.PutUint32(body[4:], uint32(w))
	binary.BigEndian.PutUint32(body[8:], uint32(h))
	body[12], body[13] = 8, 2
	out := append([]byte("\x89PNG\r\n\x1a\n\x00\x00\x00\x0d"), body...)
	return binary.BigEndian.AppendUint32(out, crc32.ChecksumIEEE(body))
}

var inlined = regexp.MustCompile(`<<([^<>\s]+)>>`)

// inline FILE puts the base64 form of files into FILE, in the place of <<NAME>>.
func cmdInline(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: inline FILE")
	}
	data := inlined.ReplaceAllFunc([]byte(ts.ReadFile(args[0])), func(mark []byte) []byte {
		return []byte(base64.StdEncoding.EncodeToString([]byte(ts.ReadFile(string(mark[2 : len(mark)-2])))))
	})
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), data, 0o600))
}
