package cloud

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// awsKey is one set of AWS credentials. Expires is zero for keys that do not.
type awsKey struct {
	id, secret, token string
	expires           time.Time
}

// String hides the secret.
func (awsKey) String() string { return "[credential]" }

// GoString hides the secret.
func (awsKey) GoString() string { return "[credential]" }

// signV4 signs r by AWS Signature Version 4 ("AWS4-HMAC-SHA256"): host, content
// type and every x-amz header are part of it.
func signV4(r *http.Request, body []byte, k awsKey, region, service string, now time.Time) {
	now = now.UTC()
	stamp, day := now.Format("20060102T150405Z"), now.Format("20060102")
	r.Header.Set("X-Amz-Date", stamp)
	if k.token != "" {
		r.Header.Set("X-Amz-Security-Token", k.token)
	}
	headers, names := canonicalHeaders(r)
	sum := sha256.Sum256(body)
	request := strings.Join([]string{r.Method, canonicalPath(r.URL), canonicalQuery(r.URL), headers, names, hex.EncodeToString(sum[:])}, "\n")
	scope := strings.Join([]string{day, region, service, "aws4_request"}, "/")
	hashed := sha256.Sum256([]byte(request))
	text := strings.Join([]string{"AWS4-HMAC-SHA256", stamp, scope, hex.EncodeToString(hashed[:])}, "\n")
	key := []byte("AWS4" + k.secret)
	for _, part := range []string{day, region, service, "aws4_request"} {
		key = hmacSHA256(key, part)
	}
	r.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential="+k.id+"/"+scope+", SignedHeaders="+names+", Signature="+hex.EncodeToString(hmacSHA256(key, text)))
}

func hmacSHA256(key []byte, text string) []byte {
	h := hmac.New(sha256.New, key)
	h.Write([]byte(text))
	return h.Sum(nil)
}

// canonicalHeaders lists what is signed, a line a header, and the names.
func canonicalHeaders(r *http.Request) (lines, names string) {
	host := r.Host
	if host == "" {
		host = r.URL.Host
	}
	values := map[string]string{"host": host}
	for name, v := range r.Header {
		lower := strings.ToLower(name)
		if lower != "content-type" && !strings.HasPrefix(lower, "x-amz-") {
			continue
		}
		trimmed := make([]string, len(v))
		for i, s := range v {
			trimmed[i] = strings.Join(strings.Fields(s), " ")
		}
		values[lower] = strings.Join(trimmed, ",")
	}
	var list []string
	for n := range values {
		list = append(list, n)
	}
	slices.Sort(list)
	var b strings.Builder
	for _, n := range list {
		b.WriteString(n + ":" + values[n] + "\n")
	}
	return b.String(), strings.Join(list, ";")
}

// canonicalPath escapes the path once more than it is sent, as all services but
// S3 demand.
func canonicalPath(u *url.URL) string {
	p := u.EscapedPath()
	if p == "" {
		return "/"
	}
	parts := strings.Split(p, "/")
	for i, s := range parts {
		parts[i] = awsEscape(s)
	}
	return strings.Join(parts, "/")
}

func canonicalQuery(u *url.URL) string {
	var list []string
	for k, vs := range u.Query() {
		for _, v := range vs {
			list = append(list, awsEscape(k)+"="+awsEscape(v))
		}
	}
	slices.Sort(list)
	return strings.Join(list, "&")
}

// awsEscape escapes everything but the unreserved characters of RFC 3986.
func awsEscape(s string) string {
	const digits = "0123456789ABCDEF"
	var b strings.Builder
	for i := range len(s) {
		c := s[i]
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '.' || c == '_' || c == '~' {
			b.WriteByte(c)
			continue
		}
		b.Write([]byte{'%', digits[c>>4], digits[c&15]})
	}
	return b.String()
}
