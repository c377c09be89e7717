package process

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"sync/atomic"
	"syscall"
)

// The ports are below those that systems give to the connections of clients, which could take one before its server
// listens.
const firstPort, ports = 20_000, 10_000

var (
	begin = rand.Uint32N(ports) // differs between processes
	calls atomic.Uint32
)

// FreeAddr returns an address HOST:PORT of the loopback interface that nothing listens on, another one in each call.
func FreeAddr() (string, error) {
	// A process that starts meanwhile would hold the address until it has begun.
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

// Listening is for [Process.Ready]: something accepts connections at an address.
func Listening(addr string) func() error {
	return func() error {
		conn, err := net.Dial("tcp", addr)
		if err != nil {
			return err
		}
		return conn.Close()
	}
}
