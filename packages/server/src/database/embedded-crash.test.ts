/** What is found after a crash, of the program, of the server, of both, and of a first start. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { isAlive, signal } from './embedded/processes.ts';
import { readRecord } from './embedded/server.ts';
import { Ground, keep, query, queryWhenUp, until } from './embedded/testing.ts';

const ground = new Ground();
afterAll(() => ground.clean());

/** A program with a row that was acknowledged, killed; its server may live on. */
async function killedOwner(dataDir: string) {
  const owner = ground.hold(dataDir);
  const held = await owner.event('ready');
  await keep(held, 7);
  await owner.kill();
  return readRecord(dataDir)!;
}

test('the server of a killed program is taken over, with its connections and data', async () => {
  const dataDir = await ground.prepared();
  const orphan = await killedOwner(dataDir);
  expect(isAlive(orphan)).toBe(true);
  const next = await ground.start(dataDir);
  expect(readRecord(dataDir)!.pid).toBe(orphan.pid);
  expect(await query(next, 'SELECT n FROM kept')).toEqual([7]);
  await next.stop();
  expect(isAlive(orphan)).toBe(false);
});

test('a server that was started with other settings is not taken over but started anew', async () => {
  const dataDir = await ground.prepared();
  const orphan = await killedOwner(dataDir);
  const next = await ground.start(dataDir, { settings: { work_mem: '8MB' } });
  expect(isAlive(orphan)).toBe(false);
  expect(await query(next, 'SHOW work_mem')).toEqual(['8MB']);
  expect(await query(next, 'SELECT n FROM kept')).toEqual([7]);
  await next.stop();
});

test('a server without a record is known by its own pid file, and replaced', async () => {
  const dataDir = await ground.prepared();
  const orphan = await killedOwner(dataDir);
  writeFileSync(join(dataDir, 'server.json'), '{"half":');
  const next = await ground.start(dataDir);
  expect(isAlive(orphan)).toBe(false);
  expect(await query(next, 'SELECT n FROM kept')).toEqual([7]);
  await next.stop();
});

test('a taken over server that dies is started again', async () => {
  const dataDir = await ground.prepared();
  const orphan = await killedOwner(dataDir);
  const next = await ground.start(dataDir);
  signal(orphan, 'SIGKILL');
  await until(() => next.restarts === 1);
  expect(await query(next, 'SELECT n FROM kept')).toEqual([7]);
  await next.stop();
});

test('a server killed under its owner is started again, each time, and heard of', async () => {
  const dataDir = await ground.prepared();
  const embedded = await ground.start(dataDir);
  await keep(embedded, 7);
  const heard: string[] = [];
  embedded.onExit(({ how }) => heard.push(how));
  for (const round of [1, 2]) {
    signal(readRecord(dataDir)!, 'SIGKILL');
    await until(() => embedded.restarts === round);
    expect(await queryWhenUp(embedded, 'SELECT n FROM kept')).toEqual([7]);
  }
  expect(heard).toEqual(['signal SIGKILL', 'signal SIGKILL']);
  expect(embedded.running).toBe(true);
  await embedded.stop();
});

test('a stop during a restart wins', async () => {
  const dataDir = await ground.prepared();
  const embedded = await ground.start(dataDir);
  const server = readRecord(dataDir)!;
  const heard = new Promise((resolve) => embedded.onExit(resolve));
  signal(server, 'SIGKILL');
  await heard;
  await embedded.stop();
  expect(embedded.running).toBe(false);
  expect(existsSync(join(dataDir, 'server.json'))).toBe(false);
  await (await ground.start(dataDir)).stop();
});

test('a server killed in a long statement leaves no process that keeps the next one out', async () => {
  const dataDir = await ground.prepared();
  const embedded = await ground.start(dataDir);
  // Busy, so that it does not look whether its postmaster is still there.
  const busy = query(embedded, 'SELECT count(*) FROM generate_series(1, 20000000000)').catch(
    (error) => error,
  );
  await until(async () => {
    const active = `SELECT count(*)::int FROM pg_stat_activity WHERE state = 'active' AND query LIKE '%series%'`;
    return (await query(embedded, active))[0] === 2;
  });
  signal(readRecord(dataDir)!, 'SIGKILL');
  await until(() => embedded.restarts === 1);
  expect(await busy).toBeInstanceOf(Error);
  expect(await query(embedded, 'SELECT 1')).toEqual([1]);
  await embedded.stop();
});

test('all killed, and the pid of the server belongs to somebody else now: that one is left alone', async () => {
  const dataDir = await ground.prepared();
  const orphan = await killedOwner(dataDir);
  signal(orphan, 'SIGKILL');
  await until(() => !isAlive(orphan));
  const stranger = spawn('sleep', ['1000'], { stdio: 'ignore' });
  try {
    await once(stranger, 'spawn');
    const pidFile = join(dataDir, 'postgres', 'postmaster.pid');
    const replaced = (path: string) =>
      writeFileSync(path, readFileSync(path, 'utf8').replace(String(orphan.pid), String(stranger.pid)));
    replaced(pidFile);
    replaced(join(dataDir, 'server.json'));
    replaced(join(dataDir, 'socket', '.s.PGSQL.5432.lock'));
    const next = await ground.start(dataDir);
    expect(await query(next, 'SELECT n FROM kept')).toEqual([7]);
    expect(stranger.exitCode ?? stranger.signalCode).toBe(null);
    await next.stop();
    expect(stranger.exitCode ?? stranger.signalCode).toBe(null);
  } finally {
    stranger.kill();
  }
});

test('a first start killed half-way is done again', async () => {
  const dataDir = ground.empty();
  const first = ground.hold(dataDir);
  const drafts = () => readdirSync(dataDir).filter((entry) => entry.startsWith('postgres.new-'));
  await until(
    () => existsSync(dataDir) && drafts().some((draft) => readdirSync(join(dataDir, draft)).length > 3),
  );
  await first.kill();
  expect(drafts()).toHaveLength(1);
  const next = await ground.start(dataDir);
  expect(await query(next, 'SELECT 1')).toEqual([1]);
  expect(drafts()).toHaveLength(0);
  await next.stop();
});

test('a large log is put aside at the start', async () => {
  const dataDir = await ground.prepared();
  const path = join(dataDir, 'postgres.log');
  writeFileSync(path, 'x'.repeat(5 * 1024 * 1024));
  await (await ground.start(dataDir)).stop();
  expect(readFileSync(path, 'utf8')).not.toContain('xxx');
  expect(existsSync(`${path}.1`)).toBe(true);
});
