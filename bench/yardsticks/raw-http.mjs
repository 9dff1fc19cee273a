// The yardstick for a delta's way from the socket to stdout: what one writes without a library. It checks
// nothing, merges nothing, and prints each delta as a JSON line as soon as it is decoded.
// Usage: node raw-http.mjs <url> [batch]; with `batch` it prints once per network read, which is the floor.
import { request } from "node:http";

const [url, how] = process.argv.slice(2);
const options = { method: "POST", headers: { "content-type": "application/json" } };
const sent = request(new URL("/v1/messages", url), options, (response) => {
  response.setEncoding("utf8");
  let rest = "";
  let batch = "";
  response.on("data", (text) => {
    const frames = (rest + text).split("\n\n");
    rest = frames.pop();
    for (const frame of frames) {
      const event = JSON.parse(frame.slice(frame.indexOf("data: ") + 6));
      if (event.type !== "content_block_delta") continue;
      const line = `${JSON.stringify({ type: "text_delta", block: event.index, text: event.delta.text })}\n`;
      if (how === "batch") batch += line;
      else process.stdout.write(line);
    }
    if (batch !== "") process.stdout.write(batch);
    batch = "";
  });
});
sent.end("{}");
