package builtin

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"

	"github.com/hew-agent/hew/internal/action/builtin/pdf"
	"github.com/hew-agent/hew/internal/backend/fsys"
	"github.com/hew-agent/hew/internal/backend/picture"
	"github.com/hew-agent/hew/internal/msg"
	"github.com/hew-agent/hew/internal/tool"
)

const (
	// maxPages is the number of PDF pages per call, wholePages the length up to
	// which a PDF is read without naming pages.
	maxPages   = 20
	wholePages = 10
	// maxPDF is the largest PDF that is given to a renderer, in bytes.
	maxPDF = 100 << 20
	// scanned is the number of letters below which a page counts as a picture.
	scanned = 16
)

// pdf reads pages as text, and as pictures where a page has no text. The
// programs that can do it are not part of hew.
func (r *reading) pdf(ctx context.Context, st fsys.Status) tool.Result {
	if st.Size > maxPDF {
		return tool.Failure(fmt.Sprintf("%s has %s, over the limit of %s for PDFs. Split it first.", fsys.Printable(r.path), amount(st.Size), amount(maxPDF)))
	}
	doc := pdf.Renderer{Text: r.c.Program(textProgram, r.env), Image: r.c.Program(imageProgram, r.env)}
	if doc.Text == "" && doc.Image == "" {
		return tool.Failure(fmt.Sprintf("%s is a PDF, and no program to read it is installed: %s or %s (package poppler-utils, on macOS poppler) must be on PATH in a folder that only you and the system can write to. Install it, or convert the PDF to text in another way.",
			fsys.Printable(r.path), textProgram, imageProgram))
	}
	first, last := r.first, r.last
	if first == 0 {
		first, last = 1, wholePages
	}
	pages, more, err := doc.Read(ctx, r.path, first, last)
	switch {
	case errors.Is(err, pdf.ErrNoSuchPage):
		return tool.Failure(fmt.Sprintf("%s has no page %d.", fsys.Printable(r.path), first))
	case err != nil:
		return tool.Failure(fmt.Sprintf("%s cannot be read: %v", fsys.Printable(r.path), err))
	case r.first == 0 && more:
		return tool.Failure(fmt.Sprintf("%s has more than %d pages. Say which to read with pages, for example \"1-%d\", at most %d per call.", fsys.Printable(r.path), wholePages, wholePages, maxPages))
	}
	return r.pages(pages, first, st.Size)
}

// The programs, both of poppler.
const (
	textProgram  = "pdftotext"
	imageProgram = "pdftoppm"
)

func (r *reading) pages(pages []pdf.Page, first int, size int64) tool.Result {
	var res tool.Result
	used := 0
	for i, p := range pages {
		text := strings.TrimSpace(p.Text)
		used += len(text)
		if n := tokens(used); n > r.budget() {
			return tool.Failure(fmt.Sprintf("The pages asked for are more than %d tokens long. Ask for fewer: pages %d-%d fit.", r.budget(), first, first+max(0, i-1)))
		}
		head := fmt.Sprintf("<page number=\"%d\">", first+i)
		if len(text) >= scanned || p.Image == nil {
			if text == "" {
				text = "(no text on this page; " + imageProgram + " would be needed to show it)"
			}
			res.Content = append(res.Content, msg.NewText(head+"\n"+text+"\n</page>"))
			continue
		}
		img, err := picture.Fit(p.Image)
		if err != nil {
			res.Content = append(res.Content, msg.NewText(head+"\n(the page cannot be shown: "+err.Error()+")\n</page>"))
			continue
		}
		res.Content = append(res.Content, msg.NewText(head+"</page>"), msg.NewImage(img.MediaType, base64.StdEncoding.EncodeToString(img.Bytes)))
	}
	res.Data = msg.Encode(map[string]any{"type": "parts", "file": map[string]any{"filePath": r.path, "originalSize": size, "count": len(pages)}})
	res.View = tool.TextView{Text: plural(len(pages), "page")}
	return res
}
