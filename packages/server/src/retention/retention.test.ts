/** How long an account's data is kept, how it is taken out, and how it ends. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Account, accountNamed, setAccount } from '../accounts/accounts.ts';
import { createConnection } from '../database/connections.ts';
import { uuidv7 } from '../ids.ts';
import { verifyLedger } from '../ledger/ledger.ts';
import { claimTask, editNext, HUMAN, orderEdit, pathOf } from '../testing/editors.ts';
import {
  createClient,
  createPerson,
  type Receiver,
  startReceiver,
  startTestServer,
  type TestPerson,
  type TestServer,
  until,
} from '../testing/harness.ts';
import { dragoman, urlOf } from '../testing/programs.ts';
import { endAll, idBefore } from './retention.ts';
import { TABLES } from './tables.ts';

const SECRET = 'canary';
const MACHINE = '/tapi/v2/mt_translation/';
const directory = mkdtempSync(join(tmpdir(), 'dragoman-retention-'));

let server: TestServer;
let receiver: Receiver;
let owner: pg.Client;
let ann: TestPerson;
let operator: TestPerson;
beforeAll(async () => {
  receiver = await startReceiver();
  server = await startTestServer({ settings: { DRAGOMAN_SANDBOX_HOLD: '0' } });
  owner = createConnection(server.connection);
  await owner.connect();
  operator = await createPerson(server, { role: 'operator' });
  ann = await createPerson(server, { role: 'editor', languages: ['en:es'] });
  await owner.query('update users set review_share = 0');
});
afterAll(async () => {
  await owner.end();
  await server.stop();
  await receiver.close();
  rmSync(directory, { recursive: true, force: true });
});

const command = (...args: string[]) =>
  dragoman([...args, '--data', directory], { DATABASE_URL: urlOf(server.connection) });

interface Customer extends Account {
  person: TestPerson;
  call: ReturnType<typeof createClient>;
}

/** Somebody who has a little of everything. */
async function createCustomer(): Promise<Customer> {
  const account = await server.createAccount({
    balanceCents: 1_000,
    chat: true,
    email: `${SECRET}@example.com`,
  });
  const person = await createPerson(server, { role: 'customer', account, name: SECRET });
  const call = createClient(server.url, account.production_key);
  const callback_url = `${receiver.url}/${SECRET}`;
  const uid = await orderEdit(call, `The ${SECRET} is big.\nIt sings.`, {
    callback_url,
    instructions: SECRET,
  });
  const { task, lease } = await claimTask(ann);
  const report = { token: lease.token, reason: 'bad_source', note: `What is a ${SECRET}?` };
  await ann.call('POST', pathOf({ task }, '/report'), report);
  await operator.call('POST', `/api/console/tasks/${task}/release`);
  await editNext(ann);
  await until(async () => (await call('GET', `${HUMAN}${uid}/`)).body.status === 'completed');
  await call('POST', `${HUMAN}${uid}/reject/`, { reason: SECRET });
  await editNext(ann);
  await until(async () => (await call('GET', `${HUMAN}${uid}/`)).body.status === 'completed');
  // Nobody edits that pair.
  await orderEdit(call, `An unfinished ${SECRET}.`, { source_language: 'es', target_language: 'en' });
  await call('POST', MACHINE, {
    uid: SECRET,
    text: SECRET,
    source_language: 'en',
    target_language: 'es',
    callback_url,
  });
  await until(async () => (await call('GET', `${MACHINE}${SECRET}/`)).body.status === 'completed');
  await call('POST', '/v2/chats/messages', {
    chat_external_id: SECRET,
    external_id: SECRET,
    text: `The ${SECRET}.`,
    text_format: 'text',
    source_language: 'en',
    target_language: 'es',
    callback_url,
  });
  const account_ = await accountNamed(server.database, account.username);
  await until(async () => (await rowsOf(account_, 'deliveries', `status = 'delivered'`)) === 4);
  return { ...account_, person, call };
}

async function rowsOf({ ref }: Account, table: string, where = 'true'): Promise<number> {
  const { rows } = await owner.query(
    `select count(*)::integer as n from ${table} where account_id = $1 and (${where})`,
    [ref.accountId],
  );
  return rows[0].n;
}

/** Makes all of an account so many days older, its ids too. */
async function age({ ref }: Account, days: number): Promise<void> {
  const past = `now() - interval '${days} days'`;
  await owner.query(
    `update jobs set finished_at = ${past} where account_id = $1 and finished_at is not null`,
    [ref.accountId],
  );
  await owner.query(`update deliveries set finished_at = ${past} where account_id = $1`, [ref.accountId]);
}

