import type { Usage } from "../protocol/content.ts";
import { UsageTotal } from "../protocol/usage.ts";

/** A sum that can be compared with what the stream says in the end, if all of it was seen. */
class Account {
  readonly total = new UsageTotal();
  isWhole: boolean;

  constructor(isWhole: boolean) {
    this.isWhole = isWhole;
  }

  /** Whether a stated sum is another than ours. */
  differsFrom(stated: Usage | null): boolean {
    return this.isWhole && JSON.stringify(inOrder(this.total.total)) !== JSON.stringify(inOrder(stated));
  }
}

/** Tokens of the session, of the run and of the turn, added up from the lines that carry them. */
export class UsageLedger {
  readonly session = new UsageTotal();
  #run = new Account(false);
  #turn = new Account(false);
  #isConverted = false;

  /** In a converted run totals are as the other agent states them; they need not be sums of what it told before. */
  startRun(isConverted: boolean): void {
    this.#isConverted = isConverted;
    this.#run = new Account(!isConverted);
  }

  startTurn(): void {
    this.#turn = new Account(!this.#isConverted);
  }

  /** Some agents tell only how many tokens a whole turn took. */
  endTurn(stated: Usage | null): void {
    if (!this.#isConverted || this.#turn.total.total !== null) return;
    for (const total of [this.session, this.#run.total]) total.add(null, stated);
  }

  add(model: string | null, usage: Usage | null): void {
    for (const total of [this.session, this.#run.total, this.#turn.total]) total.add(model, usage);
  }

  /** Lines are missing: nothing can be compared until the next begins. */
  lose(): void {
    this.#run.isWhole = false;
    this.#turn.isWhole = false;
  }

  get turn(): Pick<Account, "differsFrom"> {
    return this.#turn;
  }

  get run(): Pick<Account, "differsFrom"> {
    return this.#run;
  }
}

function inOrder(usage: Usage | null): number[] | null {
  if (!usage) return null;
  return [
    usage.input_tokens,
    usage.output_tokens,
    usage.cache_read_input_tokens,
    usage.cache_creation_input_tokens,
  ];
}
