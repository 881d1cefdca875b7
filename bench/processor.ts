/** Processor time of processes, as the kernel counts it: what a figure is made of, however busy the machine is. */
import { readdirSync, readFileSync } from 'node:fs';
import type { Program } from '../scripts/program.ts';

/** Seconds of processor time, by who spent them. */
export interface Spent {
  engine: number;
  program: number;
  database: number;
}

/** `USER_HZ`, which is 100 wherever Linux runs on what we support. */
const TICKS_A_SECOND = 100;
export const IS_ENGINE = /^(lt-|lrx-|cg-|apertium)/;

interface Stat {
  pid: number;
  parent: number;
  command: string;
  seconds: number;
}

/** What a program and the processes under it have spent so far. */
export function spentBy({ child }: Program): Spent {
  const spent: Spent = { engine: 0, program: 0, database: 0 };
  for (const { pid, command, seconds } of processesUnder(child.pid!)) {
    if (pid === child.pid) spent.program += seconds;
    else if (IS_ENGINE.test(command)) spent.engine += seconds;
    else spent.database += seconds;
  }
  return spent;
}

/** A process and all that come from it. */
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

/** Processor time of processes that this one has started and that have ended, in seconds. */
export function spentByEnded(): number {
  const { fields } = readStat(process.pid);
  return (fields[13]! + fields[14]!) / TICKS_A_SECOND;
}

/** The fields after the command, of which the first is a letter. */
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
