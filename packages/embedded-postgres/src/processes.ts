/**
 * Identifies processes by pid and start time. After a crash or a reboot, another process may have the same
 * pid, so every check and every signal compares both.
 */
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

export interface ProcessRef {
  pid: number;
  /** The start time as a string, which differs between processes that had the same pid. */
  started: string;
}

/** Returns the living process with this pid, or undefined. */
export function findProcess(pid: number): ProcessRef | undefined {
  const started = startedAt(pid);
  return started === undefined ? undefined : { pid, started };
}

export function isAlive(target: ProcessRef): boolean {
  return startedAt(target.pid) === target.started;
}

/** Sends a signal to exactly this process. Returns false when the process has ended. */
export function signal(target: ProcessRef, name: NodeJS.Signals): boolean {
  if (!isAlive(target)) return false;
  try {
    return process.kill(target.pid, name);
  } catch (error) {
    // The process ended between the check and the signal.
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false;
    throw error;
  }
}

/** Waits until the process has ended. Returns false when it is still alive after `limitMs`. */
export async function waitUntilEnded(target: ProcessRef, limitMs: number): Promise<boolean> {
  const end = performance.now() + limitMs;
  while (isAlive(target)) {
    if (performance.now() > end) return false;
    await sleep(10);
  }
  return true;
}

/** Returns the command line of a process, one entry per argument; empty when it cannot be read. */
export function commandLine(pid: number): string[] {
  try {
    if (process.platform === 'linux') {
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').slice(0, -1);
    }
    return [execFileSync('ps', ['-o', 'command=', '-p', String(pid)], { encoding: 'utf8' }).trim()];
  } catch {
    return [];
  }
}

/**
 * Returns the PostgreSQL processes whose working directory is `directory`. All processes of a server work in
 * the directory of its cluster, so processes that outlived their postmaster are found too. Works only on
 * Linux; elsewhere the list is empty.
 */
export function findServersIn(directory: string): ProcessRef[] {
  if (process.platform !== 'linux') return [];
  const found: ProcessRef[] = [];
  for (const entry of readdirSync('/proc')) {
    if (!/^\d+$/.test(entry) || Number(entry) === process.pid) continue;
    try {
      if (readlinkSync(`/proc/${entry}/cwd`) !== directory) continue;
      // The executable is checked too, because an operator's shell may have the same working directory.
      if (!/\/postgres( \(deleted\))?$/.test(readlinkSync(`/proc/${entry}/exe`))) continue;
    } catch {
      // The process has ended or belongs to another user.
      continue;
    }
    const server = findProcess(Number(entry));
    if (server !== undefined) found.push(server);
  }
  return found;
}

/**
 * Returns the start time of a living process, or undefined. A zombie counts as ended: its files are closed.
 * It may stay forever in a container whose process 1 does not reap children.
 */
function startedAt(pid: number): string | undefined {
  return process.platform === 'linux' ? startedAtLinux(pid) : startedAtElsewhere(pid);
}

let boot: string | undefined;

function startedAtLinux(pid: number): string | undefined {
  let stat: string;
  try {
    stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
  } catch {
    return undefined;
  }
  // proc(5): the name in parentheses may contain any characters. After it come the state (field 3) up to
  // starttime (field 22).
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  if (fields[0] === 'Z' || fields[0] === 'X') return undefined;
  // Start times count from the boot, so they may repeat after a reboot. The boot id makes them unique.
  boot ??= readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim();
  return `${boot}:${fields[19]}`;
}

function startedAtElsewhere(pid: number): string | undefined {
  try {
    const line = execFileSync('ps', ['-o', 'stat=,lstart=', '-p', String(pid)], { encoding: 'utf8' }).trim();
    const [state = 'Z', ...start] = line.split(/\s+/);
    return state.startsWith('Z') ? undefined : start.join(' ');
  } catch {
    // `ps` exits with 1 when the process does not exist.
    return undefined;
  }
}
