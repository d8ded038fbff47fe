package sandbox

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// trickArg is the first argument of a process that tries one thing and ends
// with 0 when it worked.
const trickArg = "__trick"

func trick(args []string) (code int, mine bool) {
	if len(args) < 2 || args[0] != trickArg {
		return 0, false
	}
	do, ok := tricks()[args[1]]
	if !ok {
		fmt.Fprintln(os.Stderr, "no such trick:", args[1])
		return 99, true
	}
	if err := do(args[2:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1, true
	}
	return 0, true
}

func raw(nr uintptr, args ...uintptr) error {
	var a [6]uintptr
	copy(a[:], args)
	_, _, errno := unix.Syscall6(nr, a[0], a[1], a[2], a[3], a[4], a[5])
	if errno != 0 {
		return errno
	}
	return nil
}

func socket(family, kind, protocol int) func([]string) error {
	return func([]string) error {
		fd, err := unix.Socket(family, kind, protocol)
		if err == nil {
			unix.Close(fd)
		}
		return err
	}
}

func dial(network string) func([]string) error {
	return func(args []string) error {
		c, err := net.Dial(network, args[0])
		if err != nil {
			return err
		}
		defer c.Close()
		_, err = c.Write([]byte("ping"))
		return err
	}
}

func tricks() map[string]func(args []string) error {
	return map[string]func(args []string) error{
		"tcp": dial("tcp"), "udp": dial("udp"), "unix": dial("unix"),
		"vsock":      socket(unix.AF_VSOCK, unix.SOCK_STREAM, 0),
		"vsock-high": func([]string) error { return raw(unix.SYS_SOCKET, 1<<32|unix.AF_VSOCK, unix.SOCK_STREAM, 0) },
		"mptcp":      socket(unix.AF_INET, unix.SOCK_STREAM, unix.IPPROTO_MPTCP),
		"packet":     socket(unix.AF_PACKET, unix.SOCK_RAW, 0),
		"alg":        socket(unix.AF_ALG, unix.SOCK_SEQPACKET, 0),
		"netlink":    socket(unix.AF_NETLINK, unix.SOCK_RAW, 0),
		"tcp-socket": socket(unix.AF_INET, unix.SOCK_STREAM, 0),
		"socketpair": func([]string) error { _, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0); return err },
		"unshare":    func([]string) error { return unix.Unshare(unix.CLONE_NEWUSER) },
		"clone-user": func([]string) error {
			pid, err := syscall.ForkExec("/bin/true", []string{"true"}, &syscall.ProcAttr{Sys: &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWUSER}})
			if err == nil {
				_, err = syscall.Wait4(pid, nil, 0, nil)
			}
			return err
		},
		"clone3":    func([]string) error { return raw(unix.SYS_CLONE3, 0, 0) },
		"setns":     setns,
		"mount":     func([]string) error { return unix.Mount("x", "/tmp", "tmpfs", 0, "") },
		"remount":   func([]string) error { return unix.Mount("", "/", "", unix.MS_REMOUNT|unix.MS_BIND, "") },
		"umount":    func(args []string) error { return unix.Unmount(args[0], unix.MNT_DETACH) },
		"open-tree": func([]string) error { _, err := unix.OpenTree(unix.AT_FDCWD, "/", unix.OPEN_TREE_CLONE); return err },
		"setattr": func([]string) error {
			return unix.MountSetattr(unix.AT_FDCWD, "/", 0, &unix.MountAttr{Attr_clr: unix.MOUNT_ATTR_RDONLY})
		},
		"chroot":   func([]string) error { return unix.Chroot("/tmp") },
		"ptrace":   func([]string) error { return raw(unix.SYS_PTRACE, unix.PTRACE_TRACEME) },
		"vm-readv": func([]string) error { return readParent() },
		"io-uring": func([]string) error {
			var p [120]byte
			return raw(unix.SYS_IO_URING_SETUP, 1, uintptr(unsafe.Pointer(&p)))
		},
		"bpf": func([]string) error { return raw(unix.SYS_BPF, 0, 0, 0) },
		"keyctl": func([]string) error {
			_, err := unix.KeyctlGetKeyringID(unix.KEY_SPEC_SESSION_KEYRING, true)
			return err
		},
		"tiocsti":     func([]string) error { return tiocsti() },
		"kill":        func(args []string) error { return kill(args[0]) },
		"pty":         func([]string) error { return pty() },
		"fd":          func([]string) error { _, err := os.NewFile(187, "pipe").WriteString("seen\n"); return err },
		"escape-fd":   func(args []string) error { return escapeFD(args[0]) },
		"raise-caps":  func([]string) error { return status("CapInh", "CapPrm", "CapEff", "CapAmb") },
		"bounding":    func([]string) error { return status("CapBnd") },
		"init-memory": func([]string) error { _, err := os.OpenFile("/proc/1/mem", os.O_RDWR, 0); return err },
		"connect":     func(args []string) error { return connect(args[0]) },
		"get":         func(args []string) error { return get(args[0]) },
	}
}

