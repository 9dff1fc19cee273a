import { readFileSync } from "node:fs";
import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, it } from "vitest";
import { readMessageLine } from "../../src/cli/user-message.ts";

const PNG =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGNgYGBgAAAABQABh6FO1AAAAABJRU5ErkJggg==";
const image = (data: string) => ({
  type: "image",
  source: { type: "base64", media_type: "image/png", data },
});
const link = (url: string) => ({ type: "image", source: { type: "url", url } });
const text = (words: string) => ({ type: "text", text: words });
const user = (fields: object) => ({ type: "user", ...fields });

const validate = new Ajv2020().compile(JSON.parse(readFileSync("schemas/input.json", "utf8")) as object);

describe("a line that is a prompt", () => {
  it.each([
    [user({ text: "hi" }), "hi"],
    [user({ text: "  as it is\n" }), "  as it is\n"],
    [user({ text: "a \u2028 b" }), "a \u2028 b"],
    [user({ text: "hi", priority: 1, ["__proto__"]: { text: 3 } }), "hi"],
    [user({ content: [text("what is this?"), image(PNG)] }), [text("what is this?"), image(PNG)]],
    [user({ content: [image(PNG)] }), [image(PNG)]],
    [user({ content: [link("https://example.com/a.png")] }), [link("https://example.com/a.png")]],
    [user({ content: [{ ...text("hi"), cache: true }] }), [text("hi")]],
  ])("%j", (message, prompt) => {
    expect(readMessageLine(JSON.stringify(message))).toEqual({ prompt });
    expect(validate(JSON.parse(JSON.stringify(message))), JSON.stringify(validate.errors)).toBe(true);
  });

  it("may hold an image of many MiB", () => {
    const data = "A".repeat(9 * 1024 * 1024);
    expect(readMessageLine(JSON.stringify(user({ content: [image(data)] })))).toEqual({
      prompt: [image(data)],
    });
  });
});

describe("a line that is none says why", () => {
  it.each([
    ["hello", "it is not JSON (Unexpected token 'h', \"hello\" is not valid JSON)"],
    ['{"type":"user","text":"cut', "it is not JSON"],
    ['"hello"', "it is no JSON object"],
    ["[]", "it is no JSON object"],
    ["null", "it is no JSON object"],
  ])("%s", (line, fault) => {
    const read = readMessageLine(line);
    expect(read).toEqual({ fault: expect.stringContaining(fault) });
    expect(read).toEqual({ fault: expect.stringContaining('write {"type":"user","text":"…"}') });
  });

  it.each([
    [{}, 'type: must be "user"; text: is missing'],
    [{ type: "assistant", text: "hi" }, 'type: must be "user"'],
    [user({ text: 3 }), "text: must be a string"],
    [user({ text: "" }), "text: is blank"],
    [user({ text: " \n\t" }), "text: is blank"],
    [user({ message: { role: "user", content: "hi" } }), "text: is missing"],
    [user({ content: "hi" }), "content: must be a list of blocks"],
    [user({ content: [] }), "content: is empty"],
    [user({ content: [text(" ")] }), "content: is blank"],
    [user({ content: [{ type: "video" }] }), 'content.0.type: must be "text" or "image"'],
    [user({ content: [text("a"), image("no base64!")] }), "content.1.source.data: is not base64"],
    [user({ content: [image("")] }), "content.0.source.data: is not base64"],
    [user({ content: [link("file:///etc/passwd")] }), "content.0.source.url: is no http or https address"],
    [user({ text: "hi", content: [text("hi")] }), "content: must not stand beside text: give one of the two"],
  ])("%j", (message, fault) => {
    expect(readMessageLine(JSON.stringify(message))).toEqual({ fault });
  });

  it("in a few words, however much is wrong", () => {
    const read = readMessageLine(
      JSON.stringify(user({ content: Array.from({ length: 1000 }, () => ({ type: "video" })) })),
    );
    expect(read).toEqual({ fault: expect.stringMatching(/^content\.0\.type: .*; and 997 more$/) });
  });
});
