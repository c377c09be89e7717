#!/usr/bin/env bash
# Opens the page of a run in Chromium: scripts/browser/test.sh BULKCAT [FOLDER for screenshots]
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
program=$(realpath "$1")
shots=${2:+$(realpath "$2")}
if ! command -v chromium >/dev/null; then
  sudo=""
  [ "$(id -u)" = 0 ] || sudo=sudo
  $sudo apt-get update -qq
  $sudo apt-get install -y -qq --no-install-recommends chromium fonts-dejavu-core
fi
[ -f "$here/node_modules/axe-core/axe.min.js" ] || npm install --prefix "$here" --no-audit --no-fund --loglevel=error
cd "$here"
go test -count 1 ./... -bulkcat "$program" -axe "$here/node_modules/axe-core/axe.min.js" ${shots:+-shots "$shots"}
