#!/usr/bin/env bash
# Lists the tool calls of a run as they end: duration, status, tool, what it did.
#
#   examples/tool-times.sh "do the tests pass?" --allowed-tools "Bash(npm test)"
set -o pipefail
linefeed -p "$@" --output-format jsonl --no-deltas | jq --unbuffered -nr '
  foreach inputs as $event (
    {};
    if $event.type == "tool_start" then .[$event.tool_use_id] = $event.summary else . end;
    if $event.type == "tool_end" then
      "\($event.duration_ms) ms\t\($event.status)\t\($event.name)\t\(.[$event.tool_use_id] // "never began")"
    else empty end
  )'
