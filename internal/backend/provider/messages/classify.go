package messages

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"github.com/hew-agent/hew/internal/backend/provider"
)

// Classify makes a typed error of an answer that is not a success. now is
// needed for retry-after in the form of a date.
func Classify(status int, h http.Header, body []byte, now time.Time) *provider.Error {
	e := &provider.Error{
		Status:     status,
		RetryAfter: retryAfter(h, now),
		RequestID:  requestID(h),
	}
	e.Type, e.Message = errorText(body)
	if e.RequestID == "" {
		e.RequestID = gjson.GetBytes(body, "request_id").String()
	}
	if e.Message == "" {
		e.Message = strings.TrimSpace(http.StatusText(status) + " " + snippet(body))
	}
	setClass(e)
	return e
}

func requestID(h http.Header) string {
	if id := h.Get("Request-Id"); id != "" {
		return id
	}
	return h.Get("X-Request-Id")
}

// errorText reads the API's error object, and the forms that gateways use.
func errorText(body []byte) (kind, message string) {
	if !gjson.ValidBytes(body) {
		return "", ""
	}
	v := gjson.ParseBytes(body)
	if v.IsArray() { // Google's streams put their one error into a list
		v = v.Get("0")
	}
	switch e := v.Get("error"); {
	case e.IsObject():
		return e.Get("type").String(), e.Get("message").String()
	case e.Type == gjson.String:
		return "", e.Str
	}
	for _, k := range []string{"message", "detail"} {
		if m := v.Get(k); m.Type == gjson.String {
			return v.Get("type").String(), m.Str
		}
	}
	return "", ""
}

// eventError is the error event of a stream. The status that the API documents
// for the type is filled in, as the answer itself had begun as a success.
func eventError(v gjson.Result, requestID string) *provider.Error {
	e := &provider.Error{RequestID: requestID}
	e.Type, e.Message = errorText([]byte(v.Raw))
	e.Status = statusOf(e.Type)
	if n := v.Get("error.code").Int(); n >= 400 && n < 600 { // of gateways, whose types are others
		e.Status = int(n)
	}
	if e.Message == "" {
		e.Message = "the stream reported an error"
	}
	setClass(e)
	return e
}

func statusOf(kind string) int {
	switch kind {
	case "invalid_request_error":
		return http.StatusBadRequest
	case "authentication_error":
		return http.StatusUnauthorized
	case "billing_error":
		return http.StatusPaymentRequired
	case "permission_error":
		return http.StatusForbidden
	case "not_found_error":
		return http.StatusNotFound
	case "request_too_large":
		return http.StatusRequestEntityTooLarge
	case "rate_limit_error":
		return http.StatusTooManyRequests
	case "timeout_error":
		return http.StatusGatewayTimeout
	case "overloaded_error":
		return StatusOverloaded
	}
	return http.StatusInternalServerError
}

// StatusOverloaded is the API's own status for a service at capacity.
const StatusOverloaded = 529

func setClass(e *provider.Error) {
	switch {
	case e.Status == http.StatusBadRequest:
		classifyInvalid(e)
	case e.Status == http.StatusUnauthorized:
		e.Class = provider.Auth
	case e.Status == http.StatusPaymentRequired:
		e.Class = provider.Billing
	case e.Status == http.StatusForbidden:
		e.Class = provider.Forbidden
	case e.Status == http.StatusNotFound:
		e.Class = provider.NotFound
		e.ModelUnknown = e.Type == "not_found_error" && strings.Contains(strings.ToLower(e.Message), "model")
	case e.Status == http.StatusRequestTimeout || e.Type == "timeout_error":
		e.Class = provider.Timeout
	case e.Status == http.StatusRequestEntityTooLarge:
		e.Class = provider.BodyTooLarge
	case e.Status == http.StatusTooManyRequests:
		e.Class = provider.RateLimited
	case e.Status == StatusOverloaded || e.Type == "overloaded_error":
		e.Class = provider.Overloaded
	case e.Status >= 500 || e.Status == http.StatusConflict:
		e.Class = provider.Server
	case e.Status < 400:
		e.Class = provider.Protocol
	default:
		e.Class = provider.Invalid
	}
}

