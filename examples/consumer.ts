// Shows the text while it is written and the tool calls with their times, and exits as the run did.
//
//   linefeed -p "explain the build" --output-format jsonl | node consumer.mjs
import { readEvents, Transcript, type StreamItem } from "linefeed/consumer";

const transcript = new Transcript();
let began = 0;

for await (const item of readEvents(process.stdin)) {
  // What was there before (a stream that was joined again) is not shown twice.
  if (transcript.apply(item)) show(item);
}
transcript.end();

for (const { message } of transcript.faults) console.error(`! ${message}`);
const { result } = transcript;
if (result?.error) console.error(`${result.status}: ${result.error.message}`);
process.exitCode = result ? result.exit_code : 1;

function show(item: StreamItem): void {
  switch (item.type) {
    case "init":
      began = Date.parse(item.ts);
      break;
    case "text_delta":
      process.stdout.write(item.text);
      break;
    case "retry":
      if (item.discards_partial) process.stdout.write("\n[broken off, again from the start]\n");
      break;
    case "message":
      if (transcript.text !== "") process.stdout.write("\n");
      break;
    case "tool_end": {
      const call = transcript.turn?.calls.find(({ id }) => id === item.tool_use_id);
      const from = (Date.parse(item.ts) - began - (item.duration_ms ?? 0)) / 1000;
      const what = `${item.name} ${call?.summary ?? "never began"}`;
      console.log(`${from.toFixed(1)} s  +${item.duration_ms ?? "?"} ms  ${item.status}  ${what}`);
      break;
    }
    default:
      // Anything else, known or not, is not needed here.
      break;
  }
}
