package socket

import (
	"net"
	"syscall"
	"testing"
)

// The error of the system for a port without a listener is recognized.
func TestRefused(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	l.Close()
	_, err = net.Dial("tcp", address)
	if !Is(err, syscall.ECONNREFUSED) || Is(err, syscall.EHOSTUNREACH) || Is(err, syscall.ENFILE) || Is(nil, syscall.ECONNREFUSED) {
		t.Errorf("got %v", err)
	}
}
