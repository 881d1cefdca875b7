/** How long a customer's data is kept, all of it in a file, and its end, from the web app. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { accountNamed } from '../accounts/accounts.ts';
import { listAudit } from '../operations/audit.ts';
import {
  createClient,
  createPerson,
  startTestServer,
  type TestPerson,
  type TestServer,
  until,
} from '../testing/harness.ts';
import { readKeeping } from './retention.ts';

const MACHINE = '/tapi/v2/mt_translation/';
const KEEPING = '/api/account/retention';
let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.stop());

interface Team {
  owner: TestPerson;
  member: TestPerson;
  username: string;
  program: ReturnType<typeof createClient>;
}

async function createTeam(): Promise<Team> {
  const account = await server.createAccount();
  const owner = await createPerson(server, { role: 'customer', account });
  const member = await createPerson(server, { role: 'customer', account });
  const program = createClient(server.url, account.production_key);
  return { owner, member, username: account.username, program };
}

const auditOf = async (username: string) => {
  const { ref } = await accountNamed(server.database, username);
  const rows = await listAudit(server.database, { account: ref }, 50);
  return rows.map(({ action, detail }) => [action, detail]);
};

it('is kept as long as an owner says, and each of the team may read how long', async () => {
  const { owner, member, username } = await createTeam();
  const forEver = { attempts: null, events: null, texts: null };
  expect((await member.call('GET', KEEPING)).body).toEqual(forEver);
  const wanted = { attempts: 30, events: null, texts: 365 };
  const refused = await member.call('PUT', KEEPING, wanted);
  expect([refused.status, refused.body.error.code]).toEqual([403, 'owner_only']);
  expect((await member.call('GET', KEEPING)).body).toEqual(forEver);
  expect((await owner.call('PUT', KEEPING, wanted)).body).toEqual(wanted);
  expect((await member.call('GET', KEEPING)).body).toEqual(wanted);
  expect((await auditOf(username))[0]).toEqual(['account.keeping', wanted]);
});

it('names every wrong time, and takes none that is left out', async () => {
  const { owner, username } = await createTeam();
  for (const [wrong, fields] of [
    [{}, ['attempts', 'events', 'texts']],
    [{ attempts: 0, events: 36_501, texts: 'a year' }, ['attempts', 'events', 'texts']],
    [{ attempts: null, events: 1.5 }, ['events', 'texts']],
  ] as const) {
    const { status, body } = await owner.call('PUT', KEEPING, wrong);
    expect([status, Object.keys(body.error.fields).sort()]).toEqual([400, fields]);
  }
  const { ref } = await accountNamed(server.database, username);
  expect(await readKeeping(server.database, ref)).toEqual({ attempts: null, events: null, texts: null });
});

it('is taken out whole by an owner, a line a row, and nobody else’s with it', async () => {
  const { owner, member, username, program } = await createTeam();
  const other = await createTeam();
  const job = { text: 'The house.', source_language: 'en', target_language: 'es' };
  for (const { program: call } of [{ program }, other]) {
    expect((await call('POST', MACHINE, { ...job, uid: 'one' })).status).toBe(201);
  }
  const refused = await member.call('POST', '/api/account/export');
  expect([refused.status, refused.body.error.code]).toEqual([403, 'owner_only']);
  expect((await owner.call('GET', '/api/account/export')).status).toBe(405);
  const { status, headers, text } = await owner.call('POST', '/api/account/export');
  expect(status).toBe(200);
  expect(headers.get('content-type')).toBe('application/x-ndjson; charset=utf-8');
  expect(headers.get('content-disposition')).toBe(`attachment; filename="${username}.jsonl"`);
  const lines = text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  const { ref } = await accountNamed(server.database, username);
  expect(new Set(lines.map(({ row }) => row.account_id))).toEqual(new Set([ref.accountId]));
  expect(lines.filter(({ table }) => table === 'jobs').map(({ row }) => row.uid)).toEqual(['one']);
  expect(text).not.toMatch(/secret_hash|"sealed"|password_hash/);
  expect((await auditOf(username))[0]![0]).toBe('account.exported');
});

it('ends when an owner writes its name: at once for who comes in, then in all that it held', async () => {
  const { owner, member, username, program } = await createTeam();
  const other = await createTeam();
  const { ref } = await accountNamed(server.database, username);
  await program('POST', MACHINE, { text: 'The house.', source_language: 'en', target_language: 'es' });
  const erase = (by: TestPerson, name: unknown) => by.call('POST', '/api/account/erase', { username: name });
  expect((await erase(member, username)).body.error.code).toBe('owner_only');
  for (const wrong of [undefined, other.username, `${username} `.repeat(2)]) {
    expect((await erase(owner, wrong)).body.error.fields).toHaveProperty('username');
  }
  expect((await owner.call('GET', '/api/account')).status).toBe(200);
  expect((await erase(owner, username)).status).toBe(202);
  for (const person of [owner, member]) expect((await person.call('GET', '/api/account')).status).toBe(401);
  await until(async () => (await program('GET', MACHINE)).status === 401);
  await until(async () => {
    const accounts = await server.database
      .transaction((transaction) => accountNamed(transaction, username))
      .catch(() => undefined);
    return accounts === undefined;
  });
  const rows = await listAudit(server.database, { account: ref }, 50);
  expect(rows.some(({ action, name }) => action === 'account.erasing' && name === owner.email)).toBe(true);
  expect((await other.owner.call('GET', '/api/account')).status).toBe(200);
});
