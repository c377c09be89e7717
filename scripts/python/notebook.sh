#!/usr/bin/env bash
# Executes the notebook in an empty folder, and writes it as a page: scripts/python/notebook.sh PYTHON DIR
set -euo pipefail
python=$(cd "$(dirname "$1")" && pwd)/$(basename "$1") # a link, which names the environment
export PATH=${python%/*}:$PATH # where the notebook finds bulkcat
out=$(realpath "$2")
notebook=$(realpath "$(dirname "$0")/first-use.ipynb")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp "$notebook" "$work"
cd "$work"
IPYTHONDIR=$work "$python" -m nbconvert --log-level ERROR --execute --to html --output-dir "$out" first-use.ipynb
