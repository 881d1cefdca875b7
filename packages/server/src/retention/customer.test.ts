/** Tests the customer's routes for retention, export and erasure. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { accountNamed } from '../access/accounts.ts';
import { listAudit } from '../audit/audit.ts';
import { createConnection } from '../database/connections.ts';
import { claimJob, confirm, HUMAN, orderEdit, pathOf } from '../testing/editors.ts';
import {
  createClient,
  createPerson,
  startTestServer,
  type TestPerson,
  type TestServer,
  until,
} from '../testing/harness.ts';
import { readRetention } from './retention.ts';

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

it('owners can set the retention, and all users of the account can read it', async () => {
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

it('setting the retention answers 401 when an erasure deletes the user during the request', async () => {
  const { owner } = await createTeam();
  const eraser = createConnection(server.connection);
  const observer = createConnection(server.connection);
  await Promise.all([eraser.connect(), observer.connect()]);
  await eraser.query('begin');
  await eraser.query('delete from users where user_id = $1', [owner.userId]);
  const answer = owner.call('PUT', KEEPING, { attempts: 30, events: null, texts: null });
  const waits = `select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`;
  await until(async () => (await observer.query(waits)).rowCount! > 0);
  await eraser.query('commit');
  expect((await answer).status).toBe(401);
  await Promise.all([eraser.end(), observer.end()]);
});

it('setting the retention is refused when periods are invalid or missing, and the error names each of them', async () => {
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
  expect(await readRetention(server.database, ref)).toEqual({ attempts: null, events: null, texts: null });
});

it('an export for an owner contains all rows of the account and no rows of other accounts', async () => {
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

it('an export contains no text of an editor for a job that is not delivered, and no result before its delivery', async () => {
  const account = await server.createAccount({ balanceCents: 1_000 });
  const owner = await createPerson(server, { role: 'customer', account });
  const editor = await createPerson(server, { role: 'editor', languages: ['en:es'] });
  const program = createClient(server.url, account.production_key);
  const statusOf = async (path: string) => (await program('GET', path)).body.status;
  /** Has the editor confirm the text of a job. */
  async function write(uid: string, text: string) {
    const task = await claimJob(editor, uid);
    const saved = await confirm(editor, task, task.segments[0], { target: [{ text }] });
    expect(saved.status, saved.text).toBe(200);
    return task;
  }
  const done = await orderEdit(program, 'The house is big.');
  const task = await write(done, 'La casa entregada.');
  expect((await editor.call('POST', pathOf(task, '/submit'), { token: task.lease.token })).status).toBe(200);
  await until(async () => (await statusOf(`${HUMAN}${done}/`)) === 'completed');

  const upgraded = `${MACHINE}upgraded/`;
  const languages = { source_language: 'en', target_language: 'es' };
  await program('POST', MACHINE, { uid: 'upgraded', text: 'The garden is big.', ...languages });
  await until(async () => (await statusOf(upgraded)) === 'completed');
  expect((await program('PATCH', upgraded, { status: 'upgrade', properties: null })).status).toBe(202);
  await until(async () => (await statusOf(`${HUMAN}upgraded/`)) === 'translating');
  const canceled = await write('upgraded', 'Un texto sin pagar.');
  expect((await program('DELETE', `${HUMAN}upgraded/`)).status).toBe(200);
  expect(canceled.job.uid).toBe('upgraded');

  await write(await orderEdit(program, 'The street is big.'), 'Otro texto sin pagar.');

  // The sandbox stores the result of a job before its delivery delay ends.
  const sandbox = createClient(`${server.url}/sandbox`, account.sandbox_key);
  expect((await sandbox('POST', HUMAN, { text: 'The sea is big.', ...languages })).status).toBe(201);
  const results = `select from job_texts where kind = 'result' and body = 'THE SEA IS BIG.'`;
  await until(
    async () => (await server.database.query({ name: 'test.results', text: results })).length === 1,
  );

  const { text } = await owner.call('POST', '/api/account/export');
  expect(text).toContain('La casa entregada.');
  expect(text).not.toContain('sin pagar');
  expect(text).toContain('The sea is big.');
  expect(text).not.toContain('THE SEA IS BIG.');
});

it('an erasure ends all access to the account when an owner confirms it, and then deletes the data', async () => {
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
  const operator = await createPerson(server, { role: 'operator' });
  // Operators cannot create a key for the account during the erasure. The end of this test checks that they cannot do
  // so after the erasure either.
  const makeKey = async (name: string) =>
    (
      await operator.call('POST', `/api/console/accounts/${name}/keys`, {
        name: 'late',
        environment: 'sandbox',
      })
    ).status;
  expect([404, 409]).toContain(await makeKey(username));
  const begin = (name: string) =>
    operator.call('POST', `/api/console/accounts/${name}/brands`, { external_id: 'late' });
  const invite = (name: string) =>
    operator.call('POST', '/api/console/people', {
      email: 'late@example.com',
      role: 'customer',
      account: name,
    });
  for (const person of [owner, member]) expect((await person.call('GET', '/api/account')).status).toBe(401);
  await until(async () => (await program('GET', MACHINE)).status === 401);
  await until(async () => {
    const accounts = await server.database
      .transaction((transaction) => accountNamed(transaction, username))
      .catch(() => undefined);
    return accounts === undefined;
  });
  const erased = `erased-${ref.accountId.slice(-12)}`;
  expect(await makeKey(erased)).toBe(409);
  expect([(await begin(erased)).status, (await invite(erased)).status]).toEqual([409, 409]);
  const rows = await listAudit(server.database, { account: ref }, 50);
  expect(rows.some(({ action, name }) => action === 'account.erasing' && name === owner.userId)).toBe(true);
  expect((await other.owner.call('GET', '/api/account')).status).toBe(200);
});
