/** The audit: what is written, who reads it, and that nobody changes it. */
import pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { accountNamed } from '../accounts/accounts.ts';
import { createPerson, startTestServer, type TestPerson, type TestServer } from '../testing/harness.ts';
import { listAudit, recordAudit } from './audit.ts';

let server: TestServer;
let operator: TestPerson;
beforeAll(async () => {
  server = await startTestServer();
  operator = await createPerson(server, { role: 'operator' });
});
afterAll(() => server.stop());

it('says who changed what of whom, newest first, page by page', async () => {
  const { username } = await server.createAccount();
  const { ref } = await accountNamed(server.database, username);
  const person = { userId: operator.userId, email: operator.email };
  for (let n = 0; n < 3; n++) {
    await recordAudit(server.database, person, {
      ...{ action: 'key.made', account: ref, subject: `key-${n}`, detail: { n } },
    });
  }
  await recordAudit(server.database, 'command', { action: 'pair.disabled', subject: 'en>es', detail: {} });
  const path = `/api/console/audit?account=${username}&limit=2`;
  const first = (await operator.call('GET', path)).body;
  expect(first.entries.map((entry: { subject: string }) => entry.subject)).toEqual(['key-2', 'key-1']);
  expect(first.entries[0]).toMatchObject({
    ...{ actor: 'person', name: operator.email, action: 'key.made', account: username, detail: { n: 2 } },
  });
  const second = (await operator.call('GET', `${path}&after=${first.next}`)).body;
  expect(second).toMatchObject({ entries: [{ subject: 'key-0' }], next: null });
  const commands = (await operator.call('GET', '/api/console/audit?action=pair')).body.entries;
  expect(commands).toMatchObject([{ actor: 'command', account: null, subject: 'en>es' }]);
  expect(commands[0].name).not.toBe('');
  expect((await operator.call('GET', '/api/console/audit?after=x')).status).toBe(400);
});

it('is for operators alone', async () => {
  for (const role of ['customer', 'editor'] as const) {
    const { call } = await createPerson(server, { role });
    expect((await call('GET', '/api/console/audit')).status).toBe(404);
  }
});

it('keeps no more of a long list than that it was long', async () => {
  const detail = { changes: Array.from({ length: 5000 }, () => 'changed') };
  await recordAudit(server.database, 'program', { action: 'brand.published', subject: 'x', detail });
  const [entry] = await listAudit(server.database, { action: 'brand.published' }, 1);
  expect(entry!.detail).toEqual({ cut: true });
});

it.each(['update audit set name = name', 'delete from audit'])('cannot be changed: %s', async (sql) => {
  const client = new pg.Client({ ...server.connection, options: '-c role=dragoman_app' });
  await client.connect();
  await expect(client.query(sql)).rejects.toThrow(/permission denied/);
  await client.end();
});
