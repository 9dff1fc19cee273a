import { describe, expect, it } from "vitest";
import { AgentError } from "../../../src/protocol/errors.ts";
import { exitCodeOf, statusOf } from "../../../src/protocol/exit-codes.ts";
import type { ControlRequest } from "../../../src/sessions/control.ts";
import type { EventLog } from "../../../src/sessions/event-log.ts";
import { SessionLines } from "../../support/session-lines.ts";
import { append, begin, closed, failing, live, liveElsewhere, NEVER, newId, type NewPlace } from "./place.ts";

const SEND = { cmd: "send", prompt: "on", interrupt: true } as const;
const ask = (log: EventLog, id: string, request: ControlRequest, timeoutMs = 20_000) =>
  log.command(id, request, { timeoutMs, signal: NEVER });

/** `command`. */
export function commanding(newPlace: NewPlace): void {
  describe("command", () => {
    it("is acknowledged once the writer has taken it up", async () => {
      const place = newPlace();
      const taken: ControlRequest[] = [];
      let isTaken = false;
      const { id } = await live(place, {
        handle: async (request) => {
          taken.push(request);
          await new Promise((resolve) => setTimeout(resolve, 20));
          isTaken = true;
        },
      });
      await ask(place.log(), id, SEND);
      expect(isTaken).toBe(true);
      await ask(place.log(), id, { cmd: "stop" });
      expect(taken).toEqual([SEND, { cmd: "stop" }]);
    });

    it("fails with what the writer refuses it with", async () => {
      const place = newPlace();
      const { id } = await live(place, {
        handle: () => {
          throw new AgentError("cancelled", "the run is ending");
        },
      });
      await expect(ask(place.log(), id, SEND)).rejects.toMatchObject(
        failing("cancelled", "the run is ending"),
      );
    });

    it("BG-06: says that nobody is there", async () => {
      const place = newPlace();
      await expect(ask(place.log(), newId(), SEND)).rejects.toMatchObject({ code: "usage" });
      const ended = await place.leave(new SessionLines("x").run());
      await expect(ask(place.log(), ended, SEND)).rejects.toMatchObject(failing("not_found", "not running"));
      const { id, writer } = await live(place);
      await closed(writer);
      await expect(ask(place.log(), id, SEND)).rejects.toMatchObject({ code: "not_found" });
    });

    it("of a writer that was killed, while it was asked or before, says so", async () => {
      const place = newPlace();
      const { id, process } = await liveElsewhere(place);
      process.process.kill("SIGSTOP");
      setTimeout(() => void process.kill(), 100);
      await expect(ask(place.log(), id, SEND)).rejects.toMatchObject({ code: "not_found" });
      await expect(ask(place.log(), id, SEND)).rejects.toMatchObject({ code: "not_found" });
    });

    it("fails in time where nobody answers, may be tried again, and is never acted on later", async () => {
      const place = newPlace();
      const { id, process } = await liveElsewhere(place);
      process.process.kill("SIGSTOP");
      const error: unknown = await ask(place.log(), id, SEND, 200).catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({ ...failing("idle_timeout", "does not answer"), retryable: true });
      if (error instanceof AgentError) expect(exitCodeOf(statusOf(error.code), error, null)).toBe(75);
      process.process.kill("SIGCONT");
      await ask(place.log(), id, { cmd: "ping" });
      expect(await process.do("taken")).toEqual([{ cmd: "ping" }]);
    });

    it("waits for a run that has only just begun, and no longer than it may", async () => {
      const place = newPlace();
      const { id, process } = await liveElsewhere(place, { serves: false });
      await place.age(id, 60_000);
      await expect(ask(place.log(), id, SEND, 100)).rejects.toMatchObject({ code: "idle_timeout" });
      const asked = ask(place.log(), id, SEND);
      await process.do("serve");
      await asked;
      expect(await process.do("taken")).toEqual([SEND]);
    });

    it("leaves a session of another machine to that one, if it may run there", async () => {
      const place = newPlace();
      const id = await place.leave(new SessionLines("x").run().slice(0, 400), { elsewhere: true });
      await expect(ask(place.log(), id, SEND)).rejects.toMatchObject(
        place.seesAllMachines
          ? failing("not_found", "not running")
          : failing("invalid_request", "on another"),
      );
    });

    it("ends with the reason of its signal", async () => {
      const place = newPlace();
      const { id } = await live(place, { handle: () => new Promise(() => {}) });
      const unasked = await begin(place);
      await append(unasked.writer, unasked.lines.line("init"), false);
      for (const asked of [id, unasked.id]) {
        const controller = new AbortController();
        const options = { timeoutMs: 60_000, signal: controller.signal };
        setTimeout(() => controller.abort(new Error("enough")), 50);
        await expect(place.log().command(asked, SEND, options)).rejects.toThrow("enough");
        await expect(place.log().command(asked, SEND, options)).rejects.toThrow("enough");
      }
    });
  });
}
