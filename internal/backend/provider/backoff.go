package provider

import "time"

// Backoff constants. Original values were measured on the published CLI: about
// 0.5, 1, 2.5, 4.5, 8, 17, 36, 36 s.
const (
	backoffFirst = 500 * time.Millisecond
	backoffMax   = 36 * time.Second
	// retryAfterMax bounds what a server may ask for, so that a lying one cannot
	// park a session for a day.
	retryAfterMax = 10 * time.Minute
)

// DefaultRetries is how often a request is sent again; MaxRetries bounds the setting.
const (
	DefaultRetries = 10
	MaxRetries     = 15
)

// Backoff is the pause before retry number attempt (from 1). The server's wish
// wins. jitter is in [0,1).
func Backoff(attempt int, retryAfter time.Duration, jitter float64) time.Duration {
	if retryAfter > 0 {
		return min(retryAfter, retryAfterMax)
	}
	d := backoffFirst << min(attempt-1, 10)
	d = min(d, backoffMax)
	return d + time.Duration(float64(d)*jitter*0.25)
}
