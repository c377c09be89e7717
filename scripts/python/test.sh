#!/usr/bin/env bash
# Checks and tests the Python package of a wheel: scripts/python/test.sh WHEEL [ARGUMENTS of pytest]. The environment in
# bin/python stays for the next time. PYTHON=python3.12 names another Python, with an environment of its own.
set -euo pipefail
wheel=$(realpath "$1")
shift
cd "$(dirname "$0")"
venv=../../bin/$(basename "${PYTHON:-python}")
[ -x $venv/bin/python ] || "${PYTHON:-python3}" -m venv $venv
$venv/bin/pip install --quiet --disable-pip-version-check -r tests/requirements.txt
$venv/bin/pip install --quiet --disable-pip-version-check --no-index --no-deps --force-reinstall "$wheel"
$venv/bin/ruff check --quiet
$venv/bin/ruff format --quiet --check
$venv/bin/mypy
(cd tests && ../$venv/bin/mypy --config-file= --strict --warn-unused-ignores --no-error-summary --cache-dir ../../../bin/mypy-uses uses.py) # of the installed package
$venv/bin/basedpyright --pythonpath $venv/bin/python --level error
HYPOTHESIS_STORAGE_DIRECTORY=$(realpath ../../bin)/hypothesis BULKCAT_WHEEL=$wheel $venv/bin/pytest -q "$@"
