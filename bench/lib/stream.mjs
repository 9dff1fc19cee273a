/** Counts what a captured stdout holds, and makes sure that it is that of a run that went well. */
export function digest(stdout) {
  const text = stdout.toString("utf8");
  const lines = text.split("\n").slice(0, -1);
  const last = JSON.parse(lines.at(-1) ?? "null");
  if (last?.type !== "result" || last.status !== "ok")
    throw new Error(`a measured run failed: ${lines.at(-1)}`);
  const deltas = lines.filter((line) => line.startsWith('{"type":"text_delta"'));
  const said = deltas.reduce((sum, line) => sum + JSON.parse(line).text.length, 0);
  const deltaBytes = deltas.reduce((sum, line) => sum + Buffer.byteLength(line) + 1, 0);
  return { bytes: stdout.length, deltaBytes, deltaLines: deltas.length, said };
}

/** Cuts reads into lines; hands each on with the time of the read that completed it. */
export function lineSplitter(onLine) {
  let rest = "";
  return (bytes, at) => {
    const lines = (rest + bytes.toString("utf8")).split("\n");
    rest = lines.pop();
    for (const line of lines) onLine(line, at);
  };
}
