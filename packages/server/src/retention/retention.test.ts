/** Tests the retention, export and erasure of an account. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Account, accountNamed } from '../access/accounts.ts';
import { createPerson as insertPerson, listPeople } from '../access/people.ts';
import { setAccount } from '../accounts/accounts.ts';
import { recordAudit } from '../audit/audit.ts';
import { uuidv7 } from '../base/ids.ts';
import { saveBrand } from '../brands/brands.ts';
import { createConnection } from '../database/connections.ts';
import { claimTask, editNext, HUMAN, orderEdit, pathOf } from '../testing/editors.ts';
import {
  type Answer,
  createBrowser,
  createClient,
  createPerson,
  type Receiver,
  startReceiver,
  startTestServer,
  type TestPerson,
  type TestServer,
  until,
  waitForStatus,
} from '../testing/harness.ts';
import { expectSoundLedger } from '../testing/ledger.ts';
import { dragoman, urlOf } from '../testing/programs.ts';
import { beginErasure, eraseAccount } from './erase.ts';
import { deleteExpired, idBefore } from './retention.ts';
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
  owner = await server.connectOwner();
  operator = await createPerson(server, { role: 'operator' });
  ann = await createPerson(server, { role: 'editor', languages: ['en:es'] });
  await owner.query('update users set review_share = 0');
});
afterAll(async () => {
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

/** Creates an account with rows in every table. */
async function createCustomer(): Promise<Customer> {
  const account = await server.createAccount({
    balanceCents: 1_000,
    chat: true,
    email: `${SECRET}@example.com`,
  });
  const person = await createPerson(server, { role: 'customer', account, name: SECRET });
  const call = createClient(server.url, account.production_key);
  const callback_url = `${receiver.url}/${SECRET}`;
  const endpoint = { url: `${callback_url}/events`, events: ['message.translated'], description: SECRET };
  expect((await call('POST', '/api/v1/webhook-endpoints/', endpoint)).status).toBe(201);
  const uid = await orderEdit(call, `The ${SECRET} is big.\nIt sings.`, {
    callback_url,
    instructions: SECRET,
  });
  const { task, lease } = await claimTask(ann);
  const report = { token: lease.token, reason: 'bad_source', note: `What is a ${SECRET}?` };
  await ann.call('POST', pathOf({ task }, '/report'), report);
  await operator.call('POST', `/api/console/tasks/${task}/release`);
  await editNext(ann);
  await waitForStatus(call, `${HUMAN}${uid}/`);
  await call('POST', `${HUMAN}${uid}/reject/`, { reason: SECRET });
  await editNext(ann);
  await waitForStatus(call, `${HUMAN}${uid}/`);
  // No editor has this language pair, so the job stays unfinished.
  await orderEdit(call, `An unfinished ${SECRET}.`, { source_language: 'es', target_language: 'en' });
  await call('POST', MACHINE, {
    uid: SECRET,
    text: SECRET,
    source_language: 'en',
    target_language: 'es',
    callback_url,
  });
  await waitForStatus(call, `${MACHINE}${SECRET}/`);
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
  await until(async () => (await rowsOf(account_, 'deliveries', `status = 'delivered'`)) === 5);
  return { ...account_, person, call };
}

/**
 * Creates an account whose texts and names all contain `mark`. This includes the texts that operators wrote about the
 * account.
 */
