package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
)

// chat is a loop without a transcript, permissions, retries or limits: what it takes at least. The history is encoded once and only
// grows, so that a turn costs the sending of its bytes and no more.
func chat(url, recorded string) error {
	request, err := os.ReadFile(recorded)
	if err != nil {
		return err
	}
	body, err := openEnded(request)
	if err != nil {
		return err
	}
	var out bytes.Buffer
	for {
		reply, err := post(url, body)
		if err != nil {
			return err
		}
		out.Write(reply.text.Bytes())
		if len(reply.calls) == 0 {
			out.WriteByte('\n')
			_, err := os.Stdout.Write(out.Bytes())
			return err
		}
		if body, err = answer(body, reply); err != nil {
			return err
		}
	}
}

// openEnded returns the request with its messages last, cut before their closing bracket, ready to be appended to.
func openEnded(request []byte) ([]byte, error) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(request, &fields); err != nil {
		return nil, err
	}
	messages := bytes.TrimSuffix(bytes.TrimSpace(fields["messages"]), []byte("]"))
	delete(fields, "messages")
	head, err := json.Marshal(fields)
	if err != nil {
		return nil, err
	}
	head = append(bytes.TrimSuffix(head, []byte("}")), `,"messages":`...)
	return append(head, messages...), nil
}

type call struct {
	ID    string          `json:"id"`
	Name  string          `json:"name"`
	Input json.RawMessage `json:"input"`
	Type  string          `json:"type"`
}

type reply struct {
	text  bytes.Buffer
	calls []call
}

// event holds the fields of all stream events that matter here.
type event struct {
	Type         string `json:"type"`
	ContentBlock call   `json:"content_block"`
	Delta        struct {
		Type        string `json:"type"`
		Text        string `json:"text"`
		PartialJSON string `json:"partial_json"`
	} `json:"delta"`
}

func post(url string, body []byte) (*reply, error) {
	whole := io.MultiReader(bytes.NewReader(body), strings.NewReader("]}"))
	r, err := http.NewRequest(http.MethodPost, url+"/v1/messages", whole)
	if err != nil {
		return nil, err
	}
	r.ContentLength = int64(len(body)) + 2
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("X-Api-Key", "x")
	r.Header.Set("Anthropic-Version", "2023-06-01")
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		return nil, err
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusOK {
		return nil, errors.New(response.Status)
	}
	return read(response.Body)
}

func read(stream io.Reader) (*reply, error) {
	out := &reply{}
	var input bytes.Buffer
	lines := bufio.NewReader(stream)
	for {
		line, err := lines.ReadSlice('\n')
		if err == io.EOF {
			return out, nil
		}
		if err != nil {
			return nil, err
		}
		data, ok := bytes.CutPrefix(line, []byte("data: "))
		if !ok {
			continue
		}
		var e event
		if err := json.Unmarshal(data, &e); err != nil {
			return nil, err
		}
		switch e.Type {
		case "content_block_start":
			input.Reset()
			if e.ContentBlock.Type == "tool_use" {
				out.calls = append(out.calls, e.ContentBlock)
			}
		case "content_block_delta":
			out.text.WriteString(e.Delta.Text)
			input.WriteString(e.Delta.PartialJSON)
		case "content_block_stop":
			if input.Len() > 0 {
				out.calls[len(out.calls)-1].Input = bytes.Clone(input.Bytes())
			}
		}
	}
}

// answer appends the reply and the files that it asks for.
func answer(body []byte, r *reply) ([]byte, error) {
	type result struct {
		Type      string `json:"type"`
		ToolUseID string `json:"tool_use_id"`
		Content   string `json:"content"`
	}
	var results []result
	for _, c := range r.calls {
		var input struct {
			Path string `json:"file_path"`
		}
		if err := json.Unmarshal(c.Input, &input); err != nil {
			return nil, fmt.Errorf("input of %s: %w", c.ID, err)
		}
		text, err := os.ReadFile(input.Path)
		if err != nil {
			return nil, err
		}
		results = append(results, result{"tool_result", c.ID, string(text)})
	}
	calls, err := json.Marshal(r.calls)
	if err != nil {
		return nil, err
	}
	contents, err := json.Marshal(results)
	if err != nil {
		return nil, err
	}
	body = append(body, `,{"role":"assistant","content":`...)
	body = append(body, calls...)
	body = append(body, `},{"role":"user","content":`...)
	body = append(body, contents...)
	return append(body, '}'), nil
}