/** What ends when so many days have passed. */
async function later(account: Account, days: number): Promise<void> {
  await age(account, days);
  // Ids tell when they were made: the clock is put forward instead.
  const real = Date.now;
  Date.now = () => real() + days * 86_400_000;
  try {
    await endAll(server.database);
  } finally {
    Date.now = real;
  }
}

describe('the list of tables', () => {
  const read = async () =>
    (
      await owner.query(
        `select table_name as name, array_agg(column_name::text) as columns from information_schema.columns
          where table_schema = 'public' group by 1 having 'account_id' = any(array_agg(column_name::text))`,
      )
    ).rows as { name: string; columns: string[] }[];

  it('has every table that holds something of an account, and columns that there are', async () => {
    const tables = await read();
    // A rule of the operator about whom to ask; it names the account and says nothing of it.
    const expected = tables.map(({ name }) => name).filter((name) => name !== 'routes');
    expect(TABLES.map(({ name }) => name).sort()).toEqual(expected.sort());
    for (const { name, key = {}, hidden = [], text } of TABLES) {
      const { columns } = tables.find((one) => one.name === name)!;
      expect(columns, name).toEqual(
        expect.arrayContaining([...Object.keys(key), ...hidden, ...(text ? [text] : [])]),
      );
    }
  });

  it('hides every column of bytes that is no text: they are hashes and secrets', async () => {
    const { rows } = await owner.query(
      `select table_name as table, column_name as column from information_schema.columns
        where table_schema = 'public' and (data_type = 'bytea' or column_name ~ '_hash$')`,
    );
    for (const { name, key, hidden = [], text } of TABLES) {
      if (key === undefined) continue;
      const bytes = rows.filter((row) => row.table === name).map((row) => row.column);
      expect([...hidden, text], name).toEqual(expect.arrayContaining(bytes));
    }
  });
});

describe('what is kept for a while', () => {
  it('ends with its time, and no sooner; what it cost stays', async () => {
    const customer = await createCustomer();
    const other = await createCustomer();
    const kept = await command(
      'account',
      'keep',
      customer.username,
      '--attempts',
      '30',
      '--events',
      '60',
      '--texts',
      '90',
      '--json',
    );
    expect(JSON.parse(kept.stdout).keep_days).toEqual({ attempts: 30, events: 60, texts: 90 });
    const count = async () => {
      const tables = [
        'attempts',
        'events',
        'deliveries',
        'job_texts',
        'edit_history',
        'comments',
        'jobs',
        'transfers',
        'memory',
      ];
      return Object.fromEntries(
        await Promise.all(tables.map(async (table) => [table, await rowsOf(customer, table)])),
      );
    };
    const before = await count();
    await endAll(server.database);
    expect(await count()).toEqual(before);

    await later(customer, 31);
    expect(await count()).toEqual({ ...before, attempts: 0 });
    await later(customer, 61);
    expect(await count()).toEqual({ ...before, attempts: 0, events: 0, deliveries: 0 });
    expect(await rowsOf(customer, 'task_reports', 'note is not null')).toBe(1);
    await later(customer, 91);
    expect(await rowsOf(customer, 'task_reports', 'note is not null')).toBe(0);
    expect(await rowsOf(customer, 'task_reports')).toBe(1);
    const left = await count();
    // The unfinished one keeps its text.
    expect(left).toEqual({
      ...before,
      attempts: 0,
      events: 0,
      deliveries: 0,
      job_texts: 1,
      edit_history: 0,
      comments: 0,
    });
    const texts = `source::text ~ '${SECRET}'`;
    expect(await rowsOf(customer, 'segments', `${texts} and source::text !~ 'unfinished'`)).toBe(0);
    expect(await rowsOf(customer, 'messages', `body <> '' or translated <> ''`)).toBe(0);
    expect((await customer.call('GET', `${MACHINE}${SECRET}/`)).body).toMatchObject({
      status: 'completed',
      text: '',
    });
    const feed = await customer.call('GET', '/api/v1/events/');
    expect(feed.body.objects).toEqual([]);
    // Nobody else's.
    expect(await rowsOf(other, 'attempts')).toBeGreaterThan(0);
    expect(await rowsOf(other, 'segments', texts)).toBeGreaterThan(0);
    expect((await verifyLedger(server.database)).discrepancies).toEqual([]);
    const wrong = await command('account', 'keep', customer.username, '--texts', '0');
    expect(wrong).toMatchObject({ status: 2, stdout: '' });
    const forever = await command('account', 'keep', customer.username, '--texts', 'forever');
    expect(forever).toMatchObject({
      status: 0,
      stderr: '',
      stdout: expect.stringMatching(/texts +for ever/),
    });
  });

  it('does not end under a customer who rejects the job in that moment', async () => {
    const customer = await createCustomer();
    await owner.query('update accounts set keep_texts_days = 90 where account_id = $1', [
      customer.ref.accountId,
    ]);
    await age(customer, 91);
    const texts = await rowsOf(customer, 'job_texts', `kind = 'source'`);
    await owner.query('begin');
    await owner.query(`update jobs set status = 'rejected' where account_id = $1 and status = 'completed'`, [
      customer.ref.accountId,
    ]);
    await later(customer, 91).finally(() => owner.query('commit'));
    expect(await rowsOf(customer, 'job_texts', `kind = 'source'`)).toBe(texts);
  });

  it('is told by the ids, which are in the order of time', () => {
    const now = Date.now();
    expect(idBefore(0, now + 1) > uuidv7(now)).toBe(true);
    expect(idBefore(1, now + 86_400_000) <= uuidv7(now)).toBe(true);
    expect(idBefore(Number.POSITIVE_INFINITY)).toBe('00000000-0000-0000-0000-000000000000');
  });
});

