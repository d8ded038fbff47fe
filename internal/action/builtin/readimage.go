package builtin

import (
	"encoding/base64"
	"fmt"

	"github.com/hew-agent/hew/internal/action/builtin/notebook"
	"github.com/hew-agent/hew/internal/backend/fsys"
	"github.com/hew-agent/hew/internal/backend/picture"
	"github.com/hew-agent/hew/internal/msg"
	"github.com/hew-agent/hew/internal/tool"
)

// image shows a picture. Whatever is wrong with it is said in words: a picture
// that the API refuses would spoil every later request.
func (r *reading) image() tool.Result {
	raw, st, err := fsys.ReadRaw(r.path, fsys.Limits{MaxBytes: picture.MaxFile})
	if err != nil {
		return r.failed(err)
	}
	img, err := picture.Fit(raw)
	if err != nil {
		return tool.Failure(fmt.Sprintf("%s cannot be shown as an image: %v.", fsys.Printable(r.path), err))
	}
	r.c.Seen.Record(r.path, fsys.View{Status: st, Content: raw, Extent: fsys.Partial})
	return imageResult(img, st.Size)
}

func imageResult(img *picture.Image, size int64) tool.Result {
	data := base64.StdEncoding.EncodeToString(img.Bytes)
	text := fmt.Sprintf("%s, %d×%d pixels", img.MediaType, img.OriginalWidth, img.OriginalHeight)
	if img.Width != img.OriginalWidth {
		text = fmt.Sprintf("%s, original %dx%d pixels, displayed at %dx%d. Multiply coordinates by %.2f to find them in the original.",
			img.MediaType, img.OriginalWidth, img.OriginalHeight, img.Width, img.Height, float64(img.OriginalWidth)/float64(img.Width))
	}
	return tool.Result{
		Content: []msg.Block{msg.NewImage(img.MediaType, data), msg.NewText("[Image: " + text + "]")},
		Data: msg.Encode(map[string]any{"type": "image", "file": map[string]any{
			"base64": data, "type": img.MediaType, "originalSize": size,
			"dimensions": map[string]int{
				"originalWidth": img.OriginalWidth, "originalHeight": img.OriginalHeight, "displayWidth": img.Width, "displayHeight": img.Height,
			},
		}}),
		View: tool.TextView{Text: text},
	}
}

// maxOutputImages bounds the pictures of one notebook.
const maxOutputImages = 10

// outputImages are the pictures among a notebook's outputs; broken ones are
// named by a text in their place.
func outputImages(nb *notebook.Notebook) []msg.Block {
	var out []msg.Block
	for _, p := range nb.Pictures() {
		if len(out) >= 2*maxOutputImages {
			return append(out, msg.NewText("[More output images are not shown.]"))
		}
		raw, err := base64.StdEncoding.DecodeString(p.Base64)
		var img *picture.Image
		if err == nil {
			img, err = picture.Fit(raw)
		}
		if err != nil {
			out = append(out, msg.NewText(fmt.Sprintf("[An output image of cell %s cannot be shown: %v]", p.Cell, err)))
			continue
		}
		out = append(out, msg.NewText(fmt.Sprintf("[Output image of cell %s]", p.Cell)),
			msg.NewImage(img.MediaType, base64.StdEncoding.EncodeToString(img.Bytes)))
	}
	return out
}
