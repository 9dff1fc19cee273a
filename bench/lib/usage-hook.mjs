// Loaded into a measured process with `--import`: says at its end what it has used.
import { readFileSync, writeFileSync } from "node:fs";

process.on("exit", () => {
  const { user, system } = process.cpuUsage();
  writeFileSync(
    process.env.BENCH_USAGE,
    JSON.stringify({ cpuMs: (user + system) / 1000, peakMb: peakKb() / 1024 }),
  );
});

function peakKb() {
  try {
    // Not maxRSS where this is to be had: Linux carries the peak of whoever called exec over into it, so it
    // would be that of the benchmark, which holds the answers.
    const [, kb] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync("/proc/self/status", "utf8"));
    return Number(kb);
  } catch {
    return process.resourceUsage().maxRSS;
  }
}
