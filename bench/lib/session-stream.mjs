// A long session as linefeed writes it: what a reader has to cope with. Deterministic, so that rounds can be compared.

const PROSE =
  "The parser reads one line at a time, so a slow reader never makes it hold more than one chunk. I would rather keep the check where it is — it’s cheap, and the caller knows the path. Two tests fail because the fixture’s clock is off by an hour; the rest pass. Let me look at the other callers before I change the signature. ";
const CODE =
  'export function parse(line: string): Item | undefined {\n  const value: unknown = JSON.parse(line);\n  if (!isObject(value)) return undefined;\n  // See "limits" below: a tab\\t is fine here.\n  return { kind: "item", value, at: line.length };\n}\n\n';
const DELTA_CHARACTERS = 24;

/** Numbers from 0 to below 1 that are the same each time. */
function randomFrom(seed) {
  let state = seed;
  return () => (state = (state * 1_103_515_245 + 12_345) % 2_147_483_648) / 2_147_483_648;
}

/** Yields lines, in pieces of a step each, until there are at least so many bytes. */
export function* sessionStream(bytes) {
  const random = randomFrom(7);
  const between = (least, most) => Math.floor(least + random() * (most - least));
  const cut = (text, length) => {
    const at = between(0, text.length);
    return text
      .slice(at)
      .concat(text.repeat(Math.ceil(length / text.length)))
      .slice(0, length);
  };
  let seq = 0;
  const line = (type, body) => {
    seq += 1;
    const head = {
      type,
      seq,
      ts: new Date(1.8e12 + seq * 50).toISOString(),
      session_id: "019bc0fd-89c0-7c3e-9b5d-2f6a81d04e97",
    };
    return `${JSON.stringify({ ...head, ...body })}\n`;
  };
  const usage = {
    input_tokens: 4,
    output_tokens: 312,
    cache_read_input_tokens: 48_211,
    cache_creation_input_tokens: 1_902,
  };
  let left = bytes;
  const hand = (text) => {
    left -= Buffer.byteLength(text);
    return text;
  };
  yield hand(
    line("init", {
      protocol: 1,
      version: "0.1.0",
      model: "m",
      provider: "anthropic",
      cwd: "/home/user/project",
      tools: ["Bash", "Read", "Edit"],
      permission_mode: "default",
      resumed: false,
    }) + line("turn_start", { turn: 1, prompt: "Find out why the build is slow." }),
  );
  // oxlint-disable-next-line no-unmodified-loop-condition -- it is, when lines are handed on
  for (let step = 1; left > 0; step += 1) {
    const text = cut(PROSE, between(200, 1600));
    const id = `toolu_${step}`;
    const isRead = random() < 0.5;
    const input = isRead
      ? { file_path: `/home/user/project/src/file-${step}.ts` }
      : { command: `npx vitest run tests/file-${step}.test.ts` };
    const call = { tool_use_id: id, name: isRead ? "Read" : "Bash" };
    const output = cut(CODE, between(400, 12_000));
    let lines = line("step_start", { turn: 1, step, attempt: 1, model: "m" });
    for (let at = 0; at < text.length; at += DELTA_CHARACTERS)
      lines += line("text_delta", { step, block: 0, text: text.slice(at, at + DELTA_CHARACTERS) });
    const content = [
      { type: "text", text },
      { type: "tool_use", id, name: call.name, input },
    ];
    lines += line("message", {
      turn: 1,
      step,
      id: `msg_${step}`,
      role: "assistant",
      model: "m",
      content,
      stop_reason: "tool_use",
      usage,
      request_id: `req_${step}`,
    });
    lines += line("tool_start", { step, ...call, input, summary: isRead ? input.file_path : input.command });
    if (!isRead)
      for (let at = 0; at < output.length; at += 900)
        lines += line("tool_output_delta", {
          tool_use_id: id,
          stream: "stdout",
          text: output.slice(at, at + 900),
        });
    lines += line("tool_end", {
      step,
      ...call,
      status: "ok",
      is_error: false,
      content: output,
      duration_ms: 412,
      exit_code: isRead ? null : 0,
      truncated: false,
    });
    lines += line("step_end", {
      turn: 1,
      step,
      status: "ok",
      stop_reason: "tool_use",
      ttft_ms: 812,
      duration_ms: 5120,
    });
    yield hand(lines);
  }
}
