//go:build !windows

package robot

import (
	"fmt"
	"html"
	"image/color"
	"io"
	"strings"

	uv "github.com/charmbracelet/ultraviolet"
)

const (
	size    = 13   // font size, px
	advance = 7.83 // width of a cell at that size
	leading = 18   // height of a cell
	pad     = 14
)

// SVG draws the window as it is.
func (r *Robot) SVG(w io.Writer) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	width, height := int(float64(r.width)*advance)+2*pad, r.height*leading+2*pad
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" xml:space="preserve" role="img" aria-label="a terminal">
<style>text{font:%dpx ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;fill:#d0d7de;white-space:pre}</style>
<rect width="100%%" height="100%%" rx="8" fill="#0d1117"/>
`, width, height, width, height, size)
	for y := range r.height {
		r.row(&b, y)
	}
	if !r.emu.CursorHidden() {
		at := r.emu.CursorPosition()
		fmt.Fprintf(&b, "<rect x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"%d\" fill=\"#d0d7de\" fill-opacity=\"0.5\"/>\n", left(at.X), pad+at.Y*leading, advance, leading)
	}
	b.WriteString("</svg>\n")
	if _, err := io.WriteString(w, b.String()); err != nil {
		return fmt.Errorf("write the picture: %w", err)
	}
	return nil
}

func left(x int) float64 { return pad + float64(x)*advance }

// row draws runs of cells of one style, each at its own place, so that a font
// with other widths moves nothing.
func (r *Robot) row(b *strings.Builder, y int) {
	for x := 0; x < r.width; {
		c := r.emu.CellAt(x, y)
		if c == nil {
			x++
			continue
		}
		start, cells := x, 0
		var text strings.Builder
		for x < r.width {
			n := r.emu.CellAt(x, y)
			if n == nil || n.Style != c.Style || cells > 0 && (n.Width > 1 || c.Width > 1) {
				break
			}
			content := n.Content
			if content == "" {
				content = " "
			}
			text.WriteString(content)
			x += max(n.Width, 1)
			cells++
		}
		run(b, start, y, x-start, text.String(), c.Style)
	}
}

func run(b *strings.Builder, x, y, cells int, text string, s uv.Style) {
	fg, bg := s.Fg, s.Bg
	if s.Attrs&uv.AttrReverse != 0 {
		fg, bg = bg, fg
		if fg == nil {
			fg = color.RGBA{0x0d, 0x11, 0x17, 0xff}
		}
		if bg == nil {
			bg = color.RGBA{0xd0, 0xd7, 0xde, 0xff}
		}
	}
	if bg != nil {
		fmt.Fprintf(b, "<rect x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"%d\" fill=\"%s\"/>\n", left(x), pad+y*leading, float64(cells)*advance, leading, hex(bg))
	}
	if strings.TrimSpace(text) == "" {
		return
	}
	style := ""
	if fg != nil {
		style += ";fill:" + hex(fg)
	}
	for _, a := range []struct {
		bit uint8
		css string
	}{{uv.AttrBold, ";font-weight:600"}, {uv.AttrFaint, ";opacity:.6"}, {uv.AttrItalic, ";font-style:italic"}, {uv.AttrStrikethrough, ";text-decoration:line-through"}} {
		if s.Attrs&a.bit != 0 {
			style += a.css
		}
	}
	if s.Underline != uv.UnderlineNone {
		style += ";text-decoration:underline"
	}
	if style != "" {
		style = ` style="` + style[1:] + `"`
	}
	fmt.Fprintf(b, "<text x=\"%.1f\" y=\"%d\"%s textLength=\"%.1f\">%s</text>\n", left(x), pad+y*leading+13, style, float64(cells)*advance, html.EscapeString(text))
}

func hex(c color.Color) string {
	r, g, b, _ := c.RGBA()
	return fmt.Sprintf("#%02x%02x%02x", r>>8, g>>8, b>>8)
}
