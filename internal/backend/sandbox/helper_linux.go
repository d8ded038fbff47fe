package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// job is what the helper is told. It travels in the argv: it names paths, no secrets.
type job struct {
	Tier Tier   `json:"tier"`
	Dir  string `json:"dir,omitempty"`
	// Relay is the socket that takes the listener of the command's network, ""
	// for no way out.
	Relay   string   `json:"relay,omitempty"`
	Steps   []step   `json:"steps,omitempty"`
	Roots   []string `json:"roots,omitempty"` // where placeholders are made
	Write   []string `json:"write,omitempty"` // for Landlock
	Hidden  []string `json:"hidden,omitempty"`
	Unix    bool     `json:"unix,omitempty"`
	OldProc bool     `json:"oldProc,omitempty"`
	Open    bool     `json:"open,omitempty"` // the rules about files are off
	Bwrap   string   `json:"bwrap,omitempty"`
	// Probe runs no command: the helper only looks whether the boundary holds.
	Probe bool `json:"probe,omitempty"`
}

// Stages of the helper: the one that stays outside, and the one inside that is
// the first process of the command's namespaces.
const (
	stageOutside = "out"
	stageInside  = "in"
)

// Helper is the program behind HelperArg. It must be called before anything
// else. When mine is false, args are not for it.
func Helper(args []string) (code int, mine bool) {
	if len(args) < 3 || args[0] != HelperArg {
		return 0, false
	}
	runtime.LockOSThread() // privileges and parent-death signals are bound to the thread
	var j job
	err := json.Unmarshal([]byte(args[2]), &j)
	if err == nil {
		switch args[1] {
		case stageOutside:
			code, err = outside(j, args[3:])
		case stageInside:
			code, err = inside(j, args[3:])
		default:
			err = fmt.Errorf("unknown stage %q", args[1])
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, notRun, err)
		return ExitSetup, true
	}
	return code, true
}

// outside starts the stage inside, hands its listener to the relay, passes
// signals on and ends as the command ended.
func outside(j job, argv []string) (int, error) {
	if err := closeStrays(); err != nil {
		return 0, err
	}
	if j.Tier == Landlock {
		return 0, landlocked(j, argv)
	}
	if j.Dir == "" {
		dir, err := os.Getwd()
		if err != nil {
			return 0, fmt.Errorf("find the working directory: %w", err)
		}
		j.Dir = dir
	}
	held, err := hold(&j)
	if err != nil {
		return 0, err
	}
	defer held.release()
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return 0, fmt.Errorf("make a channel to the inside: %w", err)
	}
	pid, err := start(j, argv, pair[1])
	unix.Close(pair[1])
	if err != nil {
		return 0, err
	}
	stop := passSignals(pair[0])
	defer stop()
	status, err := attend(j, pair[0])
	if _, werr := wait(pid); werr != nil && err == nil {
		err = fmt.Errorf("wait for the sandbox: %w", werr)
	}
	if err != nil {
		return 0, err
	}
	if status.Signaled() {
		held.release()
		dieOf(status.Signal())
	}
	return status.ExitStatus(), nil
}

// closeStrays closes inherited descriptors that would lead out: folders,
// sockets and devices. Pipes and plain files were handed over on purpose.
func closeStrays() error {
	names, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return fmt.Errorf("look at the inherited descriptors: %w", err)
	}
	for _, n := range names {
		fd, err := strconv.Atoi(n.Name())
		if err != nil || fd < 3 {
			continue
		}
		flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0)
		if err != nil || flags&unix.FD_CLOEXEC != 0 {
			continue // the runtime's own
		}
		var st unix.Stat_t
		kind := uint32(0)
		if unix.Fstat(fd, &st) == nil {
			kind = st.Mode & unix.S_IFMT
		}
		if kind != unix.S_IFIFO && kind != unix.S_IFREG {
			unix.Close(fd)
		}
	}
	return nil
}

// start forks the stage inside. Without ambient capabilities a user other than
// root loses the new namespace's rights at exec.
func start(j job, argv []string, channel int) (int, error) {
	if _, err := unix.FcntlInt(uintptr(channel), unix.F_SETFD, 0); err != nil {
		return 0, fmt.Errorf("hand the channel over: %w", err)
	}
	exe, err := os.Executable()
	if err != nil {
		return 0, fmt.Errorf("find hew's own program: %w", err)
	}
	spec, err := json.Marshal(j)
	if err != nil {
		return 0, fmt.Errorf("describe the sandbox: %w", err)
	}
	inner := append([]string{exe, HelperArg, stageInside, string(spec), strconv.Itoa(channel)}, argv...)
	attr := &syscall.ProcAttr{Env: os.Environ(), Files: []uintptr{0, 1, 2}}
	path := "/proc/self/exe" // still there when hew was replaced by an update
	switch j.Tier {
	case Namespaces:
		attr.Sys = &syscall.SysProcAttr{
			Cloneflags:  unix.CLONE_NEWUSER | unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWIPC | unix.CLONE_NEWNET,
			UidMappings: []syscall.SysProcIDMap{{ContainerID: os.Getuid(), HostID: os.Getuid(), Size: 1}},
			GidMappings: []syscall.SysProcIDMap{{ContainerID: os.Getgid(), HostID: os.Getgid(), Size: 1}},
			AmbientCaps: []uintptr{unix.CAP_DAC_OVERRIDE, unix.CAP_SYS_ADMIN, unix.CAP_NET_ADMIN, unix.CAP_SETPCAP},
		}
	case Bubblewrap:
		outer, err := bwrapArgs(j)
		if err != nil {
			return 0, err
		}
		path, inner = j.Bwrap, append(outer, inner...)
	case Landlock, Seatbelt, None:
		return 0, fmt.Errorf("no helper for the tier %s", j.Tier)
	}
	pid, err := syscall.ForkExec(path, inner, attr)
	if err != nil {
		return 0, fmt.Errorf("start the sandbox (%s): %w", j.Tier, err)
	}
	return pid, nil
}

