import type { EventBodyOf } from "../protocol/event.ts";
import { nameOf, type CommandPattern, type PatternWord } from "./command-rules.ts";
import type { Rule } from "./rules.ts";

/** Programs that run others, or code, if their options say so, until a plain word says what they are to do. */
const BY_OPTION = new Set(
  (
    "git hg npm pnpm yarn bun npx pnpx bunx uvx pipx deno cargo go make gmake cmake ninja just task rake gradle mvn " +
    "docker podman kubectl ssh scp sftp vagrant nix direnv mise asdf " +
    "python pypy node ruby perl php lua tclsh osascript pwsh java erl ghc r rscript julia " +
    "sh bash rbash dash ash zsh ksh mksh fish csh tcsh busybox toybox " +
    "env nohup nice ionice setsid stdbuf timeout sudo doas su pkexec runuser chroot unshare nsenter setpriv taskset chrt " +
    "prlimit systemd-run watch strace ltrace flock script xargs parallel entr time exec command builtin"
  ).split(" "),
);

/** Those that do so wherever the option stands, and words of the shell that change what later words mean. */
const ANYWHERE = new Set(
  (
    "find fd sed awk gawk mawk tar rsync sort zip vi vim nvim ed ex emacs less more man gdb lldb ffmpeg " +
    "eval source . trap alias hash enable export declare typeset readonly local let read readarray mapfile " +
    "unset set shopt wait bind complete compgen getopts"
  ).split(" "),
);

/**
 * One notice for each allowing rule that is as good as `Bash`, since what it allows runs any other program.
 * None if `Bash` itself is allowed: then nobody believes in a limit.
 */
export function broadRuleNotices(allow: readonly Rule[]): EventBodyOf<"notice">[] {
  const rules = allow.filter(({ tool }) => tool === "Bash");
  if (rules.some(({ match }) => match.kind === "all")) return [];
  const messages = rules.flatMap(({ match, text }) => {
    const why = match.kind === "command" ? broadBecause(match.pattern) : undefined;
    return why === undefined
      ? []
      : `the rule ${text} is as good as Bash: ${why}; say more of the command to mean less`;
  });
  return [...new Set(messages)].map((message) => ({
    type: "notice",
    level: "warning",
    code: "broad_rule",
    message,
  }));
}

function broadBecause({ words: [program, ...rest], open }: CommandPattern): string | undefined {
  if (program.isWild) return "it covers any program";
  // `python3.12` is python.
  const name = nameOf(program.text);
  const family = name.replace(/[\d.-]+$/, "") || name;
  const runs = `${program.text} runs other programs or code`;
  if (open && ANYWHERE.has(family)) return runs;
  return open && BY_OPTION.has(family) && rest.every(saysLittle) ? runs : undefined;
}

/** Options, settings, numbers and wildcards do not say what is to be run. */
function saysLittle({ text, isWild }: PatternWord): boolean {
  return isWild || /^-|^\d|=/.test(text);
}
