package picture

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"math/rand/v2"
	"strings"
	"testing"
)

func noise(w, h int) *image.RGBA {
	r := rand.New(rand.NewPCG(1, 1))
	m := image.NewRGBA(image.Rect(0, 0, w, h))
	for i := range m.Pix {
		m.Pix[i] = byte(r.Uint32())
		if i%4 == 3 {
			m.Pix[i] = 255
		}
	}
	return m
}

func pngOf(t *testing.T, m image.Image) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, m); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func jpegOf(t *testing.T, m image.Image) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := jpeg.Encode(&b, m, nil); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// decoded checks that what is sent is what it says.
func decoded(t *testing.T, i *Image) image.Image {
	t.Helper()
	if Sniff(i.Bytes) != i.MediaType {
		t.Fatalf("called %s, is %s", i.MediaType, Sniff(i.Bytes))
	}
	m, err := codecs(i.MediaType).decode(bytes.NewReader(i.Bytes))
	if err != nil {
		t.Fatal(err)
	}
	if m.Bounds().Dx() != i.Width || m.Bounds().Dy() != i.Height {
		t.Fatalf("called %dx%d, is %v", i.Width, i.Height, m.Bounds())
	}
	return m
}

func TestSmallPicturesStayAsTheyAre(t *testing.T) {
	m := image.NewRGBA(image.Rect(0, 0, 20, 10))
	var g bytes.Buffer
	if err := gif.Encode(&g, m, nil); err != nil {
		t.Fatal(err)
	}
	for _, raw := range [][]byte{pngOf(t, m), jpegOf(t, m), g.Bytes()} {
		i, err := Fit(raw)
		if err != nil || !bytes.Equal(i.Bytes, raw) || i.Width != 20 || i.OriginalHeight != 10 {
			t.Errorf("%v %+v", err, i)
		}
	}
}

func TestLargePicturesAreShrunk(t *testing.T) {
	i, err := Fit(pngOf(t, image.NewGray(image.Rect(0, 0, 3000, 1500))))
	if err != nil || i.Width != 2000 || i.Height != 1000 || i.OriginalWidth != 3000 || i.OriginalHeight != 1500 || i.MediaType != "image/png" {
		t.Fatalf("%v %+v", err, i)
	}
	decoded(t, i)
	i, err = Fit(pngOf(t, image.NewGray(image.Rect(0, 0, 9000, 3))))
	if err != nil || i.Width != 2000 || i.Height != 1 {
		t.Fatalf("%v %dx%d", err, i.Width, i.Height)
	}
	decoded(t, i)
}

func TestHeavyPicturesBecomeJPEG(t *testing.T) {
	raw := pngOf(t, noise(1600, 1300)) // about 6 MB
	i, err := Fit(raw)
	if err != nil || i.MediaType != "image/jpeg" || len(i.Bytes) > maxBytes || len(raw) < 5<<20 {
		t.Fatalf("%v %s %d of %d bytes", err, i.MediaType, len(i.Bytes), len(raw))
	}
	decoded(t, i)
}

func TestTransparencyTurnsWhite(t *testing.T) {
	m := noise(800, 800)
	for y := range 50 {
		for x := range 50 {
			m.Set(x, y, color.Transparent)
		}
	}
	i, err := Fit(pngOf(t, m))
	if err != nil || i.MediaType != "image/jpeg" {
		t.Fatalf("%v %+v", err, i)
	}
	if r, _, _, _ := decoded(t, i).At(20, 20).RGBA(); r < 0xf000 {
		t.Errorf("transparent is %x", r)
	}
}

// header is a PNG that claims a size and holds nothing.
func header(w, h uint32) []byte {
	b := []byte("\x89PNG\r\n\x1a\n\x00\x00\x00\x0dIHDR")
	b = binary.BigEndian.AppendUint32(b, w)
	b = binary.BigEndian.AppendUint32(b, h)
	b = append(b, 8, 6, 0, 0, 0)
	return binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b[12:]))
}

func TestBrokenPicturesAreErrors(t *testing.T) {
	good := pngOf(t, noise(40, 40))
	for name, c := range map[string]struct {
		raw  []byte
		want string
	}{
		"empty":     {nil, "empty"},
		"text":      {[]byte("hello, I am text"), "not a PNG"},
		"truncated": {good[:len(good)/2], "broken"},
		"no data":   {good[:30], "broken"},
		"bomb":      {header(60_000, 60_000), "60000×60000"},
		"overflow":  {header(1<<31-1, 1<<31-1), ""},
		"webp":      {[]byte("RIFF\x00\x00\x00\x00WEBPVP8 "), "broken"},
		"jpeg":      {[]byte("\xff\xd8\xff\xe0"), "broken"},
	} {
		i, err := Fit(c.raw)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v %v", name, i, err)
		}
	}
}

// exif puts an orientation into a JPEG.
func exif(raw []byte, o byte) []byte {
	seg := append([]byte("Exif\x00\x00MM\x00\x2a\x00\x00\x00\x08\x00\x01\x01\x12\x00\x03\x00\x00\x00\x01\x00"), o, 0, 0, 0, 0, 0, 0)
	out := append([]byte{0xff, 0xd8, 0xff, 0xe1, 0, byte(len(seg) + 2)}, seg...)
	return append(out, raw[2:]...)
}

func TestPhotosAreTurnedUpright(t *testing.T) {
	m := image.NewRGBA(image.Rect(0, 0, 64, 32))
	for y := range 32 {
		for x := range 64 {
			m.Set(x, y, color.Black)
			if x < 16 && y < 16 { // the mark is top left
				m.Set(x, y, color.White)
			}
		}
	}
	raw := jpegOf(t, m)
	for o, at := range map[byte]image.Point{1: {4, 4}, 2: {60, 4}, 3: {60, 28}, 4: {4, 28}, 5: {4, 4}, 6: {28, 4}, 7: {28, 60}, 8: {4, 60}} {
		i, err := Fit(exif(raw, o))
		if err != nil {
			t.Fatal(err)
		}
		got := decoded(t, i)
		if o == 1 {
			continue // sent as it is
		}
		if r, _, _, _ := got.At(at.X, at.Y).RGBA(); r < 0xc000 {
			t.Errorf("orientation %d: the mark is not at %v of %v", o, at, got.Bounds())
		}
	}
}

func FuzzFit(f *testing.F) {
	f.Add(header(3, 3))
	f.Add([]byte("GIF89a"))
	f.Add([]byte("\xff\xd8\xff\xe1\x00\x10Exif\x00\x00II*\x00"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		if Sniff(raw) == "" {
			return
		}
		conf, err := codecs(Sniff(raw)).config(bytes.NewReader(raw))
		if err != nil || conf.Width > 2500 || conf.Height > 2500 {
			return // keeps the run quick
		}
		if i, err := Fit(raw); err == nil && (len(i.Bytes) > maxBytes || max(i.Width, i.Height) > MaxSide) {
			t.Errorf("%d bytes, %dx%d", len(i.Bytes), i.Width, i.Height)
		}
	})
}
