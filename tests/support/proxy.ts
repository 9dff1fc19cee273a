import { createServer } from "node:http";
import { connect, type AddressInfo } from "node:net";

export interface TestProxy {
  url: string;
  /** The targets of the tunnels so far. */
  tunnels: string[];
  /** What each asked with, to be let in. */
  authorizations: (string | undefined)[];
}

/** A proxy that tunnels, and counts; closed when it is used no more. */
export async function withProxy<T>(use: (proxy: TestProxy) => Promise<T>): Promise<T> {
  const tunnels: string[] = [];
  const authorizations: (string | undefined)[] = [];
  const server = createServer((_, response) => response.writeHead(501).end());
  server.on("connect", (head, socket) => {
    tunnels.push(head.url ?? "");
    authorizations.push(head.headers["proxy-authorization"]);
    const { port } = new URL(`http://${head.url}`);
    const target = connect(Number(port), "127.0.0.1", () => socket.write("HTTP/1.1 200 OK\r\n\r\n"));
    target.pipe(socket).pipe(target);
    for (const end of [target, socket]) end.on("error", () => {});
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  try {
    return await use({ url: `http://127.0.0.1:${port}`, tunnels, authorizations });
  } finally {
    server.closeAllConnections();
    server.close();
  }
}
