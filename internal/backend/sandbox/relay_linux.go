package sandbox

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"
)

// openRelay takes listeners from the networks of commands over a socket in the
// private folder. A connection stands for the life of a command.
func openRelay(private string, cfg Config) (*relay, error) {
	door, err := net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Join(private, "relay"), Net: "unix"})
	if err != nil {
		return nil, fmt.Errorf("open the sandbox's relay: %w", err)
	}
	r := newRelay(cfg)
	r.door, r.addr = door, net.JoinHostPort("127.0.0.1", strconv.Itoa(relayPort))
	go func() {
		for {
			conn, err := door.AcceptUnix()
			if err != nil {
				return
			}
			go r.serve(conn)
		}
	}()
	return r, nil
}

// serve accepts on a command's listener until the command has ended. A command
// that cannot be served has no network, which it will report itself.
func (r *relay) serve(conn *net.UnixConn) {
	defer conn.Close()
	l, err := receive(conn)
	if err != nil {
		return
	}
	defer l.Close()
	go func() { _ = r.server.Serve(l) }() // ends with the listener
	_, _ = conn.Read(make([]byte, 1))
}

func receive(conn *net.UnixConn) (net.Listener, error) {
	oob := make([]byte, unix.CmsgSpace(4))
	_, n, _, _, err := conn.ReadMsgUnix(make([]byte, 1), oob)
	if err != nil {
		return nil, err
	}
	messages, err := unix.ParseSocketControlMessage(oob[:n])
	if err != nil || len(messages) != 1 {
		return nil, errors.Join(err, unix.EBADMSG)
	}
	fds, err := unix.ParseUnixRights(&messages[0])
	if err != nil || len(fds) != 1 {
		return nil, errors.Join(err, unix.EBADMSG)
	}
	f := os.NewFile(uintptr(fds[0]), "listener")
	defer f.Close()
	return net.FileListener(f)
}
