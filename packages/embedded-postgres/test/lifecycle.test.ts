import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { isAlive } from '../src/processes.ts';
import { readRecord } from '../src/server.ts';
import { Fixture, query, storeValue, until } from './fixture.ts';

const fixture = new Fixture();
afterAll(() => fixture.clean());

test('startEmbeddedPostgres creates a cluster at the first start and uses it at the next start', async () => {
  const dataDir = fixture.newDataDir();
  const first = await fixture.start(dataDir);
  expect(first).toMatchObject({ owned: true, running: true, restarts: 0 });
  expect(first.connection).toMatchObject({ database: 'test', user: 'test_owner' });
  await storeValue(first, 7);
  const server = readRecord(dataDir)!;
  await first.stop();
  await first.stop();
  expect(isAlive(server)).toBe(false);
  const second = await fixture.start(dataDir);
  expect(await query(second, 'SELECT n FROM stored')).toEqual([7]);
  await second.stop();
});

test('an embedded server syncs commits to disk, accepts only local connections, and has the same settings on every machine', async () => {
  const dataDir = fixture.newDataDir();
  const postgres = await fixture.start(dataDir);
  const rows: [string, string][] = [
    ['fsync', 'on'],
    ['full_page_writes', 'on'],
    ['synchronous_commit', 'on'],
    ['data_checksums', 'on'],
    ['listen_addresses', ''],
    ['server_encoding', 'UTF8'],
    ['TimeZone', 'UTC'],
  ];
  for (const [name, value] of rows)
    expect([name, ...(await query(postgres, `SHOW ${name}`))]).toEqual([name, value]);
  // PostgreSQL's own locale converts letters beyond ASCII to upper case and sorts by code point, whatever locales the
  // operating system has.
  expect(await query(postgres, `SELECT upper('éß'), 'Z' < 'a' COLLATE "default"`)).toEqual(['Éß', true]);
  const rules = readFileSync(join(dataDir, 'postgres', 'pg_hba.conf'), 'utf8').match(/^[a-z].*$/gm)!;
  expect(rules.filter((rule) => !/^local\s/.test(rule) && !/\sreject$/.test(rule))).toEqual([]);
  await postgres.stop();
});

test('an embedded server logs no text of a statement that fails', async () => {
  const dataDir = await fixture.sharedCluster();
  const postgres = await fixture.start(dataDir);
  await expect(query(postgres, `SELECT 'customer text'::int`)).rejects.toThrow();
  await postgres.stop();
  const log = readFileSync(join(dataDir, 'postgres.log'), 'utf8');
  expect(log).toContain('shut down');
  expect(log).not.toContain('customer');
});

test('startEmbeddedPostgres refuses to start a second server on a data directory, from this process or another', async () => {
  const dataDir = await fixture.sharedCluster();
  const first = await fixture.start(dataDir);
  const refusal = await fixture.startProgram(dataDir).event('refused', 'ready');
  expect(refusal).toMatchObject({ event: 'refused', code: 'in_use' });
  expect(refusal.message).toContain(dataDir);
  expect(refusal.message).toContain(`process ${process.pid}`);
  await expect(fixture.start(dataDir)).rejects.toMatchObject({ code: 'in_use' });
  expect(await query(first, 'SELECT 1')).toEqual([1]);
  await first.stop();
});

test('a process with the role `command` uses the server that another process runs, and leaves the server running', async () => {
  const dataDir = await fixture.sharedCluster();
  const serve = await fixture.start(dataDir);
  const command = fixture.startProgram(dataDir, { role: 'command' });
  const joined = await command.event('ready', 'refused');
  expect(joined).toMatchObject({ event: 'ready', owned: false, connection: serve.connection });
  await command.stop();
  expect(await query(serve, 'SELECT 1')).toEqual([1]);
  await serve.stop();
});

test('a process with the role `command` waits while another process is still starting the server', async () => {
  const dataDir = fixture.newDataDir();
  const serve = fixture.startProgram(dataDir);
  await until(() => existsSync(join(dataDir, 'owner.json')));
  const command = await fixture.start(dataDir, { role: 'command' });
  expect(command.owned).toBe(false);
  expect(await query(command, 'SELECT 1')).toEqual([1]);
  await command.stop();
  await serve.event('ready');
  await serve.stop();
});

