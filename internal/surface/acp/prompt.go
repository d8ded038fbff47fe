package acp

import (
	"encoding/base64"
	"errors"
	"fmt"
	"image"
	_ "image/gif" // formats of the API
	_ "image/jpeg"
	_ "image/png"
	"strings"

	_ "golang.org/x/image/webp" // format of the API

	"github.com/hew-agent/hew/internal/msg"
)

// spoken makes the message of a prompt. Links and resources become text that
// names where they are from; a picture that the API would refuse is an error.
func spoken(list []content) (*msg.Message, error) {
	m := &msg.Message{Role: msg.RoleUser}
	for _, c := range list {
		b, err := block(c)
		if err != nil {
			return nil, err
		}
		if b != nil {
			m.Blocks = append(m.Blocks, b)
		}
	}
	if len(m.Blocks) == 0 {
		return nil, errors.New("the prompt is empty")
	}
	return m, nil
}

func block(c content) (msg.Block, error) {
	switch c.Type {
	case "text":
		if c.Text == "" {
			return nil, nil
		}
		return msg.NewText(c.Text), nil
	case "image":
		return picture(c.MIME, c.Data)
	case "resource_link":
		if c.URI == "" {
			return nil, errors.New("a resource_link has no uri")
		}
		return msg.NewText("[" + c.Name + "](" + c.URI + ")"), nil
	case "resource":
		return embedded(c.Resource)
	}
	return nil, fmt.Errorf("a prompt holds text, image, resource_link and resource, not %q", c.Type)
}

func embedded(r *resource) (msg.Block, error) {
	switch {
	case r == nil || r.URI == "":
		return nil, errors.New("a resource has no uri")
	case r.Text != nil:
		return msg.NewText(fmt.Sprintf("<context ref=%q>\n%s\n</context>", r.URI, *r.Text)), nil
	case strings.HasPrefix(r.MIME, "image/"):
		return picture(r.MIME, r.Blob)
	case r.MIME == "application/pdf":
		if _, err := base64.StdEncoding.DecodeString(r.Blob); err != nil {
			return nil, fmt.Errorf("the resource %s is not base64: %w", r.URI, err)
		}
		return msg.NewDocument(r.MIME, r.Blob), nil
	}
	return nil, fmt.Errorf("the resource %s is a blob of the type %q; a model reads text, pictures and PDF", r.URI, r.MIME)
}

// picture refuses an image that can never be sent: it would spoil every later
// request of the session. One that is too large is shrunk by the engine.
func picture(mime, data string) (msg.Block, error) {
	_, format, err := image.DecodeConfig(base64.NewDecoder(base64.StdEncoding, strings.NewReader(data)))
	if err != nil {
		return nil, fmt.Errorf("the image cannot be read (%w): send base64 of a PNG, JPEG, GIF or WebP file", err)
	}
	if kind := "image/" + format; kind != mime {
		return nil, fmt.Errorf("the image is said to be %q and is %s", mime, kind)
	}
	return msg.NewImage(mime, data), nil
}
