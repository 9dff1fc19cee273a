#!/usr/bin/env python3
"""Reads a linefeed stream with nothing but the standard library: prints the text as it is written,
tool calls on stderr, and exits with the exit code of the run.

    linefeed -p "explain the build" --output-format jsonl | python3 examples/reader.py
"""

import json
import sys


def main() -> int:
    result = None
    # Binary lines end at LF only. A text stream would decode with the locale's encoding.
    for number, line in enumerate(sys.stdin.buffer, 1):
        try:
            event = json.loads(line)
            kind = event["type"]
        except (ValueError, TypeError, KeyError):
            # A banner, half a line: worth a word, and no reason to lose the rest.
            print(f"line {number} is no event: {line[:200]!r}", file=sys.stderr)
            continue
        if kind == "text_delta":
            print(event["text"], end="", flush=True)
        elif kind == "retry" and event["discards_partial"]:
            print("\n[broken off, again from the start]", flush=True)
        elif kind == "tool_start":
            print(f"[{event['name']}] {event['summary']}", file=sys.stderr)
        elif kind == "step_end":
            print(flush=True)
        elif kind == "result":
            result = event
        # Anything else, known or not, is not needed here.
    if result is None:
        print("the stream ended without a result", file=sys.stderr)
        return 1
    if result["error"] is not None:
        print(f"{result['status']}: {result['error']['message']}", file=sys.stderr)
    return result["exit_code"]


if __name__ == "__main__":
    sys.stdout.reconfigure(encoding="utf-8")
    sys.exit(main())
