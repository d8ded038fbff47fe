package provider

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestPlaces(t *testing.T) {
	for text, want := range map[string][]Place{
		"messages.3.content.1.image.source.base64.data: image dimensions exceed max allowed size: 8000 pixels": {{3, 1, -1, -1}},
		"messages.12.content.0.tool_result.content.2.image.source.base64: The image was specified using":       {{12, 0, 2, -1}},
		"messages.7 image 2.source.base64: image exceeds 5 MB maximum":                                         {{7, -1, -1, 1}},
		"messages.1: all messages must have non-empty content":                                                 {{1, -1, -1, -1}},
		"***.***.content.5.type: text content blocks must be non-empty":                                        nil,
		"messages.5.content.2: unexpected `tool_use_id` found in `tool_result` blocks: toolu_9":                {{5, 2, -1, -1}},
		"Invalid 'messages[3].content[1].image_url'.":                                                          {{3, 1, -1, -1}},
		"Invalid type for 'messages.[4].content': expected one of a string or array of objects":                {{4, -1, -1, -1}},
		"Unable to submit request because contents[2].parts[0] is empty":                                       {{2, 0, -1, -1}},
		"Invalid value: 'input[6].content[0].text'":                                                            {{6, 0, -1, -1}},
		"messages.1.content.0: bad; messages.4.content.1: bad too":                                             {{1, 0, -1, -1}, {4, 1, -1, -1}},
		"messages[2].tool_calls[1].function.arguments":                                                         {{2, -1, -1, -1}},
		"messages: too many images: 120 > 100":                                                                 nil,
		"messages.99999999999999999999.content.1":                                                              nil,
		"Could not process image":                                                                              nil,
		"":                                                                                                     nil,
	} {
		if d := cmp.Diff(want, (&Error{Message: text}).Places()); d != "" {
			t.Errorf("%s: %s", text, d)
		}
	}
	own := []Place{{Message: 1, Block: 2, Inner: -1, Image: -1}}
	if d := cmp.Diff(own, (&Error{Message: "messages.3", At: own}).Places()); d != "" {
		t.Error(d)
	}
}

func FuzzPlaces(f *testing.F) {
	f.Add("messages.3.content.1.x[2]['a'].4")
	f.Fuzz(func(t *testing.T, text string) {
		for _, p := range (&Error{Message: text}).Places() {
			if p.Message < 0 || p.Block < -1 || p.Inner < -1 || p.Image < -1 || p.Inner >= 0 && p.Block < 0 {
				t.Errorf("%+v", p)
			}
		}
	})
}
