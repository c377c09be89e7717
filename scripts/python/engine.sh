#!/usr/bin/env bash
# Installs the wheel of bin/wheels, with an EXTRA, and the packages of an engine's test in the environment bin/NAME, which
# stays for the next time: scripts/python/engine.sh NAME [EXTRA]
set -euo pipefail
cd "$(dirname "$0")/../.."
wheel=$(realpath bin/wheels/*.whl)
[ -x "bin/$1/bin/python" ] || python3 -m venv "bin/$1"
pip=("bin/$1/bin/pip" install --quiet --disable-pip-version-check)
"${pip[@]}" -r "scripts/python/tests/engines/requirements-$1.txt" "$wheel${2:+[$2]}"
"${pip[@]}" --no-index --no-deps --force-reinstall "$wheel" # also when the version is the same
