package main

import "runtime"

// allocations are the heap allocations of a process, or the mean per record.
type allocations struct {
	Objects float64 `json:"objects"`
	Bytes   float64 `json:"bytes"`
}

func countAllocations() allocations {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return allocations{Objects: float64(m.Mallocs), Bytes: float64(m.TotalAlloc)}
}

// since returns the mean allocations per record since before.
func (a allocations) since(before allocations, records int64) allocations {
	n := float64(max(records, 1))
	return allocations{Objects: (a.Objects - before.Objects) / n, Bytes: (a.Bytes - before.Bytes) / n}
}
