package streamjson

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

	"github.com/hew-agent/hew/internal/msg"
)

// Limits of the Messages API on one image.
const (
	maxImageBytes = 5 << 20 // of base64
	maxImageSide  = 8000    // pixels
)

// usable tells why the API would refuse an image. One that is only named by an
// address is the API's to fetch.
func usable(img *msg.Image) error {
	src := gjson.GetBytes(img.JSON(), "source")
	if src.Get("type").Str != "base64" {
		return nil
	}
	data := src.Get("data").Str
	if len(data) > maxImageBytes {
		return fmt.Errorf("the image has %d bytes of base64, the limit is %d: send a smaller one", len(data), maxImageBytes)
	}
	conf, format, err := image.DecodeConfig(base64.NewDecoder(base64.StdEncoding, strings.NewReader(data)))
	if err != nil {
		return fmt.Errorf("the image cannot be read (%w): send base64 of a PNG, JPEG, GIF or WebP file", err)
	}
	if kind := "image/" + format; kind != img.MediaType {
		return fmt.Errorf("the image is said to be %q and is %s", img.MediaType, kind)
	}
	if conf.Width > maxImageSide || conf.Height > maxImageSide {
		return fmt.Errorf("the image has %d x %d pixels, the limit is %d a side: send a smaller one", conf.Width, conf.Height, maxImageSide)
	}
	return nil
}
