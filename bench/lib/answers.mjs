import { answer, chatAnswer, sseEvent } from "../../dist/testing/index.js";

const ALPHABET = "the quick brown fox jumps over the lazy dog ";

/** ASCII text of a length. */
export function textOf(length) {
  return ALPHABET.repeat(Math.ceil(length / ALPHABET.length)).slice(0, length);
}

export function blockStart(index) {
  return sseEvent({ type: "content_block_start", index, content_block: { type: "text", text: "" } });
}

export function delta(index, text) {
  return sseEvent({ type: "content_block_delta", index, delta: { type: "text_delta", text } });
}

export function blockStop(index) {
  return sseEvent({ type: "content_block_stop", index });
}

/** Everything before the first block. */
export function head() {
  return answer().unfinished();
}

/** Everything after the last block: what a whole answer without blocks has beyond its head. */
export function tail() {
  const options = { id: "msg_tail" };
  return answer(options).done().slice(answer(options).unfinished().length);
}

/** The bytes of a whole answer of one block: so many deltas of so many characters. */
export function burst(deltas, characters) {
  const one = delta(0, textOf(characters));
  return Buffer.from(head() + blockStart(0) + one.repeat(deltas) + blockStop(0) + tail());
}

/** The same in the dialect of Chat Completions. */
export function chatBurst(deltas, characters) {
  const options = { id: "chatcmpl-burst" };
  const head = chatAnswer(options).unfinished();
  const one = chatAnswer({ ...options, deltaSize: characters })
    .text(textOf(characters))
    .unfinished();
  const tail = chatAnswer(options).done().slice(head.length);
  return Buffer.from(head + one.slice(head.length).repeat(deltas) + tail);
}

/** The bytes of an answer that calls Bash. */
export function bashCall(command) {
  return Buffer.from(answer().toolUse("Bash", { command }).done());
}