async function createMarked(mark: string): Promise<Customer & { mate: string }> {
  const account = await server.createAccount({ username: `${mark}-account`, chat: true, balanceCents: 500 });
  const { ref, username } = await accountNamed(server.database, account.username);
  const email = `${mark}@example.com`;
  const password = 'a password of theirs';
  const made = { email, name: mark, role: 'customer' as const, account: ref, password };
  const userId = await insertPerson(server.database, 'command', made);
  const { call: browse } = createBrowser(() => server.url);
  await browse('POST', '/api/session', { email, password });
  const person: TestPerson = { userId, email, password, name: mark, account, call: browse };
  const done = async (asked: Promise<Answer>) => {
    const answer = await asked;
    expect(answer.status, answer.text).toBeLessThan(300);
    return answer.body;
  };
  await done(browse('POST', '/api/account/keys', { name: `${mark} key`, environment: 'sandbox' }));
  await done(browse('POST', '/api/account/team', { email: `mate-${mark}@example.com` }));
  const [mate] = (await listPeople(server.database)).filter(
    (one) => one.email === `mate-${mark}@example.com`,
  );
  await done(browse('POST', `/api/account/team/${mate!.user_id}/disable`));
  // Invites a user and then removes the user.
  const gone = `gone-${mark}@example.com`;
  await done(browse('POST', '/api/account/team', { email: gone }));
  await owner.query('delete from users where email = $1', [gone]);
  await owner.query(
    `insert into audit (audit_id, actor, name, action, part, account_id, subject, detail)
     values (gen_random_uuid(), 'person', $1, 'key.revoked', $2, $3, 'k1', '{}')`,
    [gone, ref.part, ref.accountId],
  );
  const who = `/api/console/accounts/${username}`;
  await done(operator.call('POST', `${who}/brands`, { external_id: `${mark}-brand`, name: `${mark} brand` }));
  await done(operator.call('POST', `${who}/brands/${mark}-brand/publish`, { revision: 1, anyway: true }));
  const money = { kind: 'adjustment', environment: 'production', cents: 5, memo: `For ${mark}` };
  await done(operator.call('POST', `${who}/transfers`, money, { 'idempotency-key': mark }));
  const call = createClient(server.url, account.production_key);
  const [languages, callback_url] = [
    { source_language: 'en', target_language: 'es' },
    `${receiver.url}/${mark}`,
  ];
  await done(call('POST', MACHINE, { ...languages, uid: mark, text: `The ${mark} house.`, callback_url }));
  const uid = await orderEdit(call, `The ${mark} one.`, {
    uid: `${mark}-human`,
    callback_url,
    instructions: mark,
  });
  const { rows } = await owner.query('select job_id from jobs where uid = $1', [uid]);
  await done(operator.call('POST', `${who}/jobs/${rows[0].job_id}/cancel`));
  const message = {
    chat_external_id: mark,
    external_id: mark,
    text: mark,
    text_format: 'text',
    callback_url,
  };
  await done(call('POST', '/v2/chats/messages', { ...languages, ...message }));
  return { ...(await accountNamed(server.database, username)), person, call, mate: mate!.user_id };
}

/** Returns every column that contains the mark (a unique word) as `table.column`. */
async function columnsWith(mark: string): Promise<string[]> {
  const { rows: columns } = await owner.query(
    `select table_name, column_name, data_type from information_schema.columns
      where table_schema = 'public' order by 1, 2`,
  );
  const found: string[] = [];
  for (const { table_name: table, column_name: column, data_type: type } of columns) {
    const written = type === 'bytea' ? `encode("${column}", 'escape')` : `"${column}"::text`;
    const { rowCount } = await owner.query(
      `select from "${table}" where strpos(lower(${written}), $1) > 0 limit 1`,
      [mark],
    );
    if (rowCount! > 0) found.push(`${table}.${column}`);
  }
  return found;
}

async function rowsOf({ ref }: Account, table: string, where = 'true'): Promise<number> {
  const { rows } = await owner.query(
    `select count(*)::integer as n from ${table} where account_id = $1 and (${where})`,
    [ref.accountId],
  );
  return rows[0].n;
}

/** Moves the times at which an account's jobs and deliveries finished `days` into the past. */
async function age({ ref }: Account, days: number): Promise<void> {
  const past = `now() - interval '${days} days'`;
  await owner.query(
    `update jobs set finished_at = ${past} where account_id = $1 and finished_at is not null`,
    [ref.accountId],
  );
  await owner.query(`update deliveries set finished_at = ${past} where account_id = $1`, [ref.accountId]);
}

/** Deletes the data of an account that expires within `days`. */
async function later(account: Account, days: number): Promise<void> {
  await age(account, days);
  // An id contains the time of its creation, which cannot be set back. So the deletion gets a later time.
  await deleteExpired(server.database, undefined, Date.now() + days * 86_400_000);
}

