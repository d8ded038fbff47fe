package sandbox

import (
	"fmt"
	"slices"
	"strings"
)

// seatbeltPreamble is what every program on macOS needs: to run, to read, to
// look up users and names, to use its terminal. The language is Apple's sandbox
// profile language; the last rule that matches wins.
const seatbeltPreamble = `(version 1)
(deny default)
(allow process-exec)
(allow process-fork)
(allow process-info* (target same-sandbox))
(allow signal (target same-sandbox))
(allow sysctl-read)
(allow file-read*)
(allow pseudo-tty)
(allow file-ioctl (regex #"^/dev/(tty|ptmx|pty|fd/)"))
(allow file-write* (literal "/dev/null") (literal "/dev/zero") (literal "/dev/tty") (literal "/dev/ptmx") (regex #"^/dev/(ttys[0-9]+|fd/[0-9]+)$"))
(allow ipc-posix-sem)
(allow ipc-posix-shm-read* (ipc-posix-name "apple.shm.notification_center"))
(allow mach-lookup
  (global-name "com.apple.system.opendirectoryd.libinfo")
  (global-name "com.apple.system.opendirectoryd.membership")
  (global-name "com.apple.system.notification_center")
  (global-name "com.apple.bsd.dirhelper")
  (global-name "com.apple.logd"))
`

// seatbelt writes the profile of a layout. port is the relay's on the
// machine's own loopback, 0 for no network.
func seatbelt(p Policy, steps []step, port int) string {
	var b strings.Builder
	b.WriteString(seatbeltPreamble)
	if p.FilesOpen {
		b.WriteString("(allow file-write*)\n")
	}
	var hidden []string
	for _, s := range steps {
		path := quoteSBPL(s.Path)
		inHidden := slices.ContainsFunc(hidden, func(h string) bool { return within(s.Path, h) })
		if inHidden && (s.Do == expose || s.Do == freeze) {
			fmt.Fprintf(&b, "(allow file-read* (subpath %s))\n", path)
		}
		switch s.Do {
		case expose:
			fmt.Fprintf(&b, "(allow file-write* (subpath %s))\n", path)
		case pin: // it may be written in, but not moved away
			fmt.Fprintf(&b, "(deny file-write-unlink (literal %s))\n", path)
		case freeze:
			fmt.Fprintf(&b, "(deny file-write* (subpath %s))\n", path)
		case hide:
			hidden = append(hidden, s.Path)
			fmt.Fprintf(&b, "(deny file-read* file-write* (subpath %s))\n", path)
		}
	}
	if port != 0 {
		fmt.Fprintf(&b, "(allow network-outbound (remote ip \"localhost:%d\"))\n", port)
	}
	if p.UnixSockets {
		b.WriteString("(allow network* (remote unix-socket))\n(allow network* (local unix-socket))\n")
	}
	return b.String()
}

// quoteSBPL writes a string of the profile language.
func quoteSBPL(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"`
}
