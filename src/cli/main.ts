#!/usr/bin/env node
// The first file that runs: it loads nothing before it must, so that `--version` costs what Node costs.
import { writeSync } from "node:fs";
import { VERSION } from "../run/version.ts";

const OLDEST_NODE = 20;

const [argument, ...rest] = process.argv.slice(2);
if (Number.parseInt(process.versions.node, 10) < OLDEST_NODE) {
  process.stderr.write(
    `linefeed needs Node ${OLDEST_NODE} or newer; this is Node ${process.versions.node}\n`,
  );
  process.exitCode = 2;
} else if (rest.length === 0 && (argument === "--version" || argument === "-v" || argument === "-V")) {
  writeSync(1, `${VERSION}\n`);
} else {
  import("./program.ts").then(
    ({ main }) => main(process.argv.slice(2), process.env),
    (error: unknown) => {
      process.stderr.write(`linefeed could not be loaded, is the installation complete? ${String(error)}\n`);
      process.exitCode = 1;
    },
  );
}
