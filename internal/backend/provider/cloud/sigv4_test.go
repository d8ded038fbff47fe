package cloud

import (
	"net/http"
	"strings"
	"testing"
	"time"
)

// TestSignatureVectors: cases of the AWS Signature Version 4 test suite, with its
// credentials, its time, region us-east-1 and a service named "service".
func TestSignatureVectors(t *testing.T) {
	const token = "AQoDYXdzEPT//////////wEXAMPLEtc764bNrC9SAPBSM22wDOk4x4HIZ8j4FZTwdQWLWsKWHGBuFqwAeMicRXmxfpSPfIeoIYRqTflfKD8YUuwthAx7mSEI/qkPpKPi/kMcGdQrmGdeehM4IC1NtBmUpp2wUE8phUZampKsburEDy0KPkyQDYwT7WZ0wq5VSXDvp75YU9HFvlRd8Tx6q6fE8YQcHNVXAkiY9q6d+xo0rKwT38xVqr7ZD0u0iPPkUL64lIZbqBAz+scqKmlzm8FDrypNC9Yjc8fPOLn9FX9KSYvKTr4rvx3iSIlTJabIQwj2ICCR/oLxBA=="
	for name, c := range map[string]struct{ method, url, contentType, body, token, want string }{
		"get-vanilla":                    {"GET", "https://example.amazonaws.com/", "", "", "", "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"},
		"post-vanilla":                   {"POST", "https://example.amazonaws.com/", "", "", "", "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b"},
		"get-vanilla-query-order-key":    {"GET", "https://example.amazonaws.com/?Param2=value2&Param1=value1", "", "", "", "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500"},
		"post-x-www-form-urlencoded":     {"POST", "https://example.amazonaws.com/", "application/x-www-form-urlencoded", "Param1=value1", "", "ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a"},
		"post-sts-token-before":          {"POST", "https://example.amazonaws.com/", "", "", token, "85d96828115b5dc0cfc3bd16ad9e210dd772bbebba041836c64533a82be05ead"},
		"get-vanilla-utf8-query-escapes": {"GET", "https://example.amazonaws.com/?%E1%88%B4=bar", "", "", "", "2cdec8eed098649ff3a119c94853b13c643bcf08f8b0a1d91e12c9027818dd04"},
	} {
		r, err := http.NewRequest(c.method, c.url, strings.NewReader(c.body))
		if err != nil {
			t.Fatal(err)
		}
		if c.contentType != "" {
			r.Header.Set("Content-Type", c.contentType)
		}
		k := awsKey{id: "AKIDEXAMPLE", secret: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", token: c.token}
		signV4(r, []byte(c.body), k, "us-east-1", "service", time.Date(2015, 8, 30, 12, 36, 0, 0, time.UTC))
		if got := r.Header.Get("Authorization"); !strings.HasSuffix(got, "Signature="+c.want) {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// TestPathIsEscapedTwice: the ids of models hold colons and slashes.
func TestPathIsEscapedTwice(t *testing.T) {
	r, err := http.NewRequest(http.MethodPost, "https://h.example/model/"+awsEscape("arn:aws:x/y:0")+"/invoke", nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := r.URL.EscapedPath(); got != "/model/arn%3Aaws%3Ax%2Fy%3A0/invoke" {
		t.Errorf("sent as %s", got)
	}
	if got := canonicalPath(r.URL); got != "/model/arn%253Aaws%253Ax%252Fy%253A0/invoke" {
		t.Errorf("signed as %s", got)
	}
}
