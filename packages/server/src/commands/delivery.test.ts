/** Tests the command `dragoman delivery` while a server is running. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  createClient,
  type Receiver,
  startReceiver,
  startTestServer,
  type TestServer,
  waitForStatus,
} from '../testing/harness.ts';
import { dragoman, type Ended, urlOf } from '../testing/programs.ts';

const directory = mkdtempSync(join(tmpdir(), 'dragoman-delivery-'));
let server: TestServer;
let receiver: Receiver;
beforeAll(async () => {
  receiver = await startReceiver();
  server = await startTestServer();
});
afterAll(async () => {
  await server.stop();
  await receiver.close();
  rmSync(directory, { recursive: true, force: true });
});

const command = (...args: string[]): Promise<Ended> =>
  dragoman(['delivery', ...args, '--data', directory], { DATABASE_URL: urlOf(server.connection) });

async function runJson(...args: string[]) {
  const { status, stdout, stderr } = await command(...args, '--json');
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  return JSON.parse(stdout);
}

it('dragoman delivery lists, shows and replays dead deliveries, either one by one or all that died since a date', async () => {
  let works = false;
  receiver.answer(() => (works ? 200 : 410));
  const { username, production_key } = await server.createAccount();
  const call = createClient(server.url, production_key);
  const send = async () =>
    (await call('POST', '/api/v1/test-event/', { url: `${receiver.url}/` })).body.id as string;
  const ids = [await send(), await send()];
  const reach = (id: string, status: string) => waitForStatus(call, `/api/v1/deliveries/${id}/`, status);
  for (const id of ids) await reach(id, 'dead');

  const { deliveries } = await runJson('list', '--status', 'dead', '--account', username);
  expect(deliveries.map(({ id }: { id: string }) => id)).toEqual(ids.toReversed());
  expect(deliveries[0]).toMatchObject({ account: username, environment: 'production', failure: 'gone' });
  expect(await runJson('show', ids[0]!)).toMatchObject({
    status: 'dead',
    attempts: [{ attempt: 1, outcome: 'answered', status_code: 410 }],
  });
  expect((await command('show', ids[0]!)).stdout).toMatch(/^attempt 1, .*: 410, \d+ ms$/m);

  works = true;
  expect(await runJson('replay', ids[0]!)).toEqual({ replayed: 1 });
  await reach(ids[0]!, 'delivered');
  expect(await runJson('replay', '--failed-since', '2020-01-01', '--account', username)).toEqual({
    replayed: 1,
  });
  await reach(ids[1]!, 'delivered');
  const sent = receiver.received.map(({ headers, body }) => [headers['webhook-id'], body]);
  expect(sent).toHaveLength(4);
  expect(new Set(sent.map(String)).size).toBe(2);
  expect((await runJson('list', '--status', 'dead')).deliveries).toEqual([]);
});

it.each([
  [['show', 'x'], 'There is no delivery x.\n'],
  [
    ['replay', '0197a5b0-0000-7000-8000-000000000000'],
    'There is no delivery 0197a5b0-0000-7000-8000-000000000000.\n',
  ],
  [['replay'], 'Give the id of a delivery, or --failed-since DATE with --account NAME.\n'],
  [['list', '--account', 'nobody'], 'There is no account named nobody.\n'],
])('dragoman delivery refuses the command line %j', async (args, stderr) => {
  expect(await command(...args)).toEqual({ status: 1, stdout: '', stderr });
});