describe('the list of tables with customer data', () => {
  const read = async () =>
    (
      await owner.query(
        `select table_name as name, array_agg(column_name::text) as columns from information_schema.columns
          where table_schema = 'public' group by 1 having 'account_id' = any(array_agg(column_name::text))`,
      )
    ).rows as { name: string; columns: string[] }[];

  it('contains every table with data of an account, and only existing columns', async () => {
    const tables = await read();
    // Engine routes are left out: an operator's engine route names the account but has no data of it.
    const expected = tables.map(({ name }) => name).filter((name) => name !== 'engine_routes');
    expect(TABLES.map(({ name }) => name).sort()).toEqual(expected.sort());
    for (const { name, key = {}, hidden = [], text } of TABLES) {
      const { columns } = tables.find((one) => one.name === name)!;
      expect(columns, name).toEqual(
        expect.arrayContaining([...Object.keys(key), ...hidden, ...(text ? [text] : [])]),
      );
    }
  });

  it('deletes claims before what a confirmation under a claim teaches', () => {
    const names = TABLES.map(({ name }) => name);
    expect(names.indexOf('claims')).toBeLessThan(names.indexOf('memory_lessons'));
  });

  it('has a unique key of each exported table, so that no row is lost between two pages', async () => {
    const { rows } = await owner.query(
      `select indrelid::regclass::text as name, array_agg(attname::text) as columns
         from pg_index join pg_attribute on attrelid = indrelid and attnum = any(indkey)
        where indisunique and indpred is null and indexprs is null group by indrelid, indexrelid`,
    );
    for (const { name, key } of TABLES) {
      if (key === undefined) continue;
      const given = ['part', 'account_id', ...Object.keys(key)];
      const indexes = rows.filter((row) => row.name === name) as { columns: string[] }[];
      const isUnique = indexes.some(({ columns }) => columns.every((column) => given.includes(column)));
      expect(isUnique, name).toBe(true);
    }
  });

  it('leaves every binary column that is a hash or a secret out of exports', async () => {
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

describe('a limited retention', () => {
  it('deletes expired data, but neither younger data nor charges', async () => {
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
    const brand = { externalId: 'acme', name: 'Acme', default: undefined, languages: new Map() };
    await saveBrand(server.database, 'command', customer.ref, brand, false);
    await owner.query(
      `insert into term_proposals (part, account_id, proposal_id, external_id, language, job_id, user_id, source, target)
       select part, account_id, gen_random_uuid(), 'acme', 'es', job_id, $2, 'sings', 'canta'
         from jobs where account_id = $1 and tier = 'human' and status = 'completed'`,
      [customer.ref.accountId, ann.userId],
    );
    const count = async () => {
      const tables = [
        'attempts',
        'events',
        'term_proposals',
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
    const join = `jsonb_set(jsonb_set('{"own": {}}', '{own,source}', source), '{last}', position::text::jsonb)`;
    await server.database.query({ name: 'test.join', text: `update segments set joined = ${join}` });
    const before = await count();
    expect(before.term_proposals).toBe(1);
    await deleteExpired(server.database);
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
    // The unfinished job keeps its text.
    expect(left).toEqual({
      ...before,
      attempts: 0,
      events: 0,
      deliveries: 0,
      job_texts: 1,
      edit_history: 0,
      comments: 0,
      term_proposals: 0,
    });
    const texts = `(source::text ~ '${SECRET}' or joined::text ~ '${SECRET}')`;
    expect(await rowsOf(customer, 'segments', `${texts} and source::text !~ 'unfinished'`)).toBe(0);
    expect(await rowsOf(customer, 'messages', `body <> '' or translated <> ''`)).toBe(0);
    expect((await customer.call('GET', `${MACHINE}${SECRET}/`)).body).toMatchObject({
      status: 'completed',
      text: '',
    });
    const feed = await customer.call('GET', '/api/v1/events/');
    expect(feed.body.objects).toEqual([]);
    // The data of other accounts is unchanged.
    expect(await rowsOf(other, 'attempts')).toBeGreaterThan(0);
    expect(await rowsOf(other, 'segments', texts)).toBeGreaterThan(0);
    await expectSoundLedger(server.database);
    const wrong = await command('account', 'keep', customer.username, '--texts', '0');
    expect(wrong).toMatchObject({ status: 2, stdout: '' });
    const forever = await command('account', 'keep', customer.username, '--texts', 'forever');
    expect(forever).toMatchObject({
      status: 0,
      stderr: '',
      stdout: expect.stringMatching(/texts +forever/),
    });
  });

  it('keeps the texts of a job that is rejected at the same time', async () => {
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

  it('selects rows by their ids, which sort by time', () => {
    const now = Date.now();
    expect(idBefore(0, now + 1) > uuidv7(now)).toBe(true);
    expect(idBefore(1, now + 86_400_000) <= uuidv7(now)).toBe(true);
    expect(idBefore(Number.POSITIVE_INFINITY, now)).toBe('00000000-0000-0000-0000-000000000000');
  });
});

describe('an account', () => {
  it('is erased while a chat message awaits its correction', async () => {
    const account = await server.createAccount({ chat: true });
    await setAccount(server.database, 'command', account.username, {
      chatCorrection: true,
      environment: 'production',
    });
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

  it('is exported without secrets, and erased', async () => {
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
    const delivered = `job_id in (select job_id from jobs where status = 'completed')`;
    for (const { name, key, only } of TABLES) {
      const exported = lines.filter(({ table }) => table === name).length;
      const rows = await rowsOf(customer, name, only === 'delivered' ? delivered : undefined);
      expect(exported, name).toBe(key === undefined ? 0 : rows);
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
    // The one further transfer voids the hold of the unfinished job.
    expect(await rowsOf(customer, 'transfers')).toBe(transfers + 1);
    expect(await rowsOf(customer, 'jobs', `status = 'translating'`)).toBe(0);
    await expectSoundLedger(server.database);
    await until(async () => (await customer.call('GET', HUMAN)).status === 401);
    expect((await customer.person.call('GET', '/api/me')).status).toBe(401);
    expect(await command('account', 'export', customer.username, file)).toMatchObject({ status: 1 });
    // The data of other accounts is unchanged, and the erased account's user name is free.
    expect((await other.call('GET', `${MACHINE}${SECRET}/`)).body.text).toBe(SECRET);
    await server.createAccount({ username: customer.username });
  });

  it('leaves no text or name in any table after its erasure, and audit entries keep only user ids', async () => {
    const mark = 'marked';
    const customer = await createMarked(mark);
    const { person, ref, username } = customer;
    expect(await columnsWith(mark)).toEqual(
      expect.arrayContaining([
        'accounts.username',
        'audit.detail',
        'audit.name',
        'audit.subject',
        'brands.name',
        'chats.external_id',
        'jobs.callback_url',
        'job_texts.body',
        'keys.name',
        'transfers.memo',
        'users.email',
        'users.name',
      ]),
    );
    const entries = await rowsOf(customer, 'audit');
    await person.call('POST', '/api/account/erase', { username });
    await until(async () => (await rowsOf(customer, 'accounts', 'erased_at is not null')) === 1);
    expect(await columnsWith(mark)).toEqual([]);
    expect(await rowsOf(customer, 'audit')).toBe(entries + 2);
    const { rows } = await owner.query('select * from audit where account_id = $1', [ref.accountId]);
    const of = (wanted: string) => rows.find(({ action }) => action === wanted);
    expect(of('key.made')).toMatchObject({ name: person.userId, detail: { environment: 'sandbox' } });
    expect(of('account.erasing')).toMatchObject({ name: person.userId, subject: ref.accountId });
    expect(of('account.erased')).toMatchObject({ actor: 'program', subject: ref.accountId });
    expect(of('person.disabled')).toMatchObject({ name: person.userId, subject: customer.mate });
    const subjects = rows.filter(({ action }) => action === 'person.made').map(({ subject }) => subject);
    expect(subjects.sort()).toEqual([person.userId, customer.mate, 'erased'].sort());
    expect(of('money.adjustment')).toMatchObject({
      name: operator.email,
      user_id: operator.userId,
      subject: ref.accountId,
      detail: { environment: 'production', cents: 5 },
    });
    await expectSoundLedger(server.database);
    const { body } = await operator.call('GET', `/api/console/audit?name=${person.userId}`);
    expect(body.entries[0]).toMatchObject({ account: expect.stringMatching(/^erased-/) });
  });

  it('leaves no text in audit entries that operators cause during or right after its erasure', async () => {
    const { username } = await server.createAccount();
    const { ref } = await accountNamed(server.database, username);
    const memo = `${SECRET} of an operator`;
    const entry = { action: 'price.set', account: ref, subject: 'a price', detail: { memo, cents: 5 } };
    const begun = Promise.withResolvers<void>();
    const commit = Promise.withResolvers<void>();
    const operating = server.database.transaction(async (transaction) => {
      await recordAudit(transaction, 'command', entry);
      begun.resolve();
      await commit.promise;
    });
    await begun.promise;
    const erased = beginErasure(server.database, 'command', ref).then(() =>
      eraseAccount(server.database, 'command', ref),
    );
    const waits = `select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`;
    const ended = erased.then(() => true);
    await Promise.race([ended, until(async () => (await owner.query(waits)).rowCount! > 0)]);
    commit.resolve();
    await Promise.all([operating, erased]);
    await server.database.transaction((transaction) => recordAudit(transaction, 'command', entry));
    const prices = `select detail from audit where account_id = $1 and action = 'price.set'`;
    const { rows } = await owner.query(prices, [ref.accountId]);
    expect(rows).toEqual([{ detail: { cents: 5 } }, { detail: { cents: 5 } }]);
  });

  it('cannot be removed from audit entries as long as its erasure is not requested', async () => {
    const { username } = await server.createAccount();
    const { ref } = await accountNamed(server.database, username);
    const client = createConnection({ ...server.connection, options: '-c role=dragoman_app' });
    await client.connect();
    const forget = client.query('select forget_account($1, $2)', [ref.part, ref.accountId]);
    await expect(forget).rejects.toThrow(/is not to be erased/);
    await client.end();
  });
});
