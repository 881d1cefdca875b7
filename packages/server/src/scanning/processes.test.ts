import { readFileSync } from 'node:fs';
import { afterEach, describe, expect, it } from 'vitest';
import { until } from '../testing/harness.ts';
import { createProcesses, type Processes } from './processes.ts';
import { count } from './tasks.ts';

const OPTIONS = { most: 1, idleMilliseconds: 60_000, memoryMebibytes: 256 };
const task = { format: 'text' as const, sourceLanguage: 'en', text: 'The house stands near the river.' };

/** The processes that this one began, as the system knows them. */
const children = () =>
  readFileSync(`/proc/${process.pid}/task/${process.pid}/children`, 'utf8')
    .trim()
    .split(' ')
    .filter(Boolean)
    .map(Number);
const others = new Set(children());
const begun = () => children().filter((pid) => !others.has(pid));

/** One that was not there before. */
async function another(known: readonly number[]): Promise<number> {
  await until(() => begun().some((pid) => !known.includes(pid)));
  return begun().find((pid) => !known.includes(pid))!;
}

let processes: Processes;
afterEach(() => processes.close());

describe('a few processes', () => {
  it('do what is asked as it would be done here, and one of them all of it', async () => {
    processes = createProcesses(OPTIONS);
    expect(begun()).toEqual([]);
    const all = Array.from({ length: 5 }, () => processes.run('count', task));
    expect(begun()).toHaveLength(1);
    expect(await Promise.all(all)).toEqual(Array(5).fill(count(task)));
    expect(begun()).toHaveLength(1);
  });

  it('are never more than allowed, and have none of the program’s secrets', async () => {
    process.env.DRAGOMAN_TEST_SECRET = 'told to nobody';
    try {
      processes = createProcesses({ ...OPTIONS, most: 2 });
      const all = Array.from({ length: 5 }, () => processes.run('count', task));
      expect(begun()).toHaveLength(2);
      await Promise.all(all);
      for (const pid of begun()) expect(readFileSync(`/proc/${pid}/environ`, 'utf8')).not.toContain('SECRET');
    } finally {
      delete process.env.DRAGOMAN_TEST_SECRET;
    }
  });

  it('throw what the task throws, and go on', async () => {
    processes = createProcesses(OPTIONS);
    const broken = { ...task, format: 'xliff' as const, targetLanguage: 'es', text: '<xliff' };
    await expect(processes.run('open', broken)).rejects.toThrow(/line 1/);
    expect(await processes.run('count', task)).toEqual(count(task));
    expect(begun()).toHaveLength(1);
  });

  it('hand what one died of to another, once', async () => {
    processes = createProcesses(OPTIONS);
    const first = processes.run('count', task);
    const second = processes.run('count', task);
    const [died] = begun();
    process.kill(died!, 'SIGKILL');
    expect(await Promise.all([first, second])).toEqual([count(task), count(task)]);
    expect(begun()).not.toContain(died);
  });

  it('fail the task alone of which two died', async () => {
    processes = createProcesses(OPTIONS);
    const fatal = processes.run('count', task);
    const next = processes.run('count', task);
    const failed = expect(fatal).rejects.toThrow(/SIGKILL/);
    const [one] = begun();
    process.kill(one!, 'SIGKILL');
    process.kill(await another([one!]), 'SIGKILL');
    await failed;
    expect(await next).toEqual(count(task));
  });

  it('do not end when the program is asked to', async () => {
    processes = createProcesses(OPTIONS);
    await processes.run('count', task);
    const [pid] = begun();
    process.kill(pid!, 'SIGTERM');
    process.kill(pid!, 'SIGINT');
    expect(await processes.run('count', task)).toEqual(count(task));
    expect(begun()).toEqual([pid]);
  });

  it('fail the tasks while none can be begun, and begin again', async () => {
    processes = createProcesses(OPTIONS);
    const { execPath } = process;
    process.execPath = '/nowhere/node';
    try {
      await expect(processes.run('count', task)).rejects.toThrow(/ENOENT/);
    } finally {
      process.execPath = execPath;
    }
    expect(await processes.run('count', task)).toEqual(count(task));
  });

  it('end when there is nothing to do, and begin again', async () => {
    processes = createProcesses({ ...OPTIONS, idleMilliseconds: 1 });
    await processes.run('count', task);
    await until(() => begun().length === 0);
    expect(await processes.run('count', task)).toEqual(count(task));
  });

  it('end when they are closed, and what was to be done fails', async () => {
    processes = createProcesses(OPTIONS);
    const failed = [processes.run('count', task), processes.run('count', task)].map((run) =>
      expect(run).rejects.toThrow(/SIGKILL|Closed/),
    );
    await processes.close();
    await Promise.all(failed);
    expect(begun()).toEqual([]);
    await expect(processes.run('count', task)).rejects.toThrow(/closed/);
  });
});
