package sandbox

import (
	"fmt"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The filter is built here and not with a library: the known ones fill tables
// of every system call of every architecture before main, which each start of
// hew would pay for.

// Offsets into struct seccomp_data (linux/seccomp.h). Arguments are 64 bits
// wide; the kernel reads those that matter here as 32-bit ints, so the low half
// is what counts, on the little-endian machines that auditArch knows.
const (
	offNr   = 0
	offArch = 4
	offArgs = 16
)

// namespaceFlags are the CLONE_NEW… bits.
const namespaceFlags = unix.CLONE_NEWUSER | unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWNET | unix.CLONE_NEWIPC |
	unix.CLONE_NEWUTS | unix.CLONE_NEWCGROUP

// denied are calls that no command needs and that reach around the boundary:
// other processes, mounts, namespaces, kernel state, and ways to open files or
// sockets that the rest of the filter does not see.
func denied() []uint32 {
	return append([]uint32{
		unix.SYS_PTRACE, unix.SYS_PROCESS_VM_READV, unix.SYS_PROCESS_VM_WRITEV, unix.SYS_KCMP, unix.SYS_PIDFD_GETFD, unix.SYS_PROCESS_MADVISE,
		unix.SYS_MOUNT, unix.SYS_UMOUNT2, unix.SYS_PIVOT_ROOT, unix.SYS_CHROOT, unix.SYS_OPEN_TREE, unix.SYS_MOVE_MOUNT, unix.SYS_FSOPEN,
		unix.SYS_FSCONFIG, unix.SYS_FSMOUNT, unix.SYS_FSPICK, unix.SYS_MOUNT_SETATTR, sysOpenTreeAttr,
		unix.SYS_UNSHARE, unix.SYS_SETNS, unix.SYS_BPF, unix.SYS_PERF_EVENT_OPEN, unix.SYS_USERFAULTFD, unix.SYS_FANOTIFY_INIT,
		unix.SYS_KEYCTL, unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY, unix.SYS_OPEN_BY_HANDLE_AT,
		unix.SYS_KEXEC_LOAD, unix.SYS_KEXEC_FILE_LOAD, unix.SYS_INIT_MODULE, unix.SYS_FINIT_MODULE, unix.SYS_DELETE_MODULE,
		unix.SYS_SWAPON, unix.SYS_SWAPOFF, unix.SYS_REBOOT, unix.SYS_ACCT, unix.SYS_SYSLOG, unix.SYS_SETTIMEOFDAY, unix.SYS_CLOCK_SETTIME,
	}, archDenied()...)
}

// sysOpenTreeAttr is open_tree_attr(2), Linux 6.15, the same number everywhere.
const sysOpenTreeAttr = 467

// absent are calls that programs do without when the kernel lacks them: they
// are told so. clone3 hides its flags behind a pointer; io_uring does what the
// filter would refuse as a plain call.
func absent() []uint32 {
	return []uint32{unix.SYS_CLONE3, unix.SYS_IO_URING_SETUP, unix.SYS_IO_URING_ENTER, unix.SYS_IO_URING_REGISTER}
}

// families says which sockets a command may create.
type families struct {
	unix, inet bool
}

// program collects instructions of the classic BPF machine.
type program []unix.SockFilter

func (p *program) op(code uint16, k uint32, jt, jf uint8) {
	*p = append(*p, unix.SockFilter{Code: code, Jt: jt, Jf: jf, K: k})
}

func (p *program) load(offset uint32) { p.op(unix.BPF_LD|unix.BPF_W|unix.BPF_ABS, offset, 0, 0) }

func (p *program) ret(action uint32) { p.op(unix.BPF_RET|unix.BPF_K, action, 0, 0) }

func fail(errno unix.Errno) uint32 { return unix.SECCOMP_RET_ERRNO | uint32(errno) }

// refuse answers when the loaded word equals k.
func (p *program) refuse(k uint32, errno unix.Errno) {
	p.op(unix.BPF_JMP|unix.BPF_JEQ|unix.BPF_K, k, 0, 1)
	p.ret(fail(errno))
}

// only runs body when the loaded word equals k; body must end with a ret.
func (p *program) only(k uint32, body func(*program)) {
	var inner program
	body(&inner)
	p.op(unix.BPF_JMP|unix.BPF_JEQ|unix.BPF_K, k, 0, uint8(len(inner)))
	*p = append(*p, inner...)
}

func arg(n uint32) uint32 { return offArgs + 8*n }

// filter is the whole program. Everything that it does not name is allowed.
func filter(f families) program {
	var p program
	p.load(offArch)
	p.op(unix.BPF_JMP|unix.BPF_JEQ|unix.BPF_K, auditArch, 1, 0)
	p.ret(fail(unix.ENOSYS)) // 32-bit programs have other numbers
	p.load(offNr)
	if foreignNr != 0 { // the x32 numbers of amd64
		p.op(unix.BPF_JMP|unix.BPF_JGE|unix.BPF_K, foreignNr, 0, 1)
		p.ret(fail(unix.ENOSYS))
	}
	for _, nr := range denied() {
		p.refuse(nr, unix.EPERM)
	}
	for _, nr := range absent() {
		p.refuse(nr, unix.ENOSYS)
	}
	p.only(unix.SYS_SOCKET, f.socket)
	p.only(unix.SYS_CLONE, func(p *program) {
		p.load(arg(0))
		p.op(unix.BPF_JMP|unix.BPF_JSET|unix.BPF_K, namespaceFlags, 0, 1)
		p.ret(fail(unix.EPERM))
		p.ret(unix.SECCOMP_RET_ALLOW)
	})
	p.only(unix.SYS_IOCTL, func(p *program) { // typing into a shared terminal
		p.load(arg(1))
		p.refuse(unix.TIOCSTI, unix.EPERM)
		p.refuse(unix.TIOCLINUX, unix.EPERM)
		p.ret(unix.SECCOMP_RET_ALLOW)
	})
	p.ret(unix.SECCOMP_RET_ALLOW)
	return p
}

// socket is for socket(2): families that are not listed do not exist, among
// them vsock, packet, bluetooth and the kernel's crypto. Multipath TCP does not
// either: Landlock's port rules do not see it, and programs fall back to TCP.
func (f families) socket(p *program) {
	p.load(arg(0))
	if !f.unix {
		p.refuse(unix.AF_UNIX, unix.EPERM)
	}
	allowed := []uint32{unix.AF_NETLINK}
	if f.unix {
		allowed = append(allowed, unix.AF_UNIX)
	}
	for _, family := range allowed {
		p.only(family, func(p *program) { p.ret(unix.SECCOMP_RET_ALLOW) })
	}
	if !f.inet {
		p.ret(fail(unix.EPERM))
		return
	}
	p.op(unix.BPF_JMP|unix.BPF_JEQ|unix.BPF_K, unix.AF_INET, 2, 0)
	p.op(unix.BPF_JMP|unix.BPF_JEQ|unix.BPF_K, unix.AF_INET6, 1, 0)
	p.ret(fail(unix.EAFNOSUPPORT))
	p.load(arg(2))
	p.refuse(unix.IPPROTO_MPTCP, unix.EPROTONOSUPPORT)
	p.ret(unix.SECCOMP_RET_ALLOW)
}

// install puts the filter on every thread of the process. no_new_privs must be set.
func (p program) install() error {
	if auditArch == 0 {
		return fmt.Errorf("no system call filter for %s", runtime.GOARCH)
	}
	prog := unix.SockFprog{Len: uint16(len(p)), Filter: &p[0]}
	_, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC, uintptr(unsafe.Pointer(&prog)))
	if errno != 0 {
		return fmt.Errorf("install the system call filter: %w", errno)
	}
	return nil
}
