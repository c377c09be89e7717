#!/usr/bin/env bash
# Runs each fuzz target of the module for TIME: scripts/fuzz.sh [TIME, default 10s]
set -euo pipefail
cd "$(dirname "$0")/.."
for package in $(go list ./...); do
  for target in $(go test -list '^Fuzz' "$package" | grep '^Fuzz' || true); do
    echo "== $package $target"
    go test -run '^$' -fuzz "^$target\$" -fuzztime "${1:-10s}" -fuzzminimizetime 5x "$package"
  done
done