func wait(pid int) (unix.WaitStatus, error) {
	for {
		var status unix.WaitStatus
		if _, err := unix.Wait4(pid, &status, 0, nil); !errors.Is(err, unix.EINTR) {
			return status, err
		}
	}
}

// passed are the signals that somebody sends to the command by sending them to
// the helper, whose number is the only one that is seen outside.
var passed = []os.Signal{unix.SIGTERM, unix.SIGHUP, unix.SIGUSR1, unix.SIGUSR2, unix.SIGINT, unix.SIGQUIT}

// passSignals sends the numbers of signals inside. Those of the keyboard reach
// the whole foreground group by themselves when there is a terminal.
func passSignals(channel int) (stop func()) {
	tty := -1
	if fd, err := unix.Open("/dev/tty", unix.O_RDONLY|unix.O_CLOEXEC|unix.O_NOCTTY, 0); err == nil {
		tty = fd
		unix.Close(fd)
	}
	got := make(chan os.Signal, 16)
	for _, s := range passed {
		if !signal.Ignored(s) {
			signal.Notify(got, s)
		}
	}
	go func() {
		for s := range got {
			n := s.(syscall.Signal)
			if tty >= 0 && (n == unix.SIGINT || n == unix.SIGQUIT) {
				continue
			}
			_, _ = unix.Write(channel, []byte{byte(n)}) // it has ended when nobody reads
		}
	}()
	return func() { signal.Stop(got); close(got) }
}

// dieOf ends this process by the signal that ended the command, without a
// second core file.
func dieOf(s syscall.Signal) {
	_ = unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{})
	// Go's runtime answers the signals of a crash itself, whatever os/signal
	// says: struct sigaction of zeros is the default action.
	var byDefault [4]uint64
	_, _, _ = unix.RawSyscall6(unix.SYS_RT_SIGACTION, uintptr(s), uintptr(unsafe.Pointer(&byDefault)), 0, 8, 0, 0)
	_ = unix.Kill(os.Getpid(), s)
	// A signal that is blocked or ignored: the number must do.
	os.Exit(128 + int(s))
}

// Messages from the inside: a letter and what belongs to it.
const (
	sayListener = 'L' // with the descriptor of the relay's listener
	sayError    = 'E' // text
	sayStatus   = 'S' // wait status in decimal
)

// attend hears what the inside says until it says how the command ended.
func attend(j job, channel int) (unix.WaitStatus, error) {
	relay := -1
	defer func() { unix.Close(relay) }()
	buf, oob := make([]byte, 4096), make([]byte, unix.CmsgSpace(4))
	for {
		n, oobn, _, _, err := unix.Recvmsg(channel, buf, oob, unix.MSG_CMSG_CLOEXEC)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case err != nil:
			return 0, fmt.Errorf("hear from the sandbox: %w", err)
		case n == 0:
			return 0, errors.New("the sandbox ended before the command was done")
		}
		text := string(buf[1:n])
		switch buf[0] {
		case sayError:
			return 0, errors.New(text)
		case sayStatus:
			status, err := strconv.ParseUint(text, 10, 32)
			return unix.WaitStatus(status), err
		case sayListener:
			if relay, err = handOver(j.Relay, oob[:oobn]); err != nil {
				return 0, err
			}
		}
	}
}

// handOver sends the listener to the relay of the session, over a connection
// that stands for the life of the command.
func handOver(socket string, oob []byte) (int, error) {
	messages, err := unix.ParseSocketControlMessage(oob)
	if err != nil || len(messages) == 0 {
		return -1, fmt.Errorf("take the network of the sandbox: %w", errors.Join(err, unix.EBADMSG))
	}
	fds, err := unix.ParseUnixRights(&messages[0])
	if err != nil || len(fds) == 0 {
		return -1, fmt.Errorf("take the network of the sandbox: %w", errors.Join(err, unix.EBADMSG))
	}
	defer unix.Close(fds[0])
	conn, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return -1, fmt.Errorf("reach the relay: %w", err)
	}
	if err = unix.Connect(conn, &unix.SockaddrUnix{Name: socket}); err == nil {
		err = unix.Sendmsg(conn, []byte{sayListener}, unix.UnixRights(fds[0]), nil, 0)
	}
	if err != nil {
		unix.Close(conn)
		return -1, fmt.Errorf("reach the relay: %w", err)
	}
	return conn, nil
}

// shown makes a path fit an error text.
func shown(path string) string { return strconv.Quote(strings.ToValidUTF8(path, "?")) }
