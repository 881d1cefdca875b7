/**
 * Processes known by pid *and* start time. A pid alone is never proof: after a crash or a restart of the
 * machine the same number may belong to somebody else, so every look and every signal here compares both.
 */
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

export interface KnownProcess {
  pid: number;
  /** When it started, in a form that only compares equal for the same process. */
  started: string;
}

/**
 * The start time of a living process; undefined when there is none. A zombie counts as none: it has let go of
 * its files, and where process 1 does not reap (many containers) it would stay there for ever.
 */
export function startedAt(pid: number): string | undefined {
  return process.platform === 'linux' ? startedAtLinux(pid) : startedAtElsewhere(pid);
}

export function known(pid: number): KnownProcess | undefined {
  const started = startedAt(pid);
  return started === undefined ? undefined : { pid, started };
}

export function isAlive(one: KnownProcess): boolean {
  return startedAt(one.pid) === one.started;
}

/** Sends a signal to exactly this process; false when it is gone. */
export function signal(one: KnownProcess, name: NodeJS.Signals): boolean {
  if (!isAlive(one)) return false;
  try {
    return process.kill(one.pid, name);
  } catch (error) {
    // It ended between the look and the signal.
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false;
    throw error;
  }
}

/** Waits until the process is gone; false when it is still there after `limitMs`. */
export async function waitUntilGone(one: KnownProcess, limitMs: number): Promise<boolean> {
  const end = performance.now() + limitMs;
  while (isAlive(one)) {
    if (performance.now() > end) return false;
    await sleep(10);
  }
  return true;
}

/** The command line of a process, one entry an argument; empty when it cannot be read. */
export function commandLine(pid: number): string[] {
  try {
    if (process.platform === 'linux')
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').slice(0, -1);
    return [execFileSync('ps', ['-o', 'command=', '-p', String(pid)], { encoding: 'utf8' }).trim()];
  } catch {
    // Gone, or not ours to see: either way there is no proof in it.
    return [];
  }
}

/**
 * Every PostgreSQL process whose working directory is `directory`. They all work inside their cluster, so this
 * finds those that outlived their postmaster. Linux only; elsewhere the list is empty.
 */
export function serversIn(directory: string): KnownProcess[] {
  if (process.platform !== 'linux') return [];
  const found: KnownProcess[] = [];
  for (const entry of readdirSync('/proc')) {
    if (!/^\d+$/.test(entry) || Number(entry) === process.pid) continue;
    try {
      if (readlinkSync(`/proc/${entry}/cwd`) !== directory) continue;
      // The directory says whose it is; the program keeps an operator's shell that stands there out of it.
      if (!/\/postgres( \(deleted\))?$/.test(readlinkSync(`/proc/${entry}/exe`))) continue;
    } catch {
      // Gone meanwhile, or another user's.
      continue;
    }
    const one = known(Number(entry));
    if (one !== undefined) found.push(one);
  }
  return found;
}

let boot: string | undefined;

function startedAtLinux(pid: number): string | undefined {
  let stat: string;
  try {
    stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
  } catch {
    return undefined;
  }
  // proc(5): the name in parentheses may hold anything; then comes state (3rd field) … starttime (22nd).
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  if (fields[0] === 'Z' || fields[0] === 'X') return undefined;
  // Start times count from the boot, so they repeat after the next one.
  boot ??= readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim();
  return `${boot}:${fields[19]}`;
}

function startedAtElsewhere(pid: number): string | undefined {
  try {
    const line = execFileSync('ps', ['-o', 'stat=,lstart=', '-p', String(pid)], { encoding: 'utf8' }).trim();
    const [state = 'Z', ...start] = line.split(/\s+/);
    return state.startsWith('Z') ? undefined : start.join(' ');
  } catch {
    // `ps` exits with 1 when there is no such process.
    return undefined;
  }
}
