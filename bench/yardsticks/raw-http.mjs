// The yardstick for a delta's way from the socket to stdout: what one writes without a library. It checks
// nothing, merges nothing, and prints each delta as a JSON line as soon as it is decoded.
// Usage: node raw-http.mjs <url> [batch|chat]; with `batch` it prints once per network read, which is the floor;
// with `chat` it reads Chat Completions.
import { request } from "node:http";

const [url, how] = process.argv.slice(2);
const options = { method: "POST", headers: { "content-type": "application/json" } };
const path = how === "chat" ? "/chat/completions" : "/v1/messages";
const sent = request(new URL(path, url), options, (response) => {
  response.setEncoding("utf8");
  let rest = "";
  let batch = "";
  response.on("data", (text) => {
    const frames = (rest + text).split("\n\n");
    rest = frames.pop();
    for (const frame of frames) {
      const data = frame.slice(frame.indexOf("data: ") + 6);
      if (data === "[DONE]") continue;
      const delta = how === "chat" ? chatDelta(JSON.parse(data)) : messageDelta(JSON.parse(data));
      if (delta === undefined) continue;
      const line = `${JSON.stringify({ type: "text_delta", block: delta.block, text: delta.text })}\n`;
      if (how === "batch") batch += line;
      else process.stdout.write(line);
    }
    if (batch !== "") process.stdout.write(batch);
    batch = "";
  });
});
sent.end("{}");

function messageDelta(event) {
  return event.type === "content_block_delta" ? { block: event.index, text: event.delta.text } : undefined;
}

function chatDelta(chunk) {
  const text = chunk.choices[0]?.delta.content;
  return text ? { block: 0, text } : undefined;
}
