package endpoint

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"

	"github.com/hew-agent/hew/internal/backend/provider"
)

// transportError types a failure that came before any answer.
func (x *exchange) transportError(err error) error {
	if x.caller.Err() != nil {
		return x.caller.Err()
	}
	e := &provider.Error{Class: provider.Connection, Err: err}
	var ue *url.Error
	if errors.As(err, &ue) {
		err = ue.Err // without the URL, which may hold a password
		e.Err = err
	}
	var ne net.Error
	switch {
	case errors.Is(context.Cause(x.ctx), errNoAnswer):
		e.Class, e.Err = provider.Timeout, errNoAnswer
		e.Message = fmt.Sprintf("%s did not answer within %s", x.c.host, x.c.c.HeaderTimeout)
	case isCertificate(err):
		e.Class = provider.Certificate
		e.Message = fmt.Sprintf("cannot verify %s: %v", x.c.host, err)
	case errors.As(err, &ne) && ne.Timeout():
		e.Class = provider.Timeout
		e.Message = fmt.Sprintf("cannot reach %s: %v", x.c.host, err)
	default:
		e.Message = fmt.Sprintf("cannot reach %s: %v", x.c.host, err)
	}
	return x.scrub(e)
}

func isCertificate(err error) bool {
	var (
		verify    *tls.CertificateVerificationError
		authority x509.UnknownAuthorityError
		name      x509.HostnameError
		invalid   x509.CertificateInvalidError
		roots     x509.SystemRootsError
	)
	return errors.As(err, &verify) || errors.As(err, &authority) || errors.As(err, &name) ||
		errors.As(err, &invalid) || errors.As(err, &roots)
}

func (c *Client) redirected(resp *http.Response) *provider.Error {
	to := "nowhere"
	if u, err := resp.Location(); err == nil {
		to = u.Scheme + "://" + u.Host
	}
	return &provider.Error{
		Class:  provider.Protocol,
		Status: resp.StatusCode,
		Message: fmt.Sprintf("the endpoint redirects to %s, where the key is not sent; if that is right, set %s to it",
			to, c.c.Address),
	}
}

// scrub takes every secret that the adapter knows out of e: servers echo what
// they are sent.
func (x *exchange) scrub(e *provider.Error) *provider.Error {
	if fix, ok := x.c.c.Fix[e.Class]; ok {
		e.Fix = fix
	}
	if e.Fix == "" && x.c.c.Address != "ANTHROPIC_BASE_URL" && aboutAddress(e) {
		e.Fix = "Check the network and " + x.c.c.Address
	}
	hide := x.c.hidden
	if x.secret != "" {
		hide = append([]string{x.secret}, hide...)
	}
	clean := func(s string) string {
		for _, secret := range hide {
			if len(secret) >= minSecret {
				s = strings.ReplaceAll(s, secret, "[redacted]")
			}
		}
		return s
	}
	e.Message, e.Type, e.RequestID = clean(e.Message), clean(e.Type), clean(e.RequestID)
	if e.Err != nil {
		if text := e.Err.Error(); clean(text) != text {
			e.Err = errors.New(clean(text))
		}
	}
	return e
}

// aboutAddress tells that a wrong address is a likely cause.
func aboutAddress(e *provider.Error) bool {
	switch e.Class {
	case provider.Connection, provider.Timeout, provider.Protocol:
		return true
	case provider.NotFound:
		return !e.ModelUnknown
	case provider.Overloaded, provider.RateLimited, provider.Server, provider.Truncated, provider.Stalled, provider.Auth,
		provider.Forbidden, provider.Billing, provider.TooLong, provider.OutputTooLarge, provider.BodyTooLarge, provider.BadImage,
		provider.Invalid, provider.Certificate, provider.Credential:
	}
	return false
}

// minSecret is the length from which a value can be taken out of a text
// without tearing ordinary words apart. No real key is shorter.
const minSecret = 4

func isLoopback(host string) bool {
	if host == "localhost" {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Unmap().IsLoopback()
}
