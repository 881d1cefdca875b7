/** What the doctor says of the processes that serve a database. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createFake } from '@dragoman/engines/fake';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createLog } from '../log.ts';
import { type Role, startServer } from '../serve.ts';
import { createTestDatabase, startTestServer, type TestServer, until } from '../testing/harness.ts';
import { dragoman, urlOf } from '../testing/programs.ts';
import { VERSION } from '../version.ts';
import type { Finding } from './doctor.ts';

const directory = mkdtempSync(join(tmpdir(), 'dragoman-doctor-'));
let server: TestServer;

beforeAll(async () => {
  server = await startTestServer();
  await server.server.stop();
  // An engine that is hardly there spares these tests its self-tests.
  mkdirSync(join(directory, 'usr/bin'), { recursive: true });
  writeFileSync(join(directory, 'usr/bin/lt-proc'), '');
});
afterAll(async () => {
  await server.drop();
  rmSync(directory, { recursive: true, force: true });
});

async function findingOf(check: string, connection = server.connection): Promise<Finding | undefined> {
  const { stdout } = await dragoman(['doctor', '--json', '--data', directory], {
    DATABASE_URL: urlOf(connection),
    DRAGOMAN_APERTIUM_ROOT: directory,
  });
  return (JSON.parse(stdout).findings as Finding[]).find((finding) => finding.check === check);
}

const serving = (role: Role) =>
  startServer({
    ...{ store: server.store, settings: server.settings, log: createLog('silent') },
    ...{ role, engines: () => [createFake()] },
  });

describe('the doctor', () => {
  it('names the version of the program', async () => {
    expect((await findingOf('version'))?.detail).toContain(`Dragoman ${VERSION}`);
  });

  it('misses no worker where nothing serves', async () => {
    const unserved = await createTestDatabase();
    const detail = expect.stringContaining('no process serves');
    expect(await findingOf('workers', unserved.connection)).toMatchObject({ ok: true, detail });
    await unserved.drop();
  });

  it('says that no worker reports when an api serves without one, and counts those that do', async () => {
    const api = await serving('api');
    expect(await findingOf('workers')).toMatchObject({
      ok: false,
      detail: expect.stringContaining('none has reported'),
      remedy: expect.stringContaining('serve --role worker'),
    });
    const worker = await serving('worker');
    await until(async () => (await findingOf('workers'))?.ok);
    await worker.stop();
    await api.stop();
  });
});
