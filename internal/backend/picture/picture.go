// Package picture fits images and documents into the limits of the model API.
//
// It checks that they can be decoded, shrinks images and turns them upright.
//
// A picture that the API refuses would make every later request of the
// conversation fail, so nothing leaves here that was not decoded whole.
package picture

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"

	"golang.org/x/image/draw"
	"golang.org/x/image/webp"
)

// The limits of one image.
const (
	// MaxSide is the longest side in pixels that the API takes in requests with many images.
	MaxSide = 2000
	// plainBytes is the size up to which a picture stays in its own format.
	plainBytes = 500 << 10
	// maxBytes is the most that may be sent: the API's limit of 5 MB is for the base64 form.
	maxBytes = 5 << 20 * 3 / 4
	// MaxFile is the largest file that is looked at.
	MaxFile = 64 << 20
	// maxPixels bounds the memory of decoding: 50 million pixels are 200 MB.
	maxPixels = 50_000_000
)

// Image is a picture that may be sent.
type Image struct {
	MediaType     string
	Bytes         []byte
	Width, Height int // as sent
	// OriginalWidth and OriginalHeight are those of the file, upright.
	OriginalWidth, OriginalHeight int
}

// Extension reports whether files with this lower-case extension should hold a picture.
func Extension(ext string) bool {
	switch ext {
	case ".png", ".jpg", ".jpeg", ".gif", ".webp":
		return true
	}
	return false
}

// Sniff tells the media type from the first bytes, "" when they are no supported picture.
func Sniff(head []byte) string {
	switch {
	case bytes.HasPrefix(head, []byte("\x89PNG\r\n\x1a\n")):
		return "image/png"
	case bytes.HasPrefix(head, []byte("\xff\xd8\xff")):
		return "image/jpeg"
	case bytes.HasPrefix(head, []byte("GIF87a")), bytes.HasPrefix(head, []byte("GIF89a")):
		return "image/gif"
	case len(head) >= 12 && string(head[:4]) == "RIFF" && string(head[8:12]) == "WEBP":
		return "image/webp"
	}
	return ""
}

// Fit returns the picture in raw as it may be sent: unchanged when it is small,
// else shrunk to MaxSide and, when that is still large, as JPEG. Errors say
// what is wrong with the file.
func Fit(raw []byte) (*Image, error) {
	if len(raw) == 0 {
		return nil, errors.New("the file is empty (0 bytes)")
	}
	kind := Sniff(raw)
	if kind == "" {
		return nil, errors.New("the content is not a PNG, JPEG, GIF or WebP picture")
	}
	conf, err := codecs(kind).config(bytes.NewReader(raw))
	if err != nil {
		return nil, fmt.Errorf("the %s picture is broken: %w", kind, err)
	}
	if conf.Width <= 0 || conf.Height <= 0 || int64(conf.Width)*int64(conf.Height) > maxPixels {
		return nil, fmt.Errorf("the picture has %d×%d pixels, more than the %d million that can be decoded; shrink it first", conf.Width, conf.Height, maxPixels/1_000_000)
	}
	pic, err := codecs(kind).decode(bytes.NewReader(raw))
	if err != nil {
		return nil, fmt.Errorf("the %s picture is broken: %w", kind, err)
	}
	return fit(raw, kind, pic)
}

func fit(raw []byte, kind string, pic image.Image) (*Image, error) {
	turn := upright
	if kind == "image/jpeg" {
		turn = orientation(raw)
	}
	w, h := pic.Bounds().Dx(), pic.Bounds().Dy()
	out := &Image{MediaType: kind, Bytes: raw, Width: w, Height: h, OriginalWidth: w, OriginalHeight: h}
	if turn == upright && max(w, h) <= MaxSide && len(raw) <= plainBytes {
		return out, nil
	}
	pic = turned(shrink(pic), turn)
	if turn.swaps() {
		out.OriginalWidth, out.OriginalHeight = h, w
	}
	out.Width, out.Height = pic.Bounds().Dx(), pic.Bounds().Dy()
	return out, out.encode(pic)
}

// encode writes PNG while that is small, for sharp text and lines, else JPEG of falling quality.
func (i *Image) encode(pic image.Image) error {
	var buf bytes.Buffer
	// A picture that kept its size was over plainBytes as it came; PNG would not make it smaller.
	if i.MediaType != "image/jpeg" && i.Width*i.Height < i.OriginalWidth*i.OriginalHeight {
		if err := (&png.Encoder{CompressionLevel: png.BestSpeed}).Encode(&buf, pic); err != nil {
			return fmt.Errorf("encode the picture: %w", err)
		}
		if i.MediaType, i.Bytes = "image/png", buf.Bytes(); buf.Len() <= plainBytes {
			return nil
		}
	}
	flat := onWhite(pic)
	for _, q := range []int{85, 70, 50, 30} {
		var buf bytes.Buffer
		if err := jpeg.Encode(&buf, flat, &jpeg.Options{Quality: q}); err != nil {
			return fmt.Errorf("encode the picture: %w", err)
		}
		i.MediaType, i.Bytes = "image/jpeg", buf.Bytes()
		if buf.Len() <= maxBytes {
			return nil
		}
	}
	return errors.New("the picture cannot be made small enough to send; crop it first")
}