test('a process with the role `command` that runs the server stops it only after all other commands have stopped using it', async () => {
  const dataDir = await fixture.sharedCluster();
  const owner = fixture.startProgram(dataDir, { role: 'command' });
  expect(await owner.event('ready', 'refused')).toMatchObject({ owned: true });
  const guest = await fixture.start(dataDir, { role: 'command' });
  expect(guest.owned).toBe(false);
  owner.askToStop();
  await owner.event('stopping');
  expect(await query(guest, 'SELECT 1')).toEqual([1]);
  await guest.stop();
  await owner.event('stopped');
});

test('a process with the role `serve` waits for a command that runs the server, and starts the server when the command has stopped', async () => {
  const dataDir = await fixture.sharedCluster();
  const command = await fixture.start(dataDir, { role: 'command' });
  const serve = fixture.startProgram(dataDir);
  await command.stop();
  expect(await serve.event('ready', 'refused')).toMatchObject({ event: 'ready', owned: true });
  await serve.stop();
});

test('several embedded servers can run at the same time, each with its own cluster', async () => {
  const dataDirs = [
    await fixture.copiedCluster(),
    await fixture.copiedCluster(),
    await fixture.copiedCluster(),
  ];
  const all = await Promise.all(dataDirs.map((dataDir) => fixture.start(dataDir)));
  const directories = await Promise.all(all.map((each) => query(each, 'SHOW data_directory')));
  expect(directories.flat()).toEqual(dataDirs.map((dataDir) => join(dataDir, 'postgres')));
  await Promise.all(all.map((each) => each.stop()));
});

test('an embedded server puts its socket into a scratch directory when its path is too long, and removes the directory when it stops', async () => {
  const dataDir = await fixture.copiedCluster('l'.repeat(60), 'o'.repeat(60), `n'g, "${'é'.repeat(10)}`);
  const postgres = await fixture.start(dataDir);
  const { host } = postgres.connection;
  expect(host.startsWith(dataDir)).toBe(false);
  expect(await query(postgres, 'SELECT 1')).toEqual([1]);
  await postgres.stop();
  expect(existsSync(host)).toBe(false);
});

test('an embedded server accepts a data directory whose path contains a comma, a quote and a space', async () => {
  const dataDir = await fixture.copiedCluster(`a, "b' c`);
  const postgres = await fixture.start(dataDir);
  expect(postgres.connection.host).toBe(join(dataDir, 'socket'));
  expect(await query(postgres, 'SELECT 1')).toEqual([1]);
  await postgres.stop();
});

test('an embedded server does not keep its program from exiting, and stops when the program exits', async () => {
  const dataDir = await fixture.sharedCluster();
  const program = fixture.startProgram(dataDir, { leave: true });
  await program.event('ready');
  expect(await program.ended()).toBe(0);
  const server = readRecord(dataDir)!;
  await until(() => !isAlive(server));
});

test('startEmbeddedPostgres reports why a server did not start, and unlocks the data directory', async () => {
  const dataDir = await fixture.sharedCluster();
  const wrong = fixture.start(dataDir, { settings: { shared_buffers: 'plenty' } });
  await expect(wrong).rejects.toMatchObject({ code: 'start', message: expect.stringContaining('plenty') });
  const right = await fixture.start(dataDir, { settings: { work_mem: '8MB' } });
  expect(await query(right, 'SHOW work_mem')).toEqual(['8MB']);
  await right.stop();
});

test('startEmbeddedPostgres accepts an empty cluster directory, but refuses a damaged cluster and a cluster of another version', async () => {
  const mounted = fixture.newDataDir();
  mkdirSync(join(mounted, 'postgres'), { recursive: true });
  await (await fixture.start(mounted)).stop();
  expect(readdirSync(mounted)).toContain('postgres');

  const damaged = fixture.newDataDir();
  mkdirSync(join(damaged, 'postgres'), { recursive: true });
  writeFileSync(join(damaged, 'postgres', 'left'), '');
  await expect(fixture.start(damaged)).rejects.toMatchObject({ code: 'cluster' });
  expect(existsSync(join(damaged, 'postgres', 'left'))).toBe(true);

  const older = await fixture.copiedCluster();
  writeFileSync(join(older, 'postgres', 'PG_VERSION'), '17\n');
  await expect(fixture.start(older)).rejects.toMatchObject({
    code: 'cluster',
    message: expect.stringContaining('PostgreSQL 17'),
  });
});

test('startEmbeddedPostgres rejects with the name of a data directory that it cannot create', async () => {
  const dataDir = fixture.newDataDir();
  mkdirSync(join(dataDir, '..'), { recursive: true });
  writeFileSync(dataDir, 'a file');
  await expect(fixture.start(join(dataDir, 'below'))).rejects.toMatchObject({
    code: 'data_directory',
    message: expect.stringContaining(dataDir),
  });
});
