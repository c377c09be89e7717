#!/usr/bin/env bash
# Compares the answers of a service with its description, by Schemathesis: scripts/process/openapi.sh BULKCAT. Random inputs are
# not tried: some are longer than a request may be.
set -euo pipefail
bulkcat=$(realpath "$1")
cd "$(dirname "$0")/../.."
[ -x bin/schemathesis/bin/st ] || python3 -m venv bin/schemathesis
bin/schemathesis/bin/pip install --quiet --disable-pip-version-check 'schemathesis>=4,<5'
work=$(mktemp -d)
trap 'kill "$service" 2>/dev/null || true; rm -rf "$work"' EXIT
echo "key-of-the-test name=test" >"$work/keys.txt"
"$bulkcat" serve --api-key-file "$work/keys.txt" --addr 127.0.0.1:0 --fetch never 2>"$work/log" &
service=$!
until url=$(grep -o 'http://[0-9.:]*' "$work/log"); do sleep 0.1; kill -0 "$service"; done
cd "$work"
"$OLDPWD/bin/schemathesis/bin/st" run "$url/openapi.json" -H 'x-api-key: key-of-the-test' --phases examples,coverage --checks \
  not_a_server_error,status_code_conformance,content_type_conformance,response_headers_conformance,response_schema_conformance,unsupported_method,ignored_auth
