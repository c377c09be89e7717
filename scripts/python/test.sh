#!/usr/bin/env bash
# Checks and tests the Python package of a wheel: scripts/python/test.sh WHEEL [ARGUMENTS of pytest]. The environment in
# bin/python stays for the next time. PYTHON=python3.12 names another Python, with an environment of its own. OLDEST=1 tests
# with the oldest libraries that the package declares, without the checks of the source.
set -euo pipefail
wheel=$(realpath "$1")
shift
cd "$(dirname "$0")"
venv=../../bin/$(basename "${PYTHON:-python}")${OLDEST:+-oldest}
[ -x $venv/bin/python ] || "${PYTHON:-python3}" -m venv $venv
pip=($venv/bin/pip install --quiet --disable-pip-version-check)
if [ -n "${OLDEST:-}" ]; then
  "${pip[@]}" $("$venv/bin/python" -c 'import wheel; print(*wheel.oldest())') 'numpy<2' \
    $(grep -E '^(check|hypothesis|joblib|packaging|pytest|twine)' tests/requirements.txt)
else
  "${pip[@]}" -r tests/requirements.txt
fi
"${pip[@]}" --no-index --no-deps --force-reinstall "$wheel"
export HYPOTHESIS_STORAGE_DIRECTORY=$(realpath ../../bin)/hypothesis BULKCAT_WHEEL=$wheel
[ -z "${OLDEST:-}" ] || exec $venv/bin/pytest -q -W default "$@" # old libraries warn of new Pythons

# The checks of the source run beside the tests, and tell their findings after them.
checks() {
  $venv/bin/ruff check --quiet || return
  $venv/bin/ruff format --quiet --check || return
  $venv/bin/mypy || return
  (cd tests && ../$venv/bin/mypy --config-file= --strict --warn-unused-ignores --no-error-summary --cache-dir ../../../bin/mypy-uses uses.py) || return # of the installed package
  $venv/bin/basedpyright --pythonpath $venv/bin/python --level error
}
findings=$(mktemp)
trap 'rm -f "$findings"' EXIT
checks >"$findings" 2>&1 &
status=0
$venv/bin/pytest -q "$@" || status=$?
wait $! || status=$?
cat "$findings"
exit $status
