/** Processor time of processes as the kernel counts it, which other work on the machine does not change. */
import { readdirSync, readFileSync } from 'node:fs';
import type { Program } from '../scripts/program.ts';

/** Seconds of processor time by component. */
export interface Spent {
  engine: number;
  program: number;
  database: number;
}

/** `USER_HZ`, which is 100 on all supported platforms. */
const TICKS_A_SECOND = 100;
export const IS_ENGINE = /^(lt-|lrx-|cg-|apertium)/;

interface Stat {
  pid: number;
  parent: number;
  command: string;
  seconds: number;
}

/** Returns the processor time of a program and its descendants so far. */
export function spentBy({ child }: Program): Spent {
  const spent: Spent = { engine: 0, program: 0, database: 0 };
  for (const { pid, command, seconds } of processesUnder(child.pid!)) {
    if (pid === child.pid) spent.program += seconds;
    else if (IS_ENGINE.test(command)) spent.engine += seconds;
    else spent.database += seconds;
  }
  return spent;
}

/** Returns a process and its descendants. */
export function processesUnder(root: number): Stat[] {
  const all = new Map<number, Stat>();
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    try {
      const stat = statOf(Number(name));
      all.set(stat.pid, stat);
    } catch {
      // it has ended
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
  return { pid, parent: fields[1]!, command, seconds: (fields[11]! + fields[12]!) / TICKS_A_SECOND };
}

/** Returns the processor time of this process's ended children, in seconds. */
export function spentByEnded(): number {
  const { fields } = readStat(process.pid);
  return (fields[13]! + fields[14]!) / TICKS_A_SECOND;
}

/** Returns the command and the fields after it, of which the first is a letter (NaN here). */
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
