/** Tests of the user that the server runs as. Most of them need root. */
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
import { makeLinks } from '../src/binaries.ts';
import { chooseIdentity } from '../src/identity.ts';
import { readRecord } from '../src/server.ts';
import { Fixture, NOBODY, query, storeValue } from './fixture.ts';

const fixture = new Fixture();
chmodSync(fixture.root, 0o755);
afterAll(() => fixture.clean());

const root = process.getuid!() === 0;
const own = { uid: NOBODY, gid: NOBODY, stdio: 'ignore' } as const;
/** Whether an unprivileged user can run this checkout; false when only root can enter its directory. */
const nobodyCanRun = root && spawnSync(process.execPath, ['--check', import.meta.filename], own).status === 0;
const namespaces = root && spawnSync('unshare', ['--user', '--map-user=1', '--', 'true']).status === 0;

/** Returns the effective user id of the server process. */
function effectiveUser(dataDir: string): number {
  const { pid } = readRecord(dataDir)!;
  return Number(/^Uid:\s+\d+\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]);
}

function dataDirOf(uid: number): string {
  const dataDir = fixture.newDataDir();
  mkdirSync(dirname(dataDir), { recursive: true });
  mkdirSync(dataDir, { mode: 0o700 });
  chownSync(dataDir, uid, uid);
  return dataDir;
}

test.runIf(nobodyCanRun)('an embedded server runs as the ordinary user that started it', async () => {
  const dataDir = dataDirOf(NOBODY);
  const program = fixture.startProgram(dataDir, {}, NOBODY);
  const ready = await program.event('ready', 'refused');
  expect(ready).toMatchObject({ event: 'ready', owned: true });
  expect(effectiveUser(dataDir)).toBe(NOBODY);
  await program.stop();
});

test.runIf(nobodyCanRun && namespaces)('an embedded server runs for a user id without a name', async () => {
  const nameless = 54321;
  const dataDir = dataDirOf(nameless);
  const program = fixture.startProgram(dataDir, {}, nameless);
  expect(await program.event('ready', 'refused')).toMatchObject({ event: 'ready', owned: true });
  await program.stop();
});

test.runIf(nobodyCanRun)(
  'a command run by root leaves the cluster usable for the ordinary user who owns it',
  async () => {
    const dataDir = dataDirOf(NOBODY);
    const postgres = await fixture.start(dataDir, { role: 'command' });
    await storeValue(postgres, 7);
    expect(effectiveUser(dataDir)).toBe(NOBODY);
    await postgres.stop();
    const program = fixture.startProgram(dataDir, { role: 'command' }, NOBODY);
    const ready = await program.event('ready', 'refused');
    expect(ready).toMatchObject({ event: 'ready', owned: true });
    expect(await query(ready, 'SELECT n FROM stored')).toEqual([7]);
    await program.stop();
  },
);

test.runIf(nobodyCanRun)('a command run by root uses the running server of an ordinary user', async () => {
  const dataDir = dataDirOf(NOBODY);
  const program = fixture.startProgram(dataDir, {}, NOBODY);
  await program.event('ready', 'refused');
  const command = await fixture.start(dataDir, { role: 'command' });
  expect(command.owned).toBe(false);
  expect(await query(command, 'SELECT 1')).toEqual([1]);
  await command.stop();
  await program.stop();
});

test.runIf(namespaces)(
  'an embedded server started by root runs in a user namespace as root when only root can enter the directory',
  async () => {
    const dataDir = await fixture.copiedCluster('closed');
    chmodSync(dirname(dataDir), 0o700);
    const postgres = await fixture.start(dataDir);
    expect(await query(postgres, 'SELECT 1')).toEqual([1]);
    expect(statSync(join(dataDir, 'postgres')).uid).toBe(0);
    await postgres.stop();
  },
);

test.runIf(root)(
  'an embedded server started by root runs as an unprivileged user, who becomes the owner of the cluster, when namespaces are forbidden',
  async () => {
    const dataDir = await fixture.copiedCluster();
    chmodSync(dataDir, 0o700);
    const postgres = await fixture.start(dataDir, { canUnshare: () => false });
    expect(effectiveUser(dataDir)).toBe(NOBODY);
    expect(statSync(join(dataDir, 'postgres')).uid).toBe(NOBODY);
    // The unprivileged user may enter the data directory, which contains keys, but may not list it or write
    // to it.
    expect(statSync(dataDir)).toMatchObject({ uid: 0, gid: NOBODY });
    expect(statSync(dataDir).mode & 0o777).toBe(0o710);
    await storeValue(postgres, 7);
    await postgres.stop();
    const again = await fixture.start(dataDir);
    expect(effectiveUser(dataDir)).toBe(NOBODY);
    expect(await query(again, 'SELECT n FROM stored')).toEqual([7]);
    await again.stop();
  },
);

test.runIf(root)(
  'an embedded server started by root gets access by a Linux capability when namespaces are forbidden and only root can enter the directory',
  async () => {
    const dataDir = fixture.newDataDir('closed');
    mkdirSync(dirname(dataDir), { recursive: true, mode: 0o700 });
    const postgres = await fixture.start(dataDir, { canUnshare: () => false });
    expect(effectiveUser(dataDir)).toBe(NOBODY);
    expect(await query(postgres, 'SELECT 1')).toEqual([1]);
    await postgres.stop();
  },
);

test.runIf(root)('chooseIdentity tells root what to do when the server cannot run', async () => {
  const dataDir = fixture.newDataDir('closed');
  mkdirSync(dataDir, { recursive: true });
  chmodSync(dirname(dataDir), 0o700);
  const { PATH } = process.env;
  // The PATH `/nowhere` simulates a system without `unshare` and `setpriv`.
  process.env.PATH = '/nowhere';
  try {
    const choose = () => chooseIdentity(dataDir, join(dataDir, 'postgres'));
    expect(choose).toThrow(
      expect.objectContaining({ code: 'root', message: expect.stringContaining('as an ordinary user') }),
    );
  } finally {
    process.env.PATH = PATH;
  }
});

test('makeLinks creates missing library links, and changes nothing when it is called again', async () => {
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
