import { median, spread } from "./stats.mjs";

const FIGURES = {
  ratio: ({ value, yardstick }) => value / yardstick,
  extra: ({ value, yardstick }) => value - yardstick,
  value: ({ value }) => value,
};

/**
 * A row's rounds as one result. The figure that a budget is about (a ratio, what is more than the yardstick, or
 * the value itself) is taken in each round, since a round's two programs ran on the same machine at the same
 * time; then the median of the rounds counts.
 */
export function judge(row, rounds) {
  const figures = rounds.map(FIGURES[row.judged]);
  const figure = median(figures);
  const tolerance = spread(figures);
  return {
    ...row,
    value: median(rounds.map(({ value }) => value)),
    yardstickValue: row.yardstick === undefined ? null : median(rounds.map(({ yardstick }) => yardstick)),
    figure,
    spread: tolerance,
    budget: row.budget ?? null,
    verdict: verdict(figure, tolerance, row.budget),
    rounds,
  };
}

function verdict(figure, tolerance, budget) {
  if (budget === undefined) return "";
  if (figure <= budget) return "met";
  return figure - tolerance <= budget ? "within spread" : "MISSED";
}
