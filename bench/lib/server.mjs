import { once } from "node:events";
import { createServer } from "node:http";

/**
 * A model provider on loopback. `reply(response, number)` answers the request of that number, from 1; times are
 * taken with the clock of the process that also spawns and reads, so that they can be compared.
 */
export async function startServer(reply) {
  const arrivals = [];
  const server = createServer((request, response) => {
    arrivals.push(performance.now());
    const number = arrivals.length;
    response.on("error", () => {});
    request.resume();
    request.on("end", () => {
      response.writeHead(200, { "content-type": "text/event-stream", "request-id": `req_${number}` });
      reply(response, number);
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    arrivals,
    env: {
      ANTHROPIC_BASE_URL: `http://127.0.0.1:${server.address().port}`,
      ANTHROPIC_API_KEY: "sk-ant-bench",
      OPENAI_BASE_URL: `http://127.0.0.1:${server.address().port}`,
      OPENAI_MODEL: "bench",
    },
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
}

/** Starts a server, calls `use` with it, closes it. */
export async function withServer(reply, use) {
  const server = await startServer(reply);
  try {
    return await use(server);
  } finally {
    await server.close();
  }
}
