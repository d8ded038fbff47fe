package sandbox

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// relayPort is where commands find the relay, on the loopback of their own network.
const relayPort = 3128

// inside is the first process of the command's namespaces: it builds the file
// system, opens the relay's listener, gives up every privilege, starts the
// command and reaps what it leaves. When it ends, the kernel ends all others.
func inside(j job, args []string) (int, error) {
	if len(args) == 0 {
		return 0, errors.New("no channel to the outside")
	}
	channel, err := strconv.Atoi(args[0])
	if err != nil {
		return 0, fmt.Errorf("the channel to the outside: %w", err)
	}
	unix.CloseOnExec(channel)
	if err := unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(unix.SIGKILL), 0, 0, 0); err != nil {
		return 0, fmt.Errorf("bind the sandbox to hew: %w", err)
	}
	// As the first process it would not die of these anyway, but be told so by
	// Go's runtime; the command gets them as they were.
	for _, s := range passed {
		if !signal.Ignored(s) {
			signal.Notify(make(chan os.Signal, 1), s)
		}
	}
	if err := confine(j, channel); err != nil {
		say(channel, sayError, err.Error())
		return ExitSetup, nil
	}
	if j.Probe {
		say(channel, sayStatus, "0")
		return 0, nil
	}
	status, err := command(j, args[1:], channel)
	if err != nil {
		say(channel, sayError, err.Error())
		return ExitSetup, nil
	}
	say(channel, sayStatus, strconv.FormatUint(uint64(status), 10))
	return 0, nil
}

func say(channel int, what byte, text string) {
	_ = unix.Sendmsg(channel, append([]byte{what}, text[:min(len(text), 4000)]...), nil, nil, 0) // nobody is left to hear otherwise
}

func confine(j job, channel int) error {
	if j.Tier == Namespaces {
		if err := mounts(j); err != nil {
			return err
		}
		if err := loopback(); err != nil {
			return err
		}
	}
	if j.Relay != "" {
		if err := listen(channel); err != nil {
			return err
		}
	}
	if err := os.Chdir(j.Dir); err != nil { // the old one lies under the new mounts
		return fmt.Errorf("enter the working directory: %w", err)
	}
	if err := drop(); err != nil {
		return err
	}
	if err := filter(families{unix: j.Unix, inet: true}).install(); err != nil {
		return err
	}
	if j.Probe {
		return holds()
	}
	return nil
}

// loopback starts the one interface of a new network.
func loopback() error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("start the loopback interface: %w", err)
	}
	defer unix.Close(fd)
	lo, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	lo.SetUint16(unix.IFF_UP | unix.IFF_RUNNING)
	if err := unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, lo); err != nil {
		return fmt.Errorf("start the loopback interface: %w", err)
	}
	return nil
}

// listen opens the relay's port inside and sends it out: connections are then
// accepted outside, and no process inside has anything to do with them.
func listen(channel int) error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("open the relay's port: %w", err)
	}
	defer unix.Close(fd)
	if err := unix.Bind(fd, &unix.SockaddrInet4{Port: relayPort, Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		return fmt.Errorf("open the relay's port: %w", err)
	}
	if err := unix.Listen(fd, 128); err != nil {
		return fmt.Errorf("open the relay's port: %w", err)
	}
	if err := unix.Sendmsg(channel, []byte{sayListener}, unix.UnixRights(fd), nil, 0); err != nil {
		return fmt.Errorf("hand the relay's port over: %w", err)
	}
	return nil
}

// command runs argv and reaps every process until it has ended.
func command(j job, argv []string, channel int) (unix.WaitStatus, error) {
	if len(argv) == 0 {
		return 0, errors.New("no command")
	}
	pid, err := syscall.ForkExec(argv[0], argv, &syscall.ProcAttr{Env: os.Environ(), Files: []uintptr{0, 1, 2}})
	if err != nil {
		return 0, fmt.Errorf("run %s in %s: %w", shown(argv[0]), shown(j.Dir), err)
	}
	go hearSignals(channel, pid)
	for {
		var status unix.WaitStatus
		ended, err := unix.Wait4(-1, &status, 0, nil)
		switch {
		case errors.Is(err, unix.EINTR):
		case err != nil:
			return 0, fmt.Errorf("wait for the command: %w", err)
		case ended == pid:
			return status, nil
		}
	}
}

// hearSignals sends on what the outside was sent, and ends the sandbox when
// the outside is gone.
func hearSignals(channel, pid int) {
	buf := make([]byte, 1)
	for {
		n, err := unix.Read(channel, buf)
		switch {
		case errors.Is(err, unix.EINTR):
		case err != nil || n == 0:
			os.Exit(ExitSetup)
		default:
			_ = unix.Kill(pid, syscall.Signal(buf[0]))
		}
	}
}

// holds tries from inside what must not work.
func holds() error {
	for what, try := range map[string]func() error{
		"a namespace can be made": func() error { return unix.Unshare(unix.CLONE_NEWNS) },
		"a file system can be mounted": func() error {
			return unix.Mount("none", "/", "tmpfs", 0, "")
		},
		"a vsock can be opened": func() error { return open(unix.AF_VSOCK, 0) },
		"multipath TCP can be opened": func() error {
			return open(unix.AF_INET, unix.IPPROTO_MPTCP)
		},
	} {
		if try() == nil {
			return errors.New("the sandbox does not hold: " + what)
		}
	}
	return nil
}

func open(family, protocol int) error {
	fd, err := unix.Socket(family, unix.SOCK_STREAM, protocol)
	if err == nil {
		unix.Close(fd)
	}
	return err
}
