package web

import (
	"fmt"

	"github.com/JohannesKaufmann/html-to-markdown/v2/converter"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/base"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/commonmark"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/table"
)

// markdown turns a page into Markdown with absolute links. Scripts and styles go.
func markdown(page, origin string) (text string, err error) {
	defer func() { // pages are anybody's, and the parser is not ours
		if r := recover(); r != nil {
			text, err = "", fmt.Errorf("the page cannot be read: %v", r)
		}
	}()
	c := converter.NewConverter(converter.WithPlugins(base.NewBasePlugin(), commonmark.NewCommonmarkPlugin(), table.NewTablePlugin()))
	return c.ConvertString(page, converter.WithDomain(origin))
}
