#!/bin/sh
# Runs the jobs of a file until they are complete.
#
#   nightly.sh JOBS.toml [SECONDS]
#
# Status 75 means "continue later": the script waits for SECONDS (3600), at most 24 times, and starts the
# jobs again. bulkcat then asks only for what has no answer yet. Status 5 says that the run has spent its budget, which
# is that of all starts: the script ends. The exit status is that of the last start,
# except that 3 (complete, some records have no answer) ends with 0.
set -eu
jobs=$1
wait=${2:-3600}

starts=1
while :; do
  status=0
  bulkcat run "$jobs" --quiet || status=$? # set -e does not end the script here
  case $status in
    0) exit 0 ;;
    3) echo "complete, but some records have no answer" >&2; exit 0 ;;
    75) [ "$starts" -lt 25 ] || exit 75 ;;
    *) exit "$status" ;;
  esac
  starts=$((starts + 1))
  sleep "$wait"
done
