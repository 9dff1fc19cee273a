// What a path says by itself: no file system here, so the start-up path may load it.
import { sep } from "node:path";

const SECRET_NAMES = [/^\.env/, /\.pem$/, /^id_/, /^\.netrc$/, /^\.npmrc$/];
const SECRET_FOLDERS = new Set([".aws", ".ssh"]);

/** Folders and files that other programs take orders from: hooks, tasks, what a shell runs when it starts. */
const ORDERS = new Set(
  (
    ".git .gitconfig .gitmodules .hg .hgrc .husky .pre-commit-config.yaml .lefthook.yml lefthook.yml " +
    ".vscode .idea .devcontainer .direnv .yarnrc .yarnrc.yml .pnpmfile.cjs .condarc .pypirc " +
    ".profile .bashrc .bash_profile .bash_login .bash_logout .bash_aliases .inputrc " +
    ".zshrc .zshenv .zprofile .zlogin .zlogout .kshrc .mkshrc .cshrc .tcshrc .login .logout .xprofile .xinitrc .xsessionrc " +
    ".vimrc .exrc .emacs .gdbinit .screenrc .tmux.conf .mailcap .forward .crontab"
  ).split(" "),
);
/** The same for whole places under the home folder or elsewhere, as neighbouring parts of a path. */
const ORDER_PLACES = [
  ".config/git",
  ".config/fish",
  ".config/autostart",
  ".config/systemd",
  ".config/environment.d",
  ".local/bin",
  "library/launchagents",
];

/** Whether `path` is `root` or lies under it. Both absolute with links resolved. */
export function isInside(path: string, root: string): boolean {
  return path === root || path.startsWith(root.endsWith(sep) ? root : root + sep);
}

/**
 * A path or name in one form of all that some file system takes for the same: case, composed characters,
 * and characters that are not seen do not count.
 */
export function foldName(path: string): string {
  return path
    .normalize("NFC")
    .replaceAll(/[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g, "")
    .toUpperCase()
    .toLowerCase();
}

/**
 * Whether a file is likely to hold secrets, by its name: `.env*`, `*.pem`, `id_*`, `.netrc`, `.npmrc`, and
 * anything in a folder `.aws` or `.ssh`. Case does not count, since some file systems do not tell it.
 */
export function isSecret(path: string): boolean {
  const parts = partsOf(path);
  const name = parts.at(-1) ?? "";
  return SECRET_NAMES.some((pattern) => pattern.test(name)) || parts.some((part) => SECRET_FOLDERS.has(part));
}

/**
 * Whether writing a file is likely to make code run later, in another program: anything in `.git`, hooks,
 * tasks of editors, start-up files of shells. A list of well-known names, no more.
 */
export function givesOrders(path: string): boolean {
  const parts = partsOf(path);
  const whole = `/${parts.join("/")}/`;
  return parts.some((part) => ORDERS.has(part)) || ORDER_PLACES.some((place) => whole.includes(`/${place}/`));
}

function partsOf(path: string): string[] {
  return foldName(path)
    .split(sep)
    .filter((part) => part !== "");
}
