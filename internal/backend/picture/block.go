package picture

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/tidwall/gjson"

	"github.com/hew-agent/hew/internal/msg"
)

// Limits of the API on what a request holds.
const (
	// MaxEncoded is the largest base64 form of one image, in bytes.
	MaxEncoded = 5 << 20
	// MaxPages is how many pages the PDF documents of a request have at most.
	MaxPages = 100
	// maxDocument is the largest base64 form of one document: with more the
	// request itself would be over its limit of 32 MB.
	maxDocument = 24 << 20
)

// Admit makes blocks fit to enter a conversation: every image is decoded whole,
// and shrunk when it is large; one that cannot be sent becomes a text that says
// why. It is the one way in for prompts and for the results of all tools. The
// same slice comes back when nothing is to be changed; problems tell what was.
func Admit(blocks []msg.Block) (fit []msg.Block, problems []string) {
	fit = blocks
	for i, b := range blocks {
		now, problem := admitted(b)
		if now == b {
			continue
		}
		if problem != "" {
			problems = append(problems, problem)
		}
		if &fit[0] == &blocks[0] {
			fit = append([]msg.Block(nil), blocks...)
		}
		fit[i] = now
	}
	return fit, problems
}

func admitted(b msg.Block) (msg.Block, string) {
	switch b := b.(type) {
	case *msg.Image:
		return swap(b, b.Data(), refit)
	case *msg.Document:
		return swap(b, documentData(b), documentFlaw)
	case *msg.ToolResult:
		content, problems := Admit(b.Content)
		if len(content) == 0 || &content[0] == &b.Content[0] {
			return b, ""
		}
		return msg.NewToolResult(b.ToolUseID, content, msg.Outcome(b.IsError)), strings.Join(problems, "; ")
	case *msg.Text, *msg.Thinking, *msg.ToolUse, *msg.Opaque:
	}
	return b, ""
}

// Stored makes a block of an old or foreign transcript fit to be sent. It looks
// at what can be told quickly (size, format, dimensions; a request with 200
// pictures is laid out every turn) and decodes only what must be shrunk. where
// says where the original can be found; the text in place of a block that
// cannot be sent repeats it.
func Stored(b msg.Block, where string) msg.Block {
	var now msg.Block
	var problem string
	switch b := b.(type) {
	case *msg.Image:
		data := b.Data()
		if sourceKind(b) == "base64" && sendable(b.MediaType, data) {
			return b
		}
		now, problem = swap(b, data, refit)
	case *msg.Document:
		now, problem = swap(b, documentData(b), documentFlaw)
	case *msg.Text, *msg.Thinking, *msg.ToolUse, *msg.ToolResult, *msg.Opaque:
		return b
	}
	if problem != "" && where != "" {
		return msg.NewText(stub(problem + "; " + where))
	}
	return now
}

// swap replaces a block whose data a check refuses, or changes. References (a
// URL, a file id) are not data of ours.
func swap(b msg.Block, data string, check func(b msg.Block, data string) (msg.Block, error)) (msg.Block, string) {
	switch kind := sourceKind(b); kind {
	case "base64":
	case "url", "file", "text", "content":
		return b, ""
	default:
		return blank(b, fmt.Errorf("its source is %q, not data", kind))
	}
	now, err := check(b, data)
	if err != nil {
		return blank(b, err)
	}
	return now, ""
}

func blank(b msg.Block, err error) (msg.Block, string) {
	kind := "an image"
	if _, ok := b.(*msg.Document); ok {
		kind = "a document"
	}
	problem := fmt.Sprintf("%s was left out: %v", kind, err)
	return msg.NewText(stub(problem)), problem
}

// stub is the text in the place of a block.
func stub(problem string) string { return "[" + strings.ToUpper(problem[:1]) + problem[1:] + "]" }

func sourceKind(b msg.Block) string {
	kind := gjson.GetBytes(b.JSON(), "source.type")
	if kind.Type != gjson.String {
		return ""
	}
	return kind.Str
}

func documentData(b *msg.Document) string { return gjson.GetBytes(b.JSON(), "source.data").Str }

// refit decodes and, when needed, shrinks an image; media types that lie are
// put right.
func refit(b msg.Block, data string) (msg.Block, error) {
	raw, err := decode64(data)
	if err != nil {
		return nil, err
	}
	img, err := Fit(raw)
	if err != nil {
		return nil, err
	}
	i, ok := b.(*msg.Image)
	if ok && img.MediaType == i.MediaType && bytes.Equal(img.Bytes, raw) && base64.StdEncoding.EncodedLen(len(raw)) == len(data) {
		return b, nil
	}
	return msg.NewImage(img.MediaType, base64.StdEncoding.EncodeToString(img.Bytes)), nil
}

// decode64 takes base64 as it is found: with line breaks, as a data URL,
// without padding.
func decode64(data string) ([]byte, error) {
	const mark = ";base64,"
	if at := strings.Index(data[:min(len(data), 64)], mark); at >= 0 {
		data = data[at+len(mark):]
	}
	if len(data) > base64.StdEncoding.EncodedLen(MaxFile) {
		return nil, fmt.Errorf("it is over the limit of %d MB", MaxFile>>20)
	}
	data = strings.Map(func(r rune) rune {
		if r == '\n' || r == '\r' || r == ' ' || r == '=' {
			return -1
		}
		return r
	}, data)
	raw, err := base64.RawStdEncoding.DecodeString(data)
	if err != nil {
		return nil, errors.New("its data is not base64")
	}
	return raw, nil
}

// sendable tells from size and header alone that the API takes an image in any
// request.
func sendable(mediaType, data string) bool {
	if len(data) > MaxEncoded || len(data)%4 != 0 {
		return false
	}
	r := base64.NewDecoder(base64.StdEncoding, strings.NewReader(data))
	head := make([]byte, 16)
	n, err := io.ReadFull(r, head)
	if err != nil || Sniff(head[:n]) != mediaType {
		return false
	}
	conf, err := codecs(mediaType).config(io.MultiReader(bytes.NewReader(head), r))
	return err == nil && conf.Width > 0 && conf.Height > 0 && max(conf.Width, conf.Height) <= MaxSide
}

// documentFlaw refuses PDF documents that the API would.
func documentFlaw(b msg.Block, data string) (msg.Block, error) {
	if len(data) > maxDocument {
		return nil, fmt.Errorf("it has %d MB, over the limit of %d MB", len(data)*3/4>>20, maxDocument*3/4>>20)
	}
	d, ok := b.(*msg.Document)
	if !ok || d.MediaType != "application/pdf" {
		if ok && d.MediaType == "text/plain" {
			return b, nil
		}
		return nil, errors.New("it is neither a PDF nor plain text")
	}
	raw, err := decode64(data)
	if err != nil {
		return nil, err
	}
	if !bytes.Contains(raw[:min(len(raw), 1024)], []byte("%PDF-")) {
		return nil, errors.New("it says that it is a PDF and is none")
	}
	if n := Pages(raw); n > MaxPages {
		return nil, fmt.Errorf("it has %d pages, over the limit of %d", n, MaxPages)
	}
	return b, nil
}

var pageCount = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`/Count\s+(\d{1,9})`) })

// Pages is the number of pages of a PDF as its page tree states it in the open;
// 0 when the tree is compressed.
func Pages(raw []byte) int {
	most := 0
	for _, m := range pageCount().FindAllSubmatch(raw, -1) {
		if n, err := strconv.Atoi(string(m[1])); err == nil {
			most = max(most, n)
		}
	}
	return most
}
