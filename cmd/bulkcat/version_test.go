package main

import (
	"runtime/debug"
	"testing"
)

func TestBuild(t *testing.T) {
	revision := []debug.BuildSetting{{Key: "vcs", Value: "git"}, {Key: "vcs.revision", Value: "0123456789abcdef0123"}}
	for name, tt := range map[string]struct {
		stamped build
		info    debug.BuildInfo
		want    build
	}{
		"make build":      {build{"v1.2.3", "fedcba987654"}, debug.BuildInfo{Main: debug.Module{Version: "(devel)"}, Settings: revision}, build{"v1.2.3", "fedcba987654"}},
		"go install":      {build{}, debug.BuildInfo{Main: debug.Module{Version: "v1.2.3"}}, build{"v1.2.3", "unknown"}},
		"go build, clone": {build{}, debug.BuildInfo{Main: debug.Module{Version: "v0.0.0-20261123153156-0123456789ab"}, Settings: revision}, build{"v0.0.0-20261123153156-0123456789ab", "0123456789ab"}},
		"go run":          {build{}, debug.BuildInfo{Main: debug.Module{Version: "(devel)"}}, build{"dev", "unknown"}},
		"nothing known":   {build{}, debug.BuildInfo{}, build{"dev", "unknown"}},
	} {
		if got := tt.stamped.completed(&tt.info); got != tt.want {
			t.Errorf("%s: got %v, want %v", name, got, tt.want)
		}
	}
}
