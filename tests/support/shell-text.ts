import fc from "fast-check";

// Commands as a model writes them, and as somebody would who wants to get past a rule.

const spice = " \t\n'\"\\$`&|;<>(){}[]*?~#!=%^,.-+@:axyé\u00a0\u3000\r\0\x01\x7f"
  .split("")
  .concat("中", "😀");
const inQuotes = ["x", "y", "z", " ", " ", " "];
const program = fc.constantFrom("a", "b", "cc", "git", "a", "b", "'a'", '"b"', "\\a", "c'c'");
const plain = fc.constantFrom(
  "x",
  "-l",
  "--k=v",
  "x/y.ts",
  "HEAD~1",
  "HEAD^",
  "a#b",
  "1",
  "2",
  "v1.2:x",
  "]",
);
const wild = fc.constantFrom("*.txt", "f?.txt", "[a-f]*", "no*pe", "*", "-*", "'*'", '"f?"', "\\*");
const quoted = fc.oneof(
  fc.string({ unit: fc.constantFrom(...spice, ...inQuotes), maxLength: 6 }).map((text) => `'${text}'`),
  fc.string({ unit: fc.constantFrom(...spice, ...inQuotes), maxLength: 6 }).map((text) => `"${text}"`),
  fc.constantFrom('"x$"', '"a\\"b"', '"a\\\\"', '"a\\$b"', '"\\n"', "'a\nb'", '"a\nb"', "'é'", '""', "''"),
);
const escaped = fc.constantFrom(...spice).map((character) => `\\${character}`);
const word = fc
  .array(
    fc.oneof(
      { weight: 6, arbitrary: plain },
      { weight: 2, arbitrary: wild },
      { weight: 3, arbitrary: quoted },
      { weight: 1, arbitrary: escaped },
    ),
    { minLength: 1, maxLength: 3 },
  )
  .map((pieces) => pieces.join(""));
const redirection = fc.constantFrom(">/dev/null", "2>/dev/null", "2>&1", "&>/dev/null", "> /dev/null", ">&2");
const blank = fc.constantFrom(" ", " ", " ", "  ", "\t");

const simple = fc
  .tuple(
    program,
    fc.array(
      fc.tuple(blank, fc.oneof({ weight: 6, arbitrary: word }, { weight: 1, arbitrary: redirection })),
      {
        maxLength: 4,
      },
    ),
  )
  .map(([name, rest]) => name + rest.map((pair) => pair.join("")).join(""));

const joint = fc.constantFrom(
  "&&",
  "||",
  ";",
  "|",
  "\n",
  " && ",
  " || ",
  "; ",
  " | ",
  "\n\n",
  " &&\n",
  "|\n ",
);
const chain = fc
  .tuple(simple, fc.array(fc.tuple(joint, simple), { maxLength: 3 }), fc.constantFrom("", "", ";", "\n", " "))
  .map(([first, more, end]) => first + more.map((pair) => pair.join("")).join("") + end);

/** What a rule must never let through, and what only looks like it. */
const tricks = [
  "$(evil)", "`evil`", "${x}", "$x", "<(evil)", ">(evil)", "> made", ">> made", "< f1.txt", ">| made", "<> made",
  "&", " & evil", "|& evil", ";; evil", "x=1 ", "x+=1 ", "{a,b}", "{1..3}", "~", "~/x", "k=~/x", "a:~", "# evil",
  "! ", "!!", "<<E\nevil\nE\n", "<<< x", "() { evil; }", "if ", "time ", "[[ ", "(( ", "( ", "{ ", "coproc ", "\\\n",
  "\r\n", "$'\\x41'", '$"x"', "$((1))", "&>made", ">&made", "2>made", "3>&1", ">&-", "2>/dev/null/", ">/dev/nullx",
  "2>&1x", "&>/dev/null evil", "1>/dev/null", "a2>/dev/null", "'2'>/dev/null", "2>&1>made", "%1", "\\", "'", '"',
] as const; // prettier-ignore

interface Mutation {
  at: number;
  cut: number;
  insert: string;
}
const mutation: fc.Arbitrary<Mutation> = fc.record({
  at: fc.nat(60),
  cut: fc.constantFrom(0, 0, 0, 1, 2),
  insert: fc.oneof(fc.constantFrom(...spice), fc.constantFrom(...tricks), fc.constant("")),
});

function mutate(text: string, { at, cut, insert }: Mutation): string {
  const place = at % (text.length + 1);
  return text.slice(0, place) + insert + text.slice(place + cut);
}

/** A command: from the grammar alone, or with up to three places of it changed. */
export const shellText: fc.Arbitrary<string> = fc
  .tuple(chain, fc.oneof(fc.constant([]), fc.array(mutation, { maxLength: 3 })))
  .map(([text, mutations]) => mutations.reduce(mutate, text));
