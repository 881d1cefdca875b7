import { fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Piece } from '@dragoman/documents';
import { afterEach, describe, expect, it } from 'vitest';
import { DIES_IN_LIST } from '../testing/dies-in-list.ts';
import { ENDLESS } from '../testing/endless.ts';
import { until } from '../testing/harness.ts';
import { createProcessPool, type ProcessPool, TimeLimitExceeded } from './process-pool.ts';
import { count, open } from './tasks.ts';

const OPTIONS = { most: 1, idleMilliseconds: 60_000, memoryMebibytes: 256 };
const limited = (account: string, limitMilliseconds: number) => ({ account, limitMilliseconds });
const A = limited('a', 60_000);
const B = limited('b', 60_000);
const task = {
  format: 'text' as const,
  sourceLanguage: 'en',
  settings: {},
  text: 'The house stands near the river.',
};

/** Returns the child processes of a process, as the system lists them. */
const children = (pid = process.pid) =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').filter(Boolean).map(Number);
const others = new Set(children());
const begun = () => children().filter((pid) => !others.has(pid));

/** Waits until a child process runs that is not in `known`, and returns its id. */
async function another(known: readonly number[]): Promise<number> {
  await until(() => begun().some((pid) => !known.includes(pid)));
  return begun().find((pid) => !known.includes(pid))!;
}

let processes: ProcessPool;
afterEach(() => processes.close());

