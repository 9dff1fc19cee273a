import { describe, expect, it } from "vitest";
import { connectionFault, excerpt, isRetryableStatus, redactor, retryAfterMs } from "../../src/model/http.ts";

const NOW = Date.parse("2026-11-30T12:00:00Z");

describe("retryAfterMs", () => {
  it.each([
    [{ "retry-after": "3" }, 3000],
    [{ "retry-after": "0" }, 0],
    [{ "retry-after": "1.5" }, 1500],
    [{ "retry-after-ms": "250", "retry-after": "9" }, 250],
    [{ "retry-after": "Mon, 30 Nov 2026 12:00:30 GMT" }, 30_000],
    [{ "retry-after": "Mon, 30 Nov 2026 11:00:00 GMT" }, 0],
    [{ "retry-after": "soon" }, undefined],
    [{ "retry-after": "-5" }, undefined],
    [{}, undefined],
  ])("%j", (headers, ms) => {
    expect(retryAfterMs(new Headers(Object.entries(headers)), NOW)).toBe(ms);
  });
});

describe("isRetryableStatus", () => {
  it.each([
    [400, false],
    [401, false],
    [408, true],
    [409, true],
    [429, true],
    [500, true],
    [529, true],
  ])("%i", (status, retryable) => {
    expect(isRetryableStatus(status, new Headers())).toBe(retryable);
    expect(isRetryableStatus(status, new Headers({ "x-should-retry": "true" }))).toBe(true);
    expect(isRetryableStatus(status, new Headers({ "x-should-retry": "false" }))).toBe(false);
  });
});

describe("excerpt", () => {
  it("makes one line of a page", () => {
    const page =
      "<html><head><style>p{}</style><script>if (a<b) x()</script></head><body>\n<h1>403</h1> <p>No\u001b[31m</p></body>";
    expect(excerpt(page)).toBe("403 No [31m");
    expect(excerpt("a < b and c > d")).toBe("a < b and c > d");
  });

  it("is bounded and well-formed", () => {
    expect(excerpt("🦊".repeat(400), 5)).toBe("🦊🦊\uFFFD…");
    expect(excerpt("<script>".repeat(1_000_000)).length).toBeLessThan(400);
  });
});

describe("redactor", () => {
  it("takes out each secret, also as it stands in a URL", () => {
    const redact = redactor(["sk/a+b", undefined, "", "sk/a+b"]);
    expect(redact("key sk/a+b, ?k=sk%2Fa%2Bb")).toBe("key [redacted], ?k=[redacted]");
  });
});

describe("connectionFault", () => {
  it("finds the innermost reason", () => {
    const inner = Object.assign(new Error("connect ECONNREFUSED ::1:9"), { code: "ECONNREFUSED" });
    const thrown = new TypeError("fetch failed", { cause: new AggregateError([inner], "") });
    expect(connectionFault(thrown)).toEqual({ kind: "unreachable", reason: "ECONNREFUSED" });
  });

  it("tells certificates and time-outs apart", () => {
    const withCode = (code: string) =>
      new TypeError("terminated", { cause: Object.assign(new Error("x"), { code }) });
    expect(connectionFault(withCode("SELF_SIGNED_CERT_IN_CHAIN")).kind).toBe("certificate");
    expect(connectionFault(withCode("UND_ERR_BODY_TIMEOUT")).kind).toBe("timeout");
    expect(connectionFault("no error at all")).toEqual({ kind: "unreachable", reason: "" });
  });
});
