/** The process group of a call's shell. */
export interface ProcessGroup {
  /** The mark of the run. */
  mark: string;
  toolUseId: string;
  /** The shell's process number, which is the group's and the session's too. */
  id: number;
  command: string;
  /** Whether the shell still runs; while it does, its number cannot be used again. */
  shellRuns: boolean;
}

// Process groups belong to the process, not to an object in it; runs are told apart by their mark.
const groups = new Set<ProcessGroup>();

/** Remembers the group of a shell that was just started. Call `shellExited` when it has. */
export function rememberGroup(group: Omit<ProcessGroup, "shellRuns">): { shellExited(): void } {
  const remembered = { ...group, shellRuns: true };
  groups.add(remembered);
  return {
    shellExited() {
      remembered.shellRuns = false;
      // An empty group must be forgotten, since its number may soon name a stranger. One with members
      // keeps its number.
      if (!groupLives(group.id)) groups.delete(remembered);
    },
  };
}

/** The groups of a run, or of one call of it, that may still have members. */
export function rememberedGroups(mark: string, toolUseId?: string): ProcessGroup[] {
  return [...groups].filter(
    (group) => group.mark === mark && (toolUseId === undefined || group.toolUseId === toolUseId),
  );
}

export function forgetGroup(group: ProcessGroup): void {
  groups.delete(group);
}

/** Whether a group has a member. macOS answers EPERM for one whose members have all exited. */
export function groupLives(id: number): boolean {
  try {
    process.kill(-id, 0);
    return true;
  } catch {
    return false;
  }
}
