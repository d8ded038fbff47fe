//go:build soak

package team

import "testing"

func TestSoakClaimsWithKills(t *testing.T) { claims(t, 8, 200, 60) }
