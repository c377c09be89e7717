package process

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"sync/atomic"
	"syscall"
)

// The ports are below the ephemeral ports, which systems give to connections of clients: such a connection could take a port
// before its server listens.
const firstPort, ports = 20_000, 10_000

var (
	begin = rand.Uint32N(ports) // random, so that processes differ
	calls atomic.Uint32
)

// FreeAddr returns an address HOST:PORT of the loopback interface on which nothing listens. Each call returns another address.
func FreeAddr() (string, error) {
	// A child process that starts at the same time would inherit the listener, and hold the address until its exec.
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	for range ports {
		addr := fmt.Sprintf("127.0.0.1:%d", firstPort+(begin+calls.Add(1))%ports)
		if listener, err := net.Listen("tcp", addr); err == nil {
			return addr, listener.Close()
		}
	}
	return "", errors.New("no port is free")
}

// Listening returns a function for [Process.Ready], which returns nil when something accepts connections at addr.
func Listening(addr string) func() error {
	return func() error {
		conn, err := net.Dial("tcp", addr)
		if err != nil {
			return err
		}
		return conn.Close()
	}
}
