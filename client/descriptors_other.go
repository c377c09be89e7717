//go:build !unix

package client

// MaxConnections returns most: this system has no known limit.
func MaxConnections(most int) int { return most }
