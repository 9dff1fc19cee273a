#!/usr/bin/env bash
# A step of a CI job: keeps the whole stream as an artifact, prints the answer, and fails unless the run is ok.
#
#   LOG=review.jsonl examples/ci.sh "review the last commit" --allowed-tools "Bash(git show *)"
set -u
log=${LOG:-linefeed.jsonl}
linefeed -p "$@" --output-format jsonl --no-stdin --timeout 15m --fail-on-denied >"$log"
code=$?
last=$(tail -n 1 "$log")
status=$(jq -r 'select(.type == "result").status' <<<"$last")
jq -r '.text // .error.message // empty' <<<"$last"
if [ "$status" = ok ]; then exit 0; fi
echo "linefeed: ${status:-no result}, exit code $code" >&2
# 75 means: the same job may succeed later.
exit $((code == 0 ? 1 : code))