type codec struct {
	config func(r io.Reader) (image.Config, error)
	decode func(r io.Reader) (image.Image, error)
}

func codecs(kind string) codec {
	switch kind {
	case "image/png":
		return codec{png.DecodeConfig, png.Decode}
	case "image/jpeg":
		return codec{jpeg.DecodeConfig, jpeg.Decode}
	case "image/gif":
		return codec{gif.DecodeConfig, gif.Decode}
	default:
		return codec{webp.DecodeConfig, webp.Decode}
	}
}

// shrink scales to MaxSide. Very large pictures are first sampled down to
// twice the goal, because the filter's cost grows with the source.
func shrink(pic image.Image) image.Image {
	b := pic.Bounds()
	long := max(b.Dx(), b.Dy())
	if long <= MaxSide {
		return pic
	}
	w, h := max(1, b.Dx()*MaxSide/long), max(1, b.Dy()*MaxSide/long)
	if long > 4*MaxSide {
		half := image.NewRGBA(image.Rect(0, 0, max(1, 2*w), max(1, 2*h)))
		draw.NearestNeighbor.Scale(half, half.Bounds(), pic, b, draw.Src, nil)
		pic = half
	}
	out := image.NewRGBA(image.Rect(0, 0, w, h))
	draw.ApproxBiLinear.Scale(out, out.Bounds(), pic, pic.Bounds(), draw.Src, nil)
	return out
}

func onWhite(pic image.Image) image.Image {
	if o, ok := pic.(interface{ Opaque() bool }); ok && o.Opaque() {
		return pic
	}
	out := image.NewRGBA(image.Rect(0, 0, pic.Bounds().Dx(), pic.Bounds().Dy()))
	draw.Draw(out, out.Bounds(), image.NewUniform(color.White), image.Point{}, draw.Src)
	draw.Draw(out, out.Bounds(), pic, pic.Bounds().Min, draw.Over)
	return out
}

// turn is an orientation of the EXIF standard, 1 to 8.
type turn int

const upright turn = 1

func (t turn) swaps() bool { return t >= 5 }

// turned draws pic as t says it should be seen.
func turned(pic image.Image, t turn) image.Image {
	if t == upright {
		return pic
	}
	b := pic.Bounds()
	w, h := b.Dx(), b.Dy()
	size := image.Rect(0, 0, w, h)
	if t.swaps() {
		size = image.Rect(0, 0, h, w)
	}
	out := image.NewRGBA(size)
	for y := range h {
		for x := range w {
			to := t.place(x, y, w, h)
			out.Set(to.X, to.Y, pic.At(b.Min.X+x, b.Min.Y+y))
		}
	}
	return out
}

// place is where the pixel x, y of a w×h picture belongs.
func (t turn) place(x, y, w, h int) image.Point {
	switch t {
	case 2:
		return image.Pt(w-1-x, y)
	case 3:
		return image.Pt(w-1-x, h-1-y)
	case 4:
		return image.Pt(x, h-1-y)
	case 5:
		return image.Pt(y, x)
	case 6:
		return image.Pt(h-1-y, x)
	case 7:
		return image.Pt(h-1-y, w-1-x)
	case 8:
		return image.Pt(y, w-1-x)
	}
	return image.Pt(x, y)
}

// orientation finds the tag 0x0112 in the EXIF segment of a JPEG. Anything
// unexpected means upright.
func orientation(raw []byte) turn {
	for at := 2; at+4 <= len(raw) && raw[at] == 0xff; {
		marker, n := raw[at+1], int(binary.BigEndian.Uint16(raw[at+2:]))
		if marker == 0xda || n < 2 || at+2+n > len(raw) {
			break
		}
		body := raw[at+4 : at+2+n]
		if tiff, ok := bytes.CutPrefix(body, []byte("Exif\x00\x00")); ok && marker == 0xe1 {
			return tiffOrientation(tiff)
		}
		at += 2 + n
	}
	return upright
}

func tiffOrientation(b []byte) turn {
	if len(b) < 8 {
		return upright
	}
	var order binary.ByteOrder = binary.BigEndian
	if b[0] == 'I' {
		order = binary.LittleEndian
	}
	at := int(order.Uint32(b[4:]))
	if at < 8 || at+2 > len(b) {
		return upright
	}
	n := int(order.Uint16(b[at:]))
	for e := at + 2; n > 0 && e+12 <= len(b); e, n = e+12, n-1 {
		if order.Uint16(b[e:]) != 0x0112 {
			continue
		}
		if v := turn(order.Uint16(b[e+8:])); v >= 1 && v <= 8 {
			return v
		}
	}
	return upright
}
