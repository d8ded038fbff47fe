package provider

import (
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// Place is a part of a request's messages that the server refused. Indexes
// count from 0; -1 is "not said".
type Place struct {
	// Message is the index in Request.Messages.
	Message int
	// Block is the index in its content, Inner that in the content of the tool
	// result that the block is. Image counts the pictures of the message, those in
	// tool results included.
	Block, Inner, Image int
}

// maxPlaces bounds what one error names.
const maxPlaces = 32

// Wordings seen in answers of servers and gateways:
//
//	messages.3.content.1.image.source.base64.data: …
//	messages.3.content.0.tool_result.content.2: …
//	messages.3 image 2: …            (here images count from 1)
//	messages[3].content[1].image_url, messages.[3].content
//	contents[3].parts[1], input[3].content[1]
var placeStart = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)\b(?:messages|contents|input)\s*[.\[]+(\d{1,6})\b\]?`)
})

var placeStep = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[.\['"]*([A-Za-z_]+|\d{1,6})['"\]]*`) })

var placeImage = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^ image (\d{1,4})\b`) })

// Places are what the error names: those that the adapter set, or, for the
// Messages API and those who copy its wording, what stands in the message.
// Numbers are the server's word: the caller checks that they exist.
func (e *Error) Places() []Place {
	if len(e.At) > 0 {
		return e.At
	}
	var out []Place
	for _, at := range placeStart().FindAllStringSubmatchIndex(e.Message, maxPlaces) {
		n, err := strconv.Atoi(e.Message[at[2]:at[3]])
		if err != nil {
			continue
		}
		out = append(out, inside(n, e.Message[at[1]:]))
	}
	return out
}

// inside reads what follows the number of the message.
func inside(message int, rest string) Place {
	p := Place{Message: message, Block: -1, Inner: -1, Image: -1}
	if m := placeImage().FindStringSubmatch(rest); m != nil {
		if n, err := strconv.Atoi(m[1]); err == nil && n > 0 {
			p.Image = n - 1
		}
		return p
	}
	name := ""
	for range 16 {
		if rest == "" || !strings.ContainsRune(".[", rune(rest[0])) {
			break
		}
		m := placeStep().FindStringSubmatch(rest)
		if m == nil {
			break
		}
		rest = rest[len(m[0]):]
		n, err := strconv.Atoi(m[1])
		if err != nil {
			name = strings.ToLower(m[1])
			continue
		}
		if name != "content" && name != "parts" {
			continue
		}
		if p.Block < 0 {
			p.Block = n
		} else if p.Inner < 0 {
			p.Inner = n
		}
	}
	return p
}
