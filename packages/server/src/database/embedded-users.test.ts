/** Who runs the server: an ordinary user, and root in each of its ways. The latter need root to be shown. */
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { makeLinks } from './embedded/binaries.ts';
import { chooseIdentity } from './embedded/identity.ts';
import { readRecord } from './embedded/server.ts';
import { Ground, keep, query, STRANGER } from './embedded/testing.ts';

const ground = new Ground();
chmodSync(ground.root, 0o755);
afterAll(() => ground.clean());

const root = process.getuid!() === 0;
const own = { uid: STRANGER, gid: STRANGER, stdio: 'ignore' } as const;
/** A clone below a closed home directory cannot be run by a stranger. */
const strangerCanRun =
  root && spawnSync(process.execPath, ['--check', import.meta.filename], own).status === 0;
const namespaces = root && spawnSync('unshare', ['--user', '--map-user=1', '--', 'true']).status === 0;

/** Whom the kernel says the server runs as. */
function effectiveUser(dataDir: string): number {
  const { pid } = readRecord(dataDir)!;
  return Number(/^Uid:\s+\d+\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]);
}

/** A data directory that a user owns. */
function ownedBy(uid: number): string {
  const dataDir = ground.empty();
  mkdirSync(dirname(dataDir), { recursive: true });
  mkdirSync(dataDir, { mode: 0o700 });
  chownSync(dataDir, uid, uid);
  return dataDir;
}

test.runIf(strangerCanRun)('an ordinary user runs it as itself', async () => {
  const dataDir = ownedBy(STRANGER);
  const holder = ground.hold(dataDir, {}, STRANGER);
  const held = await holder.event('ready', 'refused');
  expect(held).toMatchObject({ event: 'ready', owned: true });
  expect(effectiveUser(dataDir)).toBe(STRANGER);
  await holder.stop();
});

test.runIf(strangerCanRun && namespaces)('a user that the system has no name for runs it too', async () => {
  const nameless = 54321;
  const dataDir = ownedBy(nameless);
  const holder = ground.hold(dataDir, {}, nameless);
  expect(await holder.event('ready', 'refused')).toMatchObject({ event: 'ready', owned: true });
  await holder.stop();
});

test.runIf(strangerCanRun)('root in an ordinary user’s directory does not lock that user out', async () => {
  const dataDir = ownedBy(STRANGER);
  const embedded = await ground.start(dataDir, { role: 'command' });
  await keep(embedded, 7);
  expect(effectiveUser(dataDir)).toBe(STRANGER);
  await embedded.stop();
  const holder = ground.hold(dataDir, { role: 'command' }, STRANGER);
  const held = await holder.event('ready', 'refused');
  expect(held).toMatchObject({ event: 'ready', owned: true });
  expect(await query(held, 'SELECT n FROM kept')).toEqual([7]);
  await holder.stop();
});

test.runIf(strangerCanRun)('a command of root joins the server of an ordinary user', async () => {
  const dataDir = ownedBy(STRANGER);
  const holder = ground.hold(dataDir, {}, STRANGER);
  await holder.event('ready', 'refused');
  const command = await ground.start(dataDir, { role: 'command' });
  expect(command.owned).toBe(false);
  expect(await query(command, 'SELECT 1')).toEqual([1]);
  await command.stop();
  await holder.stop();
});

test.runIf(namespaces)(
  'root, by a namespace: below a closed directory, and the files stay root’s',
  async () => {
    const dataDir = await ground.copied('closed');
    chmodSync(dirname(dataDir), 0o700);
    const embedded = await ground.start(dataDir);
    expect(await query(embedded, 'SELECT 1')).toEqual([1]);
    expect(statSync(join(dataDir, 'postgres')).uid).toBe(0);
    await embedded.stop();
  },
);

test.runIf(root)(
  'root, namespaces forbidden: an unprivileged user is given the cluster and keeps it',
  async () => {
    const dataDir = await ground.copied();
    chmodSync(dataDir, 0o700);
    const embedded = await ground.start(dataDir, { canUnshare: () => false });
    expect(effectiveUser(dataDir)).toBe(STRANGER);
    expect(statSync(join(dataDir, 'postgres')).uid).toBe(STRANGER);
    // It may pass through the data directory, where the keys lie, and not list or write there.
    expect(statSync(dataDir)).toMatchObject({ uid: 0, gid: STRANGER });
    expect(statSync(dataDir).mode & 0o777).toBe(0o710);
    await keep(embedded, 7);
    await embedded.stop();
    const again = await ground.start(dataDir);
    expect(effectiveUser(dataDir)).toBe(STRANGER);
    expect(await query(again, 'SELECT n FROM kept')).toEqual([7]);
    await again.stop();
  },
);

test.runIf(root)(
  'root, namespaces forbidden, data below a closed directory: one capability passes',
  async () => {
    const dataDir = ground.empty('closed');
    mkdirSync(dirname(dataDir), { recursive: true, mode: 0o700 });
    const embedded = await ground.start(dataDir, { canUnshare: () => false });
    expect(effectiveUser(dataDir)).toBe(STRANGER);
    expect(await query(embedded, 'SELECT 1')).toEqual([1]);
    await embedded.stop();
  },
);

test.runIf(root)('where root finds no way, it is told what to do', async () => {
  const dataDir = ground.empty('closed');
  mkdirSync(dataDir, { recursive: true });
  chmodSync(dirname(dataDir), 0o700);
  const { PATH } = process.env;
  // A system without `unshare` and `setpriv`.
  process.env.PATH = '/nowhere';
  try {
    const choose = () => chooseIdentity(dataDir, join(dataDir, 'postgres'));
    expect(choose).toThrow(
      expect.objectContaining({ code: 'root', message: expect.stringContaining('DATABASE_URL') }),
    );
  } finally {
    process.env.PATH = PATH;
  }
});

test('missing library links are made, by two at once', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'links-'));
  mkdirSync(join(directory, 'lib'));
  writeFileSync(join(directory, 'lib', 'libpq.so.5.18'), 'library');
  const list = [{ source: 'native/lib/libpq.so.5.18', target: 'native/lib/libpq.so.5' }];
  writeFileSync(join(directory, 'pg-symlinks.json'), JSON.stringify(list));
  makeLinks(directory);
  makeLinks(directory);
  expect(lstatSync(join(directory, 'lib', 'libpq.so.5')).isSymbolicLink()).toBe(true);
  expect(readFileSync(join(directory, 'lib', 'libpq.so.5'), 'utf8')).toBe('library');
  rmSync(directory, { recursive: true });
});