describe('an account', () => {
  it('is erased though an answer of a chat waits to be corrected', async () => {
    const account = await server.createAccount({ chat: true });
    await setAccount(server.database, account.username, { chatCorrection: true, environment: 'production' });
    const call = createClient(server.url, account.production_key);
    await call('POST', '/v2/chats/messages', {
      chat_external_id: 'talk',
      external_id: 'one',
      text: 'The house.',
      text_format: 'text',
      source_language: 'en',
      target_language: 'es',
    });
    const { ref } = await accountNamed(server.database, account.username);
    const customer = { ...account, ref } as unknown as Customer;
    await until(async () => (await rowsOf(customer, 'tasks')) > 0);
    expect(await command('account', 'erase', account.username, '--yes', '--json')).toMatchObject({
      status: 0,
    });
    expect(await rowsOf(customer, 'tasks')).toBe(0);
    expect(await rowsOf(customer, 'jobs', `status <> 'canceled'`)).toBe(0);
  });

  it('is taken out whole, without its secrets, and erased for good', async () => {
    const customer = await createCustomer();
    const other = await createCustomer();
    const file = join(directory, 'export.jsonl');
    expect(await command('account', 'export', customer.username, file)).toMatchObject({ status: 0 });
    const written = readFileSync(file, 'utf8');
    const lines = written
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as { table: string; row: { account_id: string } });
    expect(new Set(lines.map(({ row }) => row.account_id))).toEqual(new Set([customer.ref.accountId]));
    for (const { name, key } of TABLES) {
      const exported = lines.filter(({ table }) => table === name).length;
      expect(exported, name).toBe(key === undefined ? 0 : await rowsOf(customer, name));
    }
    expect(written).not.toMatch(/secret_hash|"sealed"|password_hash|\\\\x/);
    expect(lines.find(({ table }) => table === 'deliveries')).toMatchObject({
      row: { body: expect.stringContaining(SECRET) },
    });

    const asked = await command('account', 'erase', customer.username);
    expect(asked).toMatchObject({ status: 1, stdout: '' });
    expect(await rowsOf(customer, 'job_texts')).toBeGreaterThan(0);
    const transfers = await rowsOf(customer, 'transfers');
    const erased = await command('account', 'erase', customer.username, '--yes', '--json');
    expect(JSON.parse(erased.stdout)).toMatchObject({ deleted: { keys: 2, users: 1 } });
    for (const { name, erase } of TABLES) {
      if (erase === 'delete') expect(await rowsOf(customer, name), name).toBe(0);
      const { rows } = await owner.query(
        `select to_jsonb(t)::text as row from ${name} t where account_id = $1`,
        [customer.ref.accountId],
      );
      if (name !== 'audit') expect(rows.map(({ row }) => row).join(), name).not.toContain(SECRET);
    }
    // One more: what was held for the unfinished job came back.
    expect(await rowsOf(customer, 'transfers')).toBe(transfers + 1);
    expect(await rowsOf(customer, 'jobs', `status = 'translating'`)).toBe(0);
    expect((await verifyLedger(server.database)).discrepancies).toEqual([]);
    await until(async () => (await customer.call('GET', HUMAN)).status === 401);
    expect((await customer.person.call('GET', '/api/me')).status).toBe(401);
    expect(await command('account', 'export', customer.username, file)).toMatchObject({ status: 1 });
    // Nobody else's, and the name is free.
    expect((await other.call('GET', `${MACHINE}${SECRET}/`)).body.text).toBe(SECRET);
    await server.createAccount({ username: customer.username });
  });
});
