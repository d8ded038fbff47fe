package script

import (
	"encoding/base64"
	"fmt"
	"image"
	_ "image/gif" // formats of the API
	_ "image/jpeg"
	_ "image/png"
	"strings"

	"github.com/tidwall/gjson"
	_ "golang.org/x/image/webp" // format of the API
)

// Limits of the API on images. The many-image limit holds when a request has
// more than manyImages of them.
const (
	maxImages     = 100
	maxImageBytes = 5 << 20
	maxImageSide  = 8000
	manyImages    = 20
	manyImageSide = 2000
)

func (c *rules) images() {
	total := 0
	for _, m := range c.r.messages {
		if strings.Contains(m.raw, `"image"`) {
			total += len(imagesOf(m))
		}
	}
	if total == 0 {
		return
	}
	if total > maxImages {
		c.breach("messages: too many images: %d > %d", total, maxImages)
	}
	side := maxImageSide
	if total > manyImages {
		side = manyImageSide
	}
	for i, m := range c.r.messages {
		for j, b := range imagesOf(m) {
			c.image(fmt.Sprintf("messages.%d image %d", i, j+1), b, side)
		}
	}
}

func (c *rules) image(at string, b gjson.Result, side int) {
	src := b.Get("source")
	if src.Get("type").Str != "base64" {
		return
	}
	data := src.Get("data").Str
	if len(data) > maxImageBytes {
		c.breach("%s.source.base64: image exceeds 5 MB maximum: %d bytes > %d bytes", at, len(data), maxImageBytes)
	}
	conf, format, err := image.DecodeConfig(base64.NewDecoder(base64.StdEncoding, strings.NewReader(data)))
	if err != nil {
		c.breach("%s: Could not process image", at)
		return
	}
	if kind := "image/" + format; kind != src.Get("media_type").Str {
		c.breach("%s.source.base64: The image was specified using the %s media type, but the image appears to be a %s image",
			at, src.Get("media_type").Str, kind)
	}
	switch {
	case conf.Width <= side && conf.Height <= side:
	case side == manyImageSide:
		c.breach("%s.source.base64.data: image dimensions exceed max allowed size for many-image requests: %d pixels", at, side)
	default:
		c.breach("%s.source.base64.data: image dimensions exceed max allowed size: %d pixels", at, side)
	}
}
