/** A text in pieces of so many characters, none of them cut in two. */
export function piecesOf(text: string, size: number): string[] {
  const characters = Array.from(text);
  const count = Math.ceil(characters.length / size);
  return Array.from({ length: count }, (_, index) =>
    characters.slice(index * size, (index + 1) * size).join(""),
  );
}
