import { expect, it } from "vitest";
import { describeWithRedis, redisForTest } from "../../support/redis-server.ts";

describeWithRedis("the redis-server of tests", () => {
  it("has a port of its own, a password if it is given one, and goes with the test", async () => {
    const [one, other] = await Promise.all([redisForTest(), redisForTest({ password: "se cret" })]);
    expect(one.port).not.toBe(6379);
    expect(one.port).not.toBe(other.port);
    expect(one.url(3)).toBe(`redis://127.0.0.1:${one.port}/3`);
    expect(other.url()).toBe(`redis://:se%20cret@127.0.0.1:${other.port}/0`);
    await one.call(["SET", "a", "1"]);
    expect(await one.keys()).toEqual(["a"]);
    expect(await other.keys()).toEqual([]);
  });

  it("keeps its data over SIGKILL, or comes back empty, on the same port", async () => {
    const server = await redisForTest();
    await server.call(["SET", "kept", "1"]);
    await server.kill();
    await expect(server.call(["PING"])).rejects.toThrow("refused");
    await server.start();
    expect(await server.call(["GET", "kept"])).toBe("1");
    await server.restart({ isEmpty: true });
    expect(await server.keys()).toEqual([]);
    await server.stop();
    await server.start();
  });

  it("says nothing while it is paused", async () => {
    const server = await redisForTest();
    server.pause();
    const answer = server.call(["PING"]);
    server.resume();
    expect(await answer).toBe("PONG");
    server.pause();
    await server.restart();
    expect(await server.call(["PING"])).toBe("PONG");
  });

  it("refuses writes when its memory is full", async () => {
    const server = await redisForTest({ maxmemory: "1mb" });
    await expect(server.call(["SET", "large", "x".repeat(100_000)])).rejects.toThrow("OOM");
  });
});
