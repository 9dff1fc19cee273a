import { attach } from "./attach.mjs";
import { background } from "./background.mjs";
import { deltas } from "./deltas.mjs";
import { growth } from "./growth.mjs";
import { latency } from "./latency.mjs";
import { memory, stalled } from "./memory.mjs";
import { paced } from "./paced.mjs";
import { reading } from "./reading.mjs";
import { start } from "./start.mjs";
import { store } from "./store.mjs";

/** In this order within a round. A measure: a name, rows (what is judged how), and one round's values. */
export const measures = [
  start,
  memory,
  deltas,
  paced,
  latency,
  growth,
  stalled,
  reading,
  attach,
  background,
  ...store,
];
