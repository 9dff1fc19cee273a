/** Text in which no password of a store's address is left. Greedy: what stands before the last @ is taken for a login. */
export function withoutPasswords(text: string): string {
  return text.replaceAll(/\b(rediss?:\/\/)\S*@/gi, "$1…@");
}

/**
 * Other processes can read the arguments of this one. A password among them is written over at once, as far as the system lets it
 * be; a variable of the environment has nothing to hide.
 */
export function hidePasswords(argv: readonly string[]): void {
  const words = argv.slice(2);
  const shown = words.map(withoutPasswords);
  if (shown.every((word, index) => word === words[index])) return;
  process.title = [...argv.slice(0, 2), ...shown].join(" ");
}
