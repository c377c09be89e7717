//go:build !unix

package client

// MaxConnections returns most: no limit is known here.
func MaxConnections(most int) int { return most }
