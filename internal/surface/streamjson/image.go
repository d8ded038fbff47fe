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

// usable tells why an image can never be sent. One that is too large is shrunk
// by the engine; one that is only named by an address is the API's to fetch.
func usable(img *msg.Image) error {
	src := gjson.GetBytes(img.JSON(), "source")
	if src.Get("type").Str != "base64" {
		return nil
	}
	data := src.Get("data").Str
	_, format, err := image.DecodeConfig(base64.NewDecoder(base64.StdEncoding, strings.NewReader(data)))
	if err != nil {
		return fmt.Errorf("the image cannot be read (%w): send base64 of a PNG, JPEG, GIF or WebP file", err)
	}
	if kind := "image/" + format; kind != img.MediaType {
		return fmt.Errorf("the image is said to be %q and is %s", img.MediaType, kind)
	}
	return nil
}
