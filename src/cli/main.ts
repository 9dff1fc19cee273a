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
  printVersion();
} else {
  runProgram();
}

function printVersion(): void {
  try {
    writeSync(1, `${VERSION}\n`);
  } catch {
    // Nobody reads it, or the disk is full.
    process.exitCode = 1;
  }
}

function runProgram(): void {
  // A signal that comes while the program is being loaded gets its last word too.
  const early: NodeJS.Signals[] = [];
  const note = (signal: NodeJS.Signals) => void early.push(signal);
  const names = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
  for (const name of names) process.on(name, note);
  import("./program.ts").then(
    ({ main }) => {
      const running = main(process.argv.slice(2), process.env, early);
      for (const name of names) process.off(name, note);
      return running;
    },
    (error: unknown) => {
      process.stderr.write(`linefeed could not be loaded, is the installation complete? ${String(error)}\n`);
      process.exitCode = 1;
    },
  );
}