func setns([]string) error {
	f, err := os.Open("/proc/1/ns/mnt")
	if err != nil {
		f, err = os.Open("/proc/self/ns/mnt")
	}
	if err != nil {
		return err
	}
	return unix.Setns(int(f.Fd()), unix.CLONE_NEWNS)
}

func readParent() error {
	var buf [8]byte
	local := []unix.Iovec{{Base: &buf[0], Len: 8}}
	_, err := unix.ProcessVMReadv(os.Getpid(), local, []unix.RemoteIovec{{Base: uintptr(unsafe.Pointer(&buf)), Len: 8}}, 0)
	return err
}

func tiocsti() error {
	fd, err := unix.Open("/dev/ptmx", unix.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		return nil // would hide a fault of /dev, which the trick "pty" shows
	}
	c := byte('x')
	err = raw(unix.SYS_IOCTL, uintptr(fd), unix.TIOCSTI, uintptr(unsafe.Pointer(&c)))
	if err == unix.EPERM {
		return err
	}
	return nil
}

func kill(pid string) error {
	n := 0
	if _, err := fmt.Sscan(pid, &n); err != nil {
		return err
	}
	return unix.Kill(n, 0)
}

// pty opens a new terminal and its other end.
func pty() error {
	fd, err := unix.Open("/dev/ptmx", unix.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		return fmt.Errorf("ptmx: %w", err)
	}
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		return fmt.Errorf("unlock: %w", err)
	}
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil {
		return fmt.Errorf("number: %w", err)
	}
	f, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString("hello\n")
	return err
}

// escapeFD looks for an inherited descriptor that leads out.
func escapeFD(target string) error {
	for fd := 3; fd < 300; fd++ {
		out, err := unix.Openat(fd, filepath.Base(target), unix.O_WRONLY|unix.O_CREAT, 0o600)
		if err == nil {
			unix.Close(out)
			return nil
		}
	}
	return unix.EBADF
}

// status works when one of the sets holds a capability, or the filter is off.
func status(sets ...string) error {
	b, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return err
	}
	for line := range strings.Lines(string(b)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), ":\t")
		if slices.Contains(sets, name) && value != "0000000000000000" {
			return nil
		}
		if (name == "NoNewPrivs" && value != "1") || (name == "Seccomp" && value != "2") {
			return nil
		}
	}
	return unix.EPERM
}

// connect asks the proxy of the environment for a tunnel and greets through it.
func connect(target string) error {
	c, err := net.Dial("tcp", strings.TrimPrefix(os.Getenv("HTTPS_PROXY"), "http://"))
	if err != nil {
		return err
	}
	defer c.Close()
	fmt.Fprintf(c, "CONNECT %s HTTP/1.1\r\nHost: %s\r\n\r\n", target, target)
	r := bufio.NewReader(c)
	resp, err := http.ReadResponse(r, &http.Request{Method: http.MethodConnect})
	if err != nil {
		return err
	}
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("proxy: %s", resp.Status)
	}
	fmt.Fprint(c, "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
	if resp, err = http.ReadResponse(r, nil); err != nil {
		return err
	}
	if resp.StatusCode != http.StatusTeapot {
		return fmt.Errorf("server: %s", resp.Status)
	}
	return nil
}

// get asks for a plain URL through the proxy.
func get(url string) error {
	c, err := net.Dial("tcp", strings.TrimPrefix(os.Getenv("HTTP_PROXY"), "http://"))
	if err != nil {
		return err
	}
	defer c.Close()
	fmt.Fprintf(c, "GET %s HTTP/1.1\r\nHost: ignored\r\n\r\n", url)
	resp, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		return err
	}
	if resp.StatusCode != http.StatusTeapot {
		return fmt.Errorf("status %s", resp.Status)
	}
	return nil
}
