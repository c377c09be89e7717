package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"
)

// occasion states the date, the revision, the machine and its load of the figures. Call it before
// the measurements, which raise the load.
func occasion(ctx context.Context, command string) string {
	text := fmt.Sprintf("Measured on %s by `%s`, revision %s: %s, %s/%s, %d cores",
		time.Now().Format(time.DateOnly), command, revision(ctx), runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU())
	if model := firstValue("/proc/cpuinfo", "model name"); model != "" {
		text += " of " + model
	}
	if memory := firstValue("/proc/meminfo", "MemTotal"); memory != "" {
		text += ", memory " + memory
	}
	if kernel, err := os.ReadFile("/proc/sys/kernel/osrelease"); err == nil {
		text += ", kernel " + strings.TrimSpace(string(kernel))
	}
	if load, err := os.ReadFile("/proc/loadavg"); err == nil {
		minute, _, _ := strings.Cut(string(load), " ")
		text += ", load before " + minute
	}
	return text + "."
}

func revision(ctx context.Context) string {
	out, err := exec.CommandContext(ctx, "git", "describe", "--tags", "--always", "--dirty").Output()
	if err != nil {
		return "unknown"
	}
	return strings.TrimSpace(string(out))
}

// firstValue returns the value of the first line "name : value" in a file; "" if there is none.
func firstValue(path, name string) string {
	text, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(text)) {
		key, value, _ := strings.Cut(line, ":")
		if strings.TrimSpace(key) == name {
			return strings.TrimSpace(value)
		}
	}
	return ""
}
