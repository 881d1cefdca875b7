/** Tests the audit: its entries, which users may read it, and that entries cannot be changed. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { accountNamed } from '../access/accounts.ts';
import { createConnection } from '../database/connections.ts';
import { createPerson, startTestServer, type TestPerson, type TestServer } from '../testing/harness.ts';
import { dragoman, urlOf } from '../testing/programs.ts';
import { type Actor, type AuditEntry, listAudit, recordAudit } from './audit.ts';

let server: TestServer;
let operator: TestPerson;
beforeAll(async () => {
  server = await startTestServer();
  operator = await createPerson(server, { role: 'operator' });
});
afterAll(() => server.stop());

const record = (by: Actor, entry: AuditEntry) =>
  server.database.transaction((transaction) => recordAudit(transaction, by, entry));

it('the audit lists entries with actor, subject and account, newest first, in pages', async () => {
  const { username } = await server.createAccount();
  const { ref } = await accountNamed(server.database, username);
  const person = { userId: operator.userId, email: operator.email };
  for (let n = 0; n < 3; n++) {
    await record(person, {
      action: 'key.made',
      account: ref,
      subject: `key-${n}`,
      detail: { n },
    });
  }
  await record('command', { action: 'pair.disabled', subject: 'en>es', detail: {} });
  const path = `/api/console/audit?account=${username}&limit=2`;
  const first = (await operator.call('GET', path)).body;
  expect(first.entries.map((entry: { subject: string }) => entry.subject)).toEqual(['key-2', 'key-1']);
  expect(first.entries[0]).toMatchObject({
    actor: 'person',
    name: operator.email,
    action: 'key.made',
    account: username,
    detail: { n: 2 },
  });
  const second = (await operator.call('GET', `${path}&after=${first.next}`)).body;
  expect(second).toMatchObject({
    entries: [{ subject: 'key-0' }, { action: 'account.created' }],
    next: null,
  });
  const subject = (await operator.call('GET', `${path}&subject=key-1`)).body.entries;
  expect(subject).toMatchObject([{ subject: 'key-1' }]);
  const commands = (await operator.call('GET', '/api/console/audit?action=pair')).body.entries;
  expect(commands).toMatchObject([{ actor: 'command', account: null, subject: 'en>es' }]);
  expect(commands[0].name).not.toBe('');
  expect((await operator.call('GET', '/api/console/audit?after=x')).status).toBe(400);
});

it('the audit contains the changes that commands make to keys, secrets, users and balances', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'dragoman-audit-'));
  const run = async (...args: string[]) => {
    const place = { DATABASE_URL: urlOf(server.connection) };
    const ended = await dragoman([...args, '--json', '--data', directory], place);
    expect(ended.status, ended.stderr).toBe(0);
    return JSON.parse(ended.stdout);
  };
  await run('account', 'create', 'audited', '--balance', '50');
  const { key_id: key } = await run('key', 'create', 'audited', '--environment', 'sandbox');
  const { key_id: rolled } = await run('key', 'roll', 'audited', key);
  await run('key', 'revoke', 'audited', rolled);
  await run('webhook-secret', 'roll', 'audited', '--environment', 'sandbox');
  await run('account', 'top-up', 'audited', '7');
  await run('account', 'set', 'audited', '--prepaid', 'on');
  await run('ledger', 'adjust', 'audited', '3', '--memo', 'a present');
  await run('user', 'invite', 'audited@example.com', '--role', 'customer', '--account', 'audited');
  await run('user', 'disable', 'audited@example.com');
  const { ref } = await accountNamed(server.database, 'audited');
  const entries = await listAudit(server.database, { account: ref }, 50);
  expect(entries.map(({ action }) => action).toReversed()).toEqual([
    'account.created',
    'key.made',
    'key.rolled',
    'key.revoked',
    'webhook_secret.rolled',
    'money.top_up',
    'account.changed',
    'money.adjustment',
    'person.made',
    'person.link',
    'person.disabled',
  ]);
  expect(new Set(entries.map(({ actor }) => actor))).toEqual(new Set(['command']));
  expect(JSON.stringify(entries)).not.toMatch(/dgm_|whsec_/);
  rmSync(directory, { recursive: true, force: true });
});

it('the audit is visible to operators only', async () => {
  for (const role of ['customer', 'editor'] as const) {
    const { call } = await createPerson(server, { role });
    expect((await call('GET', '/api/console/audit')).status).toBe(404);
  }
});

it('the audit replaces the details of an entry by a marker when they are too long', async () => {
  const detail = { changes: Array.from({ length: 5000 }, () => 'changed') };
  await record('program', { action: 'brand.published', subject: 'x', detail });
  const [entry] = await listAudit(server.database, { action: 'brand.published' }, 1);
  expect(entry!.detail).toEqual({ cut: true });
});

it.each(['update audit set name = name', 'delete from audit'])(
  'audit entries cannot be changed by the program’s database role: %s',
  async (sql) => {
    const client = createConnection({ ...server.connection, options: '-c role=dragoman_app' });
    await client.connect();
    await expect(client.query(sql)).rejects.toThrow(/permission denied/);
    await client.end();
  },
);
