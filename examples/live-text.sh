#!/usr/bin/env bash
# Prints the answer while it is written, and exits with the run's exit code.
#
#   examples/live-text.sh "explain the build"
#   examples/live-text.sh "say hello" --fake examples/scripts/hello.json
set -o pipefail
linefeed -p "$@" --output-format jsonl | jq --unbuffered -rj '
  if .type == "text_delta" then .text
  elif .type == "retry" and .discards_partial then "\n[broken off, again from the start]\n"
  elif .type == "step_end" then "\n"
  else empty end'
