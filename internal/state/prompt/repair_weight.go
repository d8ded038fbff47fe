package prompt

import (
	"encoding/base64"
	"fmt"

	"github.com/tidwall/gjson"

	"github.com/hew-agent/hew/internal/backend/picture"
	"github.com/hew-agent/hew/internal/msg"
)

// What a request may hold of images, PDF pages and bytes (the API's limits are
// 100, 100 and 32 MB; system prompt and tools need room as well). When a
// conversation passes one of them, the oldest images and documents give way,
// down to the low mark, so that the cached prefix changes seldom.
const (
	mostImages, lowImages = 100, 60
	mostPages, lowPages   = picture.MaxPages, 60
	mostBytes, lowBytes   = 28 << 20, 18 << 20
)

// weights sums up a laid out conversation from its beginning. What gives way
// depends on the messages alone, not on when they were laid out: a longer
// conversation lets go of at least the same. The zero value is an empty one.
type weights struct {
	n                    int // messages taken in
	images, pages, bytes int
	heavy                []heavy
	// gone counts the heavy ones, from the oldest, that gave way; before is what
	// it was at the newest reply, whose request had let go of no more.
	gone, before int
}

// heavy is an image or document of a conversation.
type heavy struct {
	message, block, inner int // inner is -1 outside a tool result
	images, pages, bytes  int
}

// add takes in the next message.
func (w *weights) add(f *filter, m *msg.Message) {
	if m.Role == msg.RoleAssistant {
		w.before = w.gone
	}
	w.bytes += m.Size()
	for i, b := range m.Blocks {
		w.weigh(f, heavy{message: w.n, block: i, inner: -1}, b)
		if r, ok := b.(*msg.ToolResult); ok {
			for j, c := range r.Content {
				w.weigh(f, heavy{message: w.n, block: i, inner: j}, c)
			}
		}
	}
	w.n++
	if w.images <= mostImages && w.pages <= mostPages && w.bytes <= mostBytes {
		return
	}
	for w.gone < len(w.heavy) && (w.images > lowImages || w.pages > lowPages || w.bytes > lowBytes) {
		h := w.heavy[w.gone]
		w.images, w.pages, w.bytes = w.images-h.images, w.pages-h.pages, w.bytes-h.bytes
		w.gone++
	}
}

func (w *weights) weigh(f *filter, h heavy, b msg.Block) {
	switch b := b.(type) {
	case *msg.Image:
		h.images = 1
	case *msg.Document:
		h.pages = f.pagesOf(b)
	case *msg.Text, *msg.Thinking, *msg.ToolUse, *msg.ToolResult, *msg.Opaque:
		return
	}
	h.bytes = len(b.JSON())
	w.images, w.pages = w.images+h.images, w.pages+h.pages
	w.heavy = append(w.heavy[:len(w.heavy):len(w.heavy)], h)
}

func (f *filter) pagesOf(b *msg.Document) int {
	if n, ok := f.pages[b]; ok {
		return n
	}
	n := 1
	if b.MediaType == "application/pdf" {
		if raw, err := base64.StdEncoding.DecodeString(gjson.GetBytes(b.JSON(), "source.data").Str); err == nil {
			n = max(1, picture.Pages(raw))
		}
	}
	f.pages[b] = n
	return n
}

// relieved is out without what gave way; out itself when nothing did.
func (w *weights) relieved(out []*msg.Message) []*msg.Message {
	if w.gone == 0 {
		return out
	}
	now := append([]*msg.Message(nil), out...)
	for _, h := range w.heavy[:w.gone] {
		m := now[h.message]
		if m == out[h.message] {
			fresh := *m
			fresh.Blocks = append([]msg.Block(nil), m.Blocks...)
			m = &fresh
			now[h.message] = m
		}
		stub := gaveWay(m, h)
		if h.inner < 0 {
			m.Blocks[h.block] = stub
			continue
		}
		r, ok := m.Blocks[h.block].(*msg.ToolResult)
		if !ok {
			continue
		}
		content := append([]msg.Block(nil), r.Content...)
		content[h.inner] = stub
		m.Blocks[h.block] = msg.NewToolResult(r.ToolUseID, content, msg.Outcome(r.IsError))
	}
	return now
}

func gaveWay(m *msg.Message, h heavy) msg.Block {
	what := "A document"
	if h.images > 0 {
		what = "An image"
	}
	return msg.NewText(fmt.Sprintf("[%s gave way to newer ones here, because a request may hold %d images, %d pages and %d MB; %s]",
		what, mostImages, mostPages, mostBytes>>20, kept(m)))
}
