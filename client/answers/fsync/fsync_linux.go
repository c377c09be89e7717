package fsync

import (
	"errors"
	"os"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"
)

// ErrRefused says that the kernel does not sync this file so: it must be synced the plain way.
var ErrRefused = errors.New("asynchronous fsync refused")

// Syncer makes files durable, one after the other. It is safe for concurrent use.
type Syncer struct {
	mu       sync.Mutex
	context  uintptr // what the kernel calls an aio_context_t
	eventFD  int     // counts what is done
	done     *os.File
	request  control
	requests [1]*control
	event    event
}

// control is a request, struct iocb in linux/aio_abi.h.
type control struct {
	_       [2]uint64 // what the event gives back, its key, flags for reading and writing
	opcode  uint16
	_       int16 // priority
	fd      uint32
	_       [4]uint64 // buffer, its length, offset, reserved
	flags   uint32
	eventFD uint32
}

// event is what became of a request, struct io_event there.
type event struct {
	_      [2]uint64 // of the request
	result int64     // below 0 an error's number
	_      int64
}

// Of linux/aio_abi.h: IOCB_CMD_FSYNC, IOCB_CMD_FDSYNC, IOCB_FLAG_RESFD.
const (
	opFsync     = 2
	opFdatasync = 3
	flagEventFD = 1
)

// New makes a Syncer. The error is the system's, which may have none to give.
func New() (*Syncer, error) {
	s := &Syncer{}
	s.requests[0] = &s.request
	if _, _, errno := unix.Syscall(unix.SYS_IO_SETUP, 1, uintptr(unsafe.Pointer(&s.context)), 0); errno != 0 {
		return nil, os.NewSyscallError("io_setup", errno)
	}
	var err error
	if s.eventFD, err = unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK); err != nil {
		return nil, errors.Join(os.NewSyscallError("eventfd", err), s.destroy())
	}
	s.done = os.NewFile(uintptr(s.eventFD), "eventfd") // the runtime's poller waits for it
	return s, nil
}

// Sync makes a file durable, as fsync does.
func (s *Syncer) Sync(fd uintptr) error { return s.sync(opFsync, "fsync", fd) }

// SyncData makes the contents of a file durable, as fdatasync does.
func (s *Syncer) SyncData(fd uintptr) error { return s.sync(opFdatasync, "fdatasync", fd) }

func (s *Syncer) sync(opcode uint16, name string, fd uintptr) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.request = control{opcode: opcode, fd: uint32(fd), flags: flagEventFD, eventFD: uint32(s.eventFD)}
	if n, _, errno := unix.Syscall(unix.SYS_IO_SUBMIT, s.context, 1, uintptr(unsafe.Pointer(&s.requests))); errno != 0 || n != 1 {
		return ErrRefused // a file that is bad for fsync, too, has its error from there
	}
	var count [8]byte
	if _, err := s.done.Read(count[:]); err != nil {
		return err
	}
	n, _, errno := unix.Syscall6(unix.SYS_IO_GETEVENTS, s.context, 1, 1, uintptr(unsafe.Pointer(&s.event)), 0, 0)
	if errno != 0 || n != 1 {
		return os.NewSyscallError("io_getevents", errno)
	}
	return s.event.err(name)
}

func (e *event) err(name string) error {
	if e.result < 0 {
		return os.NewSyscallError(name, unix.Errno(-e.result))
	}
	return nil
}

// Close gives back what is the kernel's. Nothing may be under way.
func (s *Syncer) Close() error { return errors.Join(s.done.Close(), s.destroy()) }

func (s *Syncer) destroy() error {
	if _, _, errno := unix.Syscall(unix.SYS_IO_DESTROY, s.context, 0, 0); errno != 0 {
		return os.NewSyscallError("io_destroy", errno)
	}
	return nil
}
