#!/usr/bin/env bash
# Compares the answers of the embedded service, and those of a gateway whose upstream answers and then does not, with their
# descriptions, by Schemathesis: scripts/process/openapi.sh BULKCAT. Random inputs are not tried: some are longer than a request
# may be.
set -euo pipefail
bulkcat=$(realpath "$1")
cd "$(dirname "$0")/../.."
[ -x bin/schemathesis/bin/st ] || python3 -m venv bin/schemathesis
bin/schemathesis/bin/pip install --quiet --disable-pip-version-check 'schemathesis>=4,<5'
schemathesis=$PWD/bin/schemathesis/bin/st
work=$(mktemp -d)
service='' gateway=''
trap 'kill $service $gateway 2>/dev/null || true; rm -rf "$work"' EXIT
cd "$work"
echo "key-of-the-test name=test" >keys.txt

# serve NAME FLAGS... starts a service, whose log is the file NAME, and waits until it listens.
serve() {
  local name=$1
  shift
  BULKCAT_API_KEY=key-of-the-test "$bulkcat" serve --api-key-file keys.txt --addr 127.0.0.1:0 --fetch never "$@" 2>"$name" &
  until url=$(grep -o 'serves http://[0-9.:]*' "$name"); do sleep 0.1; kill -0 $!; done
  url=${url#serves }
}

compare() {
  echo "== $1"
  "$schemathesis" run "$url/openapi.json" -H 'x-api-key: key-of-the-test' --phases examples,coverage --checks \
    not_a_server_error,status_code_conformance,content_type_conformance,response_headers_conformance,response_schema_conformance,unsupported_method,ignored_auth "${@:2}"
}

serve service
service=$!
compare "the embedded service"
serve gateway --upstream "$url" --store answers
gateway=$!
compare "a gateway"
kill $service
wait $service || true
compare "a gateway whose upstream is out" --exclude-checks not_a_server_error
