/** Reads the processor time of processes from the kernel. Other work on the machine does not change it. */
import { readdirSync, readFileSync } from 'node:fs';
import type { Program } from './program.ts';

/** The processor time that the engine, the service and the database have used, in seconds. */
export interface Spent {
  engine: number;
  program: number;
  database: number;
}

/** The kernel's `USER_HZ`, which is 100 on all supported platforms. */
const TICKS_A_SECOND = 100;
export const IS_ENGINE = /^(lt-|lrx-|cg-|apertium)/;

interface Stat {
  pid: number;
  parent: number;
  command: string;
  seconds: number;
  /** The processor time of its ended children and their ended descendants. */
  ended: number;
}

/** Returns the processor time that a program and its descendants have used so far. */
export function spentBy({ child }: Program): Spent {
  const spent: Spent = { engine: 0, program: 0, database: 0 };
  for (const { pid, command, seconds } of processesUnder(child.pid!)) {
    if (pid === child.pid) spent.program += seconds;
    else if (IS_ENGINE.test(command)) spent.engine += seconds;
    else spent.database += seconds;
  }
  return spent;
}

/** Returns a process and all its descendants. */
export function processesUnder(root: number): Stat[] {
  const all = new Map<number, Stat>();
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    try {
      const stat = statOf(Number(name));
      all.set(stat.pid, stat);
    } catch {
      // The process ended while the list was read, so it is skipped.
    }
  }
  const isUnder = (pid: number): boolean => {
    if (pid === root) return true;
    const stat = all.get(pid);
    return stat !== undefined && isUnder(stat.parent);
  };
  return [...all.values()].filter(({ pid }) => isUnder(pid));
}

function statOf(pid: number): Stat {
  const { command, fields } = readStat(pid);
  const [user, system, endedUser, endedSystem] = fields.slice(11, 15).map((ticks) => ticks / TICKS_A_SECOND);
  return { pid, parent: fields[1]!, command, seconds: user! + system!, ended: endedUser! + endedSystem! };
}

/** Returns the processor time of this process's ended children, in seconds. */
export const spentByEnded = (): number => statOf(process.pid).ended;

/** Returns the processor time of a process and all its descendants, also of those that have ended, in seconds. */
export const secondsUnder = (root: number): number =>
  processesUnder(root).reduce((sum, { seconds, ended }) => sum + seconds + ended, 0);

/**
 * Counts the processor time of a process and all its descendants while it is called again and again. The kernel adds the
 * time of an ended process to its parent only if the parent waits for it, and a browser that is closed does not wait for
 * its pages: their time was a fifth of what the tests take.
 * @returns a function that returns the seconds so far. What has ended since the call before, and is missing in its nearest
 *   living ancestor, is added as it was seen last.
 */
export function countUnder(root: number): () => number {
  let before = new Map<number, Stat>();
  let lost = 0;
  return () => {
    const now = new Map(processesUnder(root).map((stat) => [stat.pid, stat]));
    const missing = new Map<number, number>();
    for (const { pid, parent, seconds, ended } of before.values()) {
      if (now.has(pid)) continue;
      let living = parent;
      while (!now.has(living) && before.has(living)) living = before.get(living)!.parent;
      missing.set(living, (missing.get(living) ?? 0) + seconds + ended);
    }
    for (const [pid, seconds] of missing) {
      const added = (now.get(pid)?.ended ?? 0) - (before.get(pid)?.ended ?? 0);
      lost += Math.max(0, seconds - added);
    }
    before = now;
    return lost + [...now.values()].reduce((sum, { seconds, ended }) => sum + seconds + ended, 0);
  };
}

/**
 * Reads `/proc/PID/stat`: the command, and the fields after the command as numbers. The first field is a letter,
 * which becomes NaN.
 */
function readStat(pid: number): { command: string; fields: number[] } {
  const line = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const end = line.lastIndexOf(')');
  return {
    command: line.slice(line.indexOf('(') + 1, end),
    fields: line
      .slice(end + 2)
      .split(' ')
      .map(Number),
  };
}
