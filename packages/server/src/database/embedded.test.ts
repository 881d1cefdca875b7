/** The life of one data directory: started, refused, shared, stopped. Crashes: `embedded-crash.test.ts`. */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { isAlive } from './embedded/processes.ts';
import { readRecord } from './embedded/server.ts';
import { Ground, keep, query, until } from './embedded/testing.ts';

const ground = new Ground();
afterAll(() => ground.clean());

test('the first start makes a cluster, the next one finds what was kept', async () => {
  const dataDir = ground.empty();
  const first = await ground.start(dataDir);
  expect(first).toMatchObject({ owned: true, running: true, restarts: 0 });
  expect(first.connection).toMatchObject({ database: 'dragoman', user: 'dragoman_owner' });
  await keep(first, 7);
  const server = readRecord(dataDir)!;
  await first.stop();
  await first.stop();
  expect(isAlive(server)).toBe(false);
  const second = await ground.start(dataDir);
  expect(await query(second, 'SELECT n FROM kept')).toEqual([7]);
  await second.stop();
});

test('the server is durable, local, and the same on every machine', async () => {
  const dataDir = ground.empty();
  const embedded = await ground.start(dataDir);
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
    expect([name, ...(await query(embedded, `SHOW ${name}`))]).toEqual([name, value]);
  // Case rules beyond ASCII and an order by code point come from the server itself, not from the system.
  expect(await query(embedded, `SELECT upper('éß'), 'Z' < 'a' COLLATE "default"`)).toEqual(['Éß', true]);
  const rules = readFileSync(join(dataDir, 'postgres', 'pg_hba.conf'), 'utf8').match(/^[a-z].*$/gm)!;
  expect(rules.filter((rule) => !/^local\s/.test(rule) && !/\sreject$/.test(rule))).toEqual([]);
  await embedded.stop();
});

test('a failing statement leaves no text of it in the log', async () => {
  const dataDir = await ground.prepared();
  const embedded = await ground.start(dataDir);
  await expect(query(embedded, `SELECT 'customer text'::int`)).rejects.toThrow();
  await embedded.stop();
  const log = readFileSync(join(dataDir, 'postgres.log'), 'utf8');
  expect(log).toContain('shut down');
  expect(log).not.toContain('customer');
});

test('a second serve is refused, in another process and in the same', async () => {
  const dataDir = await ground.prepared();
  const first = await ground.start(dataDir);
  const refusal = await ground.hold(dataDir).event('refused', 'ready');
  expect(refusal).toMatchObject({ event: 'refused', code: 'in_use' });
  expect(refusal.message).toContain(dataDir);
  expect(refusal.message).toContain(`process ${process.pid}`);
  await expect(ground.start(dataDir)).rejects.toMatchObject({ code: 'in_use' });
  expect(await query(first, 'SELECT 1')).toEqual([1]);
  await first.stop();
});

test('a command beside serve uses its server and leaves it running', async () => {
  const dataDir = await ground.prepared();
  const serve = await ground.start(dataDir);
  const command = ground.hold(dataDir, { role: 'command' });
  const joined = await command.event('ready', 'refused');
  expect(joined).toMatchObject({ event: 'ready', owned: false, connection: serve.connection });
  await command.stop();
  expect(await query(serve, 'SELECT 1')).toEqual([1]);
  await serve.stop();
});

test('a command that waits for a starting serve gets its server', async () => {
  const dataDir = ground.empty();
  const serve = ground.hold(dataDir);
  await until(() => existsSync(join(dataDir, 'owner.json')));
  const command = await ground.start(dataDir, { role: 'command' });
  expect(command.owned).toBe(false);
  expect(await query(command, 'SELECT 1')).toEqual([1]);
  await command.stop();
  await serve.event('ready');
  await serve.stop();
});

test('a command that owns the server lets its guests finish', async () => {
  const dataDir = await ground.prepared();
  const owner = ground.hold(dataDir, { role: 'command' });
  expect(await owner.event('ready', 'refused')).toMatchObject({ owned: true });
  const guest = await ground.start(dataDir, { role: 'command' });
  expect(guest.owned).toBe(false);
  owner.askToStop();
  await owner.event('stopping');
  expect(await query(guest, 'SELECT 1')).toEqual([1]);
  await guest.stop();
  await owner.event('stopped');
});

