#!/usr/bin/env bash
# A CI pipeline with an agent in it, tested without a model: linefeed plays a run that was recorded with
#
#   linefeed -p "make the test of the greeter pass" --permission-mode accept-edits \
#     --allowed-tools "Bash(node --test *)" --record examples/scripts/recorded-fix.json
#
# The tools are real: the test is run, the file is edited. No key, no network, no waits; ends non-zero at the first
# stage that is not as it should be.
set -euo pipefail
script=$(cd "$(dirname "$0")" && pwd)/scripts/recorded-fix.json
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/examples"
cp -R "$(dirname "$0")/greeter" "$work/examples"
cd "$work"
# The mistake that is to be found, whether or not another example has mended it already.
sed 's/"}!`;/"}`;/' examples/greeter/greet.mjs >broken.mjs
cp broken.mjs examples/greeter/greet.mjs

agent() {
  linefeed -p "make the test of the greeter pass" --fake "$script" --deterministic --no-stdin --json "$@"
}
rights=(--permission-mode accept-edits --allowed-tools "Bash(node --test *)")

# stage NAME EXIT-CODE COMMAND...: the command's stdout is kept in NAME.out.
stage() {
  local name=$1 expected=$2 code=0
  shift 2
  "$@" >"$name.out" || code=$?
  if [ "$code" -ne "$expected" ]; then
    echo "FAIL $name: exit code $code instead of $expected" >&2
    exit 1
  fi
  echo "ok   $name"
}

# Without the rights to edit, the agent may not change a thing, and the job must fail with 4.
stage denied 4 agent --fail-on-denied
stage unchanged 0 cmp broken.mjs examples/greeter/greet.mjs

# A limit must end it with 3.
stage limit 3 agent --max-steps 1

# The job itself: the test fails before and passes after.
stage test-before 1 node --test examples/greeter/greet.test.mjs
stage fix 0 agent "${rights[@]}"
stage test-after 0 node --test examples/greeter/greet.test.mjs

# What it did, and in which order; one cut stream was survived.
stage calls 0 jq -r 'select(.type == "tool_end") | "\(.name) \(.status)"' fix.out
stage calls-as-expected 0 diff <(printf '%s\n' "Bash error" "Read ok" "Edit ok" "Bash ok") calls.out
stage one-retry 0 jq -es '[.[] | select(.type == "retry")] | length == 1' fix.out
stage answer 0 jq -es '.[-1] | .type == "result" and (.text | endswith("its test passes."))' fix.out

# Snapshots can be compared byte by byte: another run prints the same.
cp broken.mjs examples/greeter/greet.mjs
stage denied-again 4 agent --fail-on-denied
stage same-bytes 0 cmp denied.out denied-again.out
