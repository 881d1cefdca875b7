/**
 * Tests of the recovery after a crash of the program, the server or both, and after a crash during the first
 * start.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { isAlive, signal } from '../src/processes.ts';
import { readRecord } from '../src/server.ts';
import { Fixture, query, queryWhenUp, storeValue, until } from './fixture.ts';

const fixture = new Fixture();
afterAll(() => fixture.clean());

/** Starts a program, lets it commit a row, and kills it. Its server may keep running. */
async function killedOwner(dataDir: string) {
  const owner = fixture.startProgram(dataDir);
  const ready = await owner.event('ready');
  await storeValue(ready, 7);
  await owner.kill();
  return readRecord(dataDir)!;
}

test('startEmbeddedPostgres takes over the server of a killed program', async () => {
  const dataDir = await fixture.sharedCluster();
  const orphan = await killedOwner(dataDir);
  expect(isAlive(orphan)).toBe(true);
  const next = await fixture.start(dataDir);
  expect(readRecord(dataDir)!.pid).toBe(orphan.pid);
  expect(await query(next, 'SELECT n FROM stored')).toEqual([7]);
  await next.stop();
  expect(isAlive(orphan)).toBe(false);
});

test('startEmbeddedPostgres replaces the server of a killed program when its settings differ from the new ones', async () => {
  const dataDir = await fixture.sharedCluster();
  const orphan = await killedOwner(dataDir);
  const next = await fixture.start(dataDir, { settings: { work_mem: '8MB' } });
  expect(isAlive(orphan)).toBe(false);
  expect(await query(next, 'SHOW work_mem')).toEqual(['8MB']);
  expect(await query(next, 'SELECT n FROM stored')).toEqual([7]);
  await next.stop();
});

test('startEmbeddedPostgres finds a server by its pid file when server.json is damaged, and replaces the server', async () => {
  const dataDir = await fixture.sharedCluster();
  const orphan = await killedOwner(dataDir);
  writeFileSync(join(dataDir, 'server.json'), '{"half":');
  const next = await fixture.start(dataDir);
  expect(isAlive(orphan)).toBe(false);
  expect(await query(next, 'SELECT n FROM stored')).toEqual([7]);
  await next.stop();
});

test('a server that was taken over is restarted when it dies', async () => {
  const dataDir = await fixture.sharedCluster();
  const orphan = await killedOwner(dataDir);
  const next = await fixture.start(dataDir);
  signal(orphan, 'SIGKILL');
  await until(() => next.restarts === 1);
  expect(await query(next, 'SELECT n FROM stored')).toEqual([7]);
  await next.stop();
});

test('an embedded server is restarted each time it is killed, and listeners are notified', async () => {
  const dataDir = await fixture.sharedCluster();
  const postgres = await fixture.start(dataDir);
  await storeValue(postgres, 7);
  const exits: string[] = [];
  postgres.onExit(({ how }) => exits.push(how));
  for (const round of [1, 2]) {
    signal(readRecord(dataDir)!, 'SIGKILL');
    await until(() => postgres.restarts === round);
    expect(await queryWhenUp(postgres, 'SELECT n FROM stored')).toEqual([7]);
  }
  expect(exits).toEqual(['signal SIGKILL', 'signal SIGKILL']);
  expect(postgres.running).toBe(true);
  await postgres.stop();
});

test('an embedded server can be stopped during a restart', async () => {
  const dataDir = await fixture.sharedCluster();
  const postgres = await fixture.start(dataDir);
  const server = readRecord(dataDir)!;
  const exits = new Promise((resolve) => postgres.onExit(resolve));
  signal(server, 'SIGKILL');
  await exits;
  await postgres.stop();
  expect(postgres.running).toBe(false);
  expect(existsSync(join(dataDir, 'server.json'))).toBe(false);
  await (await fixture.start(dataDir)).stop();
});

test('a restart ends the remaining processes of a server that was killed during a long statement', async () => {
  const dataDir = await fixture.sharedCluster();
  const postgres = await fixture.start(dataDir);
  // A PostgreSQL process that runs a long statement does not notice that its postmaster has died.
  const busy = query(postgres, 'SELECT count(*) FROM generate_series(1, 20000000000)').catch(
    (error) => error,
  );
  await until(async () => {
    const active = `SELECT count(*)::int FROM pg_stat_activity WHERE state = 'active' AND query LIKE '%series%'`;
    return (await query(postgres, active))[0] === 2;
  });
  signal(readRecord(dataDir)!, 'SIGKILL');
  await until(() => postgres.restarts === 1);
  expect(await busy).toBeInstanceOf(Error);
  expect(await query(postgres, 'SELECT 1')).toEqual([1]);
  await postgres.stop();
});

test('startEmbeddedPostgres does not signal another process that has the pid of the killed server', async () => {
  const dataDir = await fixture.sharedCluster();
  const orphan = await killedOwner(dataDir);
  signal(orphan, 'SIGKILL');
  await until(() => !isAlive(orphan));
  const other = spawn('sleep', ['1000'], { stdio: 'ignore' });
  try {
    await once(other, 'spawn');
    const pidFile = join(dataDir, 'postgres', 'postmaster.pid');
    const replaced = (path: string) =>
      writeFileSync(path, readFileSync(path, 'utf8').replace(String(orphan.pid), String(other.pid)));
    replaced(pidFile);
    replaced(join(dataDir, 'server.json'));
    replaced(join(dataDir, 'socket', '.s.PGSQL.5432.lock'));
    const next = await fixture.start(dataDir);
    expect(await query(next, 'SELECT n FROM stored')).toEqual([7]);
    expect(other.exitCode ?? other.signalCode).toBe(null);
    await next.stop();
    expect(other.exitCode ?? other.signalCode).toBe(null);
  } finally {
    other.kill();
  }
});

test('startEmbeddedPostgres creates the cluster when an earlier start was killed during initdb', async () => {
  const dataDir = fixture.newDataDir();
  const first = fixture.startProgram(dataDir);
  const drafts = () => readdirSync(dataDir).filter((entry) => entry.startsWith('postgres.new-'));
  await until(
    () => existsSync(dataDir) && drafts().some((draft) => readdirSync(join(dataDir, draft)).length > 3),
  );
  await first.kill();
  expect(drafts()).toHaveLength(1);
  const next = await fixture.start(dataDir);
  expect(await query(next, 'SELECT 1')).toEqual([1]);
  expect(drafts()).toHaveLength(0);
  await next.stop();
});

test('startEmbeddedPostgres renames the log and starts a new one when the log is large', async () => {
  const dataDir = await fixture.sharedCluster();
  const path = join(dataDir, 'postgres.log');
  writeFileSync(path, 'x'.repeat(5 * 1024 * 1024));
  await (await fixture.start(dataDir)).stop();
  expect(readFileSync(path, 'utf8')).not.toContain('xxx');
  expect(existsSync(`${path}.1`)).toBe(true);
});