describe('the process pool', () => {
  it('returns the same results as if the tasks ran in this process, and reuses one process for all tasks', async () => {
    processes = createProcessPool(OPTIONS);
    expect(begun()).toEqual([]);
    const all = Array.from({ length: 5 }, () => processes.run('count', task, A));
    expect(begun()).toHaveLength(1);
    expect(await Promise.all(all)).toEqual(Array(5).fill(count(task)));
    expect(begun()).toHaveLength(1);
  });

  it('returns a long list as it is, and a short one', async () => {
    processes = createProcessPool(OPTIONS);
    const text = 'The house stands. '.repeat(20_000);
    const opened = { ...task, text, targetLanguage: 'es' };
    const segments = await processes.run('open', opened, A);
    expect(segments).toEqual(open(opened));
    expect(segments).toHaveLength(20_000);
    const drafts = [[segments[0]!.id, [{ text: 'list' }]]] as [string, Piece[]][];
    const short = { ...opened, text: 'The house.' };
    expect(await processes.run('assemble', { ...short, drafts }, A)).toBe('list');
    expect(await processes.run('open', { ...opened, text: ' ' }, A)).toEqual([]);
  });

  it('sends a long list in parts of some thousand pieces', async () => {
    const script = new URL('./process.ts', import.meta.url);
    const child = fork(script, [String(process.pid)], { serialization: 'advanced' });
    const opened = { ...task, text: 'The house stands. '.repeat(20_000), targetLanguage: 'es' };
    const sizes: number[] = [];
    const ended = new Promise<void>((resolve) => {
      child.on('message', (answer: { part?: unknown[] }) => {
        if (answer.part === undefined) resolve();
        else sizes.push(answer.part.length);
      });
    });
    child.send({ name: 'open', task: opened, limitMilliseconds: 60_000 });
    await ended;
    child.disconnect();
    await once(child, 'exit');
    expect(sizes.reduce((sum, size) => sum + size)).toBe(20_000);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(5_000);
  });

  it('keeps no part of a list whose process died', async () => {
    processes = createProcessPool({ ...OPTIONS, script: DIES_IN_LIST });
    const marker = join(mkdtempSync(join(tmpdir(), 'dragoman-list-')), 'died');
    expect(await processes.run('open', { ...task, text: marker, targetLanguage: 'es' }, A)).toEqual([
      1, 2, 3,
    ]);
    rmSync(dirname(marker), { recursive: true });
  });

  it('starts no more processes than allowed, and passes no secrets to them', async () => {
    process.env.DRAGOMAN_TEST_SECRET = 'told to nobody';
    try {
      processes = createProcessPool({ ...OPTIONS, most: 2 });
      const all = [A, A, B, B, B].map((account) => processes.run('count', task, account));
      expect(begun()).toHaveLength(2);
      await Promise.all(all);
      for (const pid of begun()) expect(readFileSync(`/proc/${pid}/environ`, 'utf8')).not.toContain('SECRET');
    } finally {
      delete process.env.DRAGOMAN_TEST_SECRET;
    }
  });

  it('rejects with the error of the task, and runs the next task', async () => {
    processes = createProcessPool(OPTIONS);
    const broken = { ...task, format: 'xliff' as const, targetLanguage: 'es', text: '<xliff' };
    await expect(processes.run('open', broken, A)).rejects.toThrow(/line 1/);
    expect(await processes.run('count', task, A)).toEqual(count(task));
    expect(begun()).toHaveLength(1);
  });

  it('runs a task once more in another process when its process dies', async () => {
    processes = createProcessPool(OPTIONS);
    const first = processes.run('count', task, A);
    const second = processes.run('count', task, A);
    const [died] = begun();
    process.kill(died!, 'SIGKILL');
    expect(await Promise.all([first, second])).toEqual([count(task), count(task)]);
    expect(begun()).not.toContain(died);
  });

  it('fails only a task during which two processes died', async () => {
    processes = createProcessPool(OPTIONS);
    const fatal = processes.run('count', task, A);
    const next = processes.run('count', task, A);
    const failed = expect(fatal).rejects.toThrow(/SIGKILL/);
    const [one] = begun();
    process.kill(one!, 'SIGKILL');
    process.kill(await another([one!]), 'SIGKILL');
    await failed;
    expect(await next).toEqual(count(task));
  });

  it('keeps its processes when they receive SIGTERM or SIGINT', async () => {
    processes = createProcessPool(OPTIONS);
    await processes.run('count', task, A);
    const [pid] = begun();
    process.kill(pid!, 'SIGTERM');
    process.kill(pid!, 'SIGINT');
    expect(await processes.run('count', task, A)).toEqual(count(task));
    expect(begun()).toEqual([pid]);
  });

  it('fails tasks while no process can start, and recovers afterwards', async () => {
    processes = createProcessPool(OPTIONS);
    const { execPath } = process;
    process.execPath = '/nowhere/node';
    try {
      await expect(processes.run('count', task, A)).rejects.toThrow(/ENOENT/);
    } finally {
      process.execPath = execPath;
    }
    expect(await processes.run('count', task, A)).toEqual(count(task));
  });

  it('ends idle processes, and starts one for the next task', async () => {
    processes = createProcessPool({ ...OPTIONS, idleMilliseconds: 1 });
    await processes.run('count', task, A);
    await until(() => begun().length === 0);
    expect(await processes.run('count', task, A)).toEqual(count(task));
  });

  it('ends its processes when it is closed, and fails the unfinished tasks', async () => {
    processes = createProcessPool(OPTIONS);
    const failed = [processes.run('count', task, A), processes.run('count', task, A)].map((run) =>
      expect(run).rejects.toThrow(/SIGKILL|was closed/),
    );
    await processes.close();
    await Promise.all(failed);
    expect(begun()).toEqual([]);
    await expect(processes.run('count', task, A)).rejects.toThrow(/closed/);
  });
});