test('serve waits for a command that owns the server', async () => {
  const dataDir = await ground.prepared();
  const command = await ground.start(dataDir, { role: 'command' });
  const serve = ground.hold(dataDir);
  await command.stop();
  expect(await serve.event('ready', 'refused')).toMatchObject({ event: 'ready', owned: true });
  await serve.stop();
});

test('several clusters run side by side', async () => {
  const dataDirs = [await ground.copied(), await ground.copied(), await ground.copied()];
  const all = await Promise.all(dataDirs.map((dataDir) => ground.start(dataDir)));
  const directories = await Promise.all(all.map((each) => query(each, 'SHOW data_directory')));
  expect(directories.flat()).toEqual(dataDirs.map((dataDir) => join(dataDir, 'postgres')));
  await Promise.all(all.map((each) => each.stop()));
});

test('a path too long for a socket: it lies elsewhere, and is gone after the stop', async () => {
  const dataDir = await ground.copied('l'.repeat(60), 'o'.repeat(60), `n'g, "${'é'.repeat(10)}`);
  const embedded = await ground.start(dataDir);
  const { host } = embedded.connection;
  expect(host.startsWith(dataDir)).toBe(false);
  expect(await query(embedded, 'SELECT 1')).toEqual([1]);
  await embedded.stop();
  expect(existsSync(host)).toBe(false);
});

test('a directory with a comma, a quote and a space holds its own socket', async () => {
  const dataDir = await ground.copied(`a, "b' c`);
  const embedded = await ground.start(dataDir);
  expect(embedded.connection.host).toBe(join(dataDir, 'socket'));
  expect(await query(embedded, 'SELECT 1')).toEqual([1]);
  await embedded.stop();
});

test('a program that just ends is not kept, and takes its server along', async () => {
  const dataDir = await ground.prepared();
  const program = ground.hold(dataDir, { leave: true });
  await program.event('ready');
  expect(await program.ended()).toBe(0);
  const server = readRecord(dataDir)!;
  await until(() => !isAlive(server));
});

test('a server that does not start says why, and leaves the directory free', async () => {
  const dataDir = await ground.prepared();
  const wrong = ground.start(dataDir, { settings: { shared_buffers: 'plenty' } });
  await expect(wrong).rejects.toMatchObject({ code: 'start', message: expect.stringContaining('plenty') });
  const right = await ground.start(dataDir, { settings: { work_mem: '8MB' } });
  expect(await query(right, 'SHOW work_mem')).toEqual(['8MB']);
  await right.stop();
});

test('an empty cluster directory is made a cluster; a damaged one or another version is refused', async () => {
  const mounted = ground.empty();
  mkdirSync(join(mounted, 'postgres'), { recursive: true });
  await (await ground.start(mounted)).stop();
  expect(readdirSync(mounted)).toContain('postgres');

  const damaged = ground.empty();
  mkdirSync(join(damaged, 'postgres'), { recursive: true });
  writeFileSync(join(damaged, 'postgres', 'left'), '');
  await expect(ground.start(damaged)).rejects.toMatchObject({ code: 'cluster' });
  expect(existsSync(join(damaged, 'postgres', 'left'))).toBe(true);

  const older = await ground.copied();
  writeFileSync(join(older, 'postgres', 'PG_VERSION'), '17\n');
  await expect(ground.start(older)).rejects.toMatchObject({
    code: 'cluster',
    message: expect.stringContaining('PostgreSQL 17'),
  });
});

test('a data directory that cannot be made is refused with its name', async () => {
  const dataDir = ground.empty();
  mkdirSync(join(dataDir, '..'), { recursive: true });
  writeFileSync(dataDir, 'a file');
  await expect(ground.start(join(dataDir, 'below'))).rejects.toMatchObject({
    code: 'data_directory',
    message: expect.stringContaining(dataDir),
  });
});