// classifyInvalid tells apart the many meanings of 400. The API gives all of
// them one type, so only the wording is left.
func classifyInvalid(e *provider.Error) {
	m := strings.ToLower(e.Message)
	has := func(parts ...string) bool {
		for _, p := range parts {
			if strings.Contains(m, p) {
				return true
			}
		}
		return false
	}
	e.Class = provider.Invalid
	switch {
	case has("exceed context limit"):
		// "input length and `max_tokens` exceed context limit: 188240 + 21333 > 200000, …"
		n := figures(m, "context limit")
		e.Class = provider.OutputTooLarge
		if len(n) >= 3 {
			if e.MaxTokens = n[2] - n[0]; e.MaxTokens <= 0 {
				e.Class, e.MaxTokens, e.Tokens, e.Window = provider.TooLong, 0, n[0], n[2]
			}
		}
	case has("max_tokens: "):
		// "max_tokens: 200000 > 64000, which is the maximum allowed number of output tokens for …"
		if n := figures(m, "max_tokens: "); len(n) >= 2 && n[0] > n[1] {
			e.Class, e.MaxTokens = provider.OutputTooLarge, n[1]
		}
	case has("prompt is too long", "input is too long", "context window", "maximum context length"):
		// "prompt is too long: 210000 tokens > 200000 maximum"
		e.Class = provider.TooLong
		if n := figures(m, "too long: "); len(n) >= 2 && n[0] > n[1] {
			e.Tokens, e.Window = n[0], n[1]
		}
	case has("credit balance"):
		e.Class = provider.Billing
	case has("expected `thinking`", "must start with a thinking block"):
		e.WantsThinking = true
	case has("content filter", "content management policy", "content_filter", "flagged by"):
		e.Filtered = true
	case has("image") && has("exceed", "process", "dimension", "pixels", "media type", "too many", "unsupported"):
		e.Class = provider.BadImage
	}
}

// figures lists the numbers that follow after in m.
func figures(m, after string) []int {
	_, m, _ = strings.Cut(m, after)
	var out []int
	for _, f := range strings.FieldsFunc(m, func(r rune) bool { return r < '0' || r > '9' }) {
		n, err := strconv.Atoi(f)
		if err != nil {
			return out
		}
		out = append(out, n)
	}
	return out
}

// retryAfter reads the server's wish in its three forms.
func retryAfter(h http.Header, now time.Time) time.Duration {
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil && ms > 0 {
		return time.Duration(min(ms, 1e9) * float64(time.Millisecond))
	}
	v := strings.TrimSpace(h.Get("Retry-After"))
	if s, err := strconv.ParseFloat(v, 64); err == nil && s > 0 {
		return time.Duration(min(s, 1e6) * float64(time.Second))
	}
	if at, err := http.ParseTime(v); err == nil {
		return max(0, at.Sub(now))
	}
	return 0
}

// protocolError says that what came is not what the API promises.
func protocolError(what string) *provider.Error {
	return &provider.Error{Class: provider.Protocol, Message: "the endpoint sent " + what}
}

// NotAPI is the error for an answer that is no answer of a Messages API.
func NotAPI(status int, body []byte) *provider.Error {
	e := protocolError("something that is not a Messages API answer: " + snippet(body))
	e.Status = status
	return e
}

// snippet is the beginning of a body, fit for one line of an error text.
func snippet(body []byte) string {
	const limit = 160
	s := strings.ToValidUTF8(string(body[:min(len(body), 4*limit)]), "")
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, s)
	s = strings.Join(strings.Fields(s), " ")
	if r := []rune(s); len(r) > limit {
		return string(r[:limit]) + "…"
	}
	return s
}