describe('the process pool with several accounts', () => {
  const endless = { ...task, text: 'endless:count' };
  const withEndless = { ...OPTIONS, script: ENDLESS };
  const isClosed = (run: Promise<unknown>) => expect(run).rejects.toThrow(/SIGKILL|was closed/);

  it('keeps one process free for other accounts when one account has many tasks', async () => {
    processes = createProcessPool({ ...withEndless, most: 3 });
    const failed = [1, 2, 3, 4].map(() => isClosed(processes.run('count', endless, A)));
    expect(begun()).toHaveLength(2);
    expect(await processes.run('count', task, B)).toEqual(count(task));
    expect(begun()).toHaveLength(3);
    await processes.close();
    await Promise.all(failed);
  });

  it('lets other accounts take turns with an account that has many tasks', async () => {
    processes = createProcessPool(OPTIONS);
    const order: string[] = [];
    const run = (account: typeof A) =>
      processes.run('count', task, account).then(() => order.push(account.account));
    await Promise.all([run(A), run(A), run(A), run(A), run(B), run(limited('c', 60_000)), run(B)]);
    expect(order.join('')).toBe('aabcaba');
  });

  it('skips a queued task whose signal was aborted', async () => {
    processes = createProcessPool(withEndless);
    const client = new AbortController();
    const first = processes.run('count', task, A);
    const gone = processes.run('count', endless, { ...A, signal: client.signal });
    const last = processes.run('count', task, A);
    client.abort(new Error('The client is gone.'));
    await expect(gone).rejects.toThrow('The client is gone.');
    expect(await Promise.all([first, last])).toEqual([count(task), count(task)]);
  });
});

describe('the time limit of a task', () => {
  const endless = { ...task, text: 'endless:count' };
  const withEndless = { ...OPTIONS, script: ENDLESS };

  it('kills the process of a task that exceeds it, and the next task succeeds', async () => {
    processes = createProcessPool(withEndless);
    const over = processes.run('count', endless, limited('a', 3_000));
    const failed = expect(over).rejects.toThrow(TimeLimitExceeded);
    const [ended] = begun();
    const next = processes.run('count', task, A);
    await failed;
    expect(await next).toEqual(count(task));
    expect(begun()).toHaveLength(1);
    expect(begun()).not.toContain(ended);
  });

  it('is counted in processor time, so a process that only waits does not exceed it', async () => {
    processes = createProcessPool({ ...withEndless, most: 2 });
    const stopped = processes.run('count', task, limited('a', 1_000));
    const [pid] = begun();
    process.kill(pid!, 'SIGSTOP');
    // The second task runs for 1.5 s, a tenth of its limit. Meanwhile the first task waits for longer than its own
    // limit of 1 s, but uses no processor time.
    await expect(processes.run('count', endless, limited('b', 15_000))).rejects.toThrow(TimeLimitExceeded);
    process.kill(pid!, 'SIGCONT');
    expect(await stopped).toEqual(count(task));
    expect(begun()).toEqual([pid]);
  });
});

it('a busy scanner process ends when its program is killed', async () => {
  const source = `
    import { createProcessPool } from '${new URL('./process-pool.ts', import.meta.url)}';
    import { ENDLESS } from '${ENDLESS}';
    createProcessPool({ ...${JSON.stringify(OPTIONS)}, script: ENDLESS })
      .run('count', ${JSON.stringify({ ...task, text: 'endless:count' })}, ${JSON.stringify(A)});`;
  const program = spawn(process.execPath, ['--input-type=module', '--eval', source], { stdio: 'inherit' });
  await until(() => children(program.pid).length === 1);
  const [pid] = children(program.pid);
  try {
    // `isBusy` requires a second of processor time, so the process is running its task and not just starting.
    await until(() => isBusy(pid!));
    program.kill('SIGKILL');
    await until(() => hasEnded(pid!));
  } finally {
    if (!hasEnded(pid!)) process.kill(pid!, 'SIGKILL');
  }
});

/**
 * Returns the fields of `/proc/PID/stat`, beginning with the process state (field 3); undefined when the process is
 * gone.
 */
function statOf(pid: number): string[] | undefined {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ');
  } catch {
    return undefined;
  }
}

/** A zombie has ended too: only its exit status has not been read yet. */
const hasEnded = (pid: number) => ['Z', 'X', undefined].includes(statOf(pid)?.[0]);

/** Whether the process has used more than a second of processor time. `/proc` counts in ticks of 10 ms. */
const isBusy = (pid: number) => Number(statOf(pid)?.[11]) > 100;
