/** Tests of the mails to customers whose documents are finished, with an SMTP server. */
import { createFake } from '@dragoman/engines/fake';
import type pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { accountNamed } from '../../access/accounts.ts';
import { createMailer, forgiveMail, mayMail } from '../../accounts/mail.ts';
import { createLog } from '../../base/log.ts';
import { createConnection } from '../../database/connections.ts';
import { editNext } from '../../testing/editors.ts';
import {
  createPerson,
  startTestServer,
  type TestPerson,
  type TestServer,
  until,
  waitForStatus,
} from '../../testing/harness.ts';
import { type Mailbox, startMailbox } from '../../testing/mailbox.ts';
import { mailFinishedJobs } from './mails.ts';

const DOCUMENTS = '/api/account/documents';

let server: TestServer;
let mailbox: Mailbox;
let owner: pg.Client;
let editor: TestPerson;
beforeAll(async () => {
  mailbox = await startMailbox();
  server = await startTestServer({
    engine: () => createFake(),
    settings: { DRAGOMAN_SMTP_URL: mailbox.url, DRAGOMAN_MAIL_FROM: 'dragoman@example.com' },
  });
  owner = await server.connectOwner();
  editor = await createPerson(server, { role: 'editor', languages: ['en:es'] });
  await owner.query('update users set review_share = 0');
});
afterAll(async () => {
  await server.stop();
  await mailbox.close();
});

const mailsTo = ({ email }: TestPerson) => mailbox.received.filter(({ to }) => to.includes(email));

/** Mails all users whose mail is due, as the workers of the server do every 30 seconds. */
function mailAll(smtpUrl = mailbox.url): Promise<void> {
  const settings = { smtpUrl, mailFrom: 'dragoman@example.com' };
  const mailer = createMailer(settings, createLog('silent'));
  return mailFinishedJobs(server.database, {
    mailer,
    mayMail: (account) => mayMail(server.database, server.store.vault, account),
    forgiveMail: (account) => forgiveMail(server.database, server.store.vault, account),
    root: () => server.url,
  });
}

async function createCustomer(): Promise<TestPerson> {
  const account = await server.createAccount({ balanceCents: 1_000 });
  return createPerson(server, { role: 'customer', account });
}

/** Sends a document. @returns the uid of its job */
async function send(customer: TestPerson, name: string, fields: object = {}): Promise<string> {
  const { status, body } = await customer.call('POST', DOCUMENTS, {
    environment: 'production',
    tier: 'human',
    text: 'The house is big.',
    source_language: 'en',
    target_language: 'es',
    name,
    mail: true,
    ...fields,
  });
  expect([200, 201], JSON.stringify(body)).toContain(status);
  return body.job.uid;
}

/** Edits a document, so that its job is completed. */
async function finish({ call }: TestPerson, uid: string): Promise<void> {
  const text = 'select task_id from tasks join jobs using (part, account_id, job_id) where uid = $1';
  await editNext(editor, await until(async () => (await owner.query(text, [uid])).rows[0]?.task_id));
  const path = `/api/account/jobs/${uid}?environment=production`;
  await waitForStatus(call, path);
}

async function readMail(customer: TestPerson) {
  await mailAll();
  return until(() => mailsTo(customer).at(-1));
}

it('a customer gets a mail with the name, the languages and a link when a document is finished', async () => {
  const customer = await createCustomer();
  const name = 'big\r\nhouse.txt';
  const uid = await send(customer, name);
  // The same document without the choice is the same job, and does not take the mail back.
  expect(await send(customer, name, { mail: false })).toBe(uid);
  const silent = await send(customer, 'silent.txt', { mail: false });
  await finish(customer, uid);
  await finish(customer, silent);
  const mail = await readMail(customer);
  expect(mail.raw).toContain('Subject: Your document is finished');
  expect(mail.text).toContain('\n\nbighouse, en to es\n');
  expect(mail.text).toContain(`/app/account/jobs?tier=human&open=${uid}`);
  expect(mail.text).not.toMatch(/silent|is big|GRANDE|BIG/);
  expect(mail.to).toEqual([customer.email]);
});

it.each([
  'SECURITY ALERT: renew it at https://evil.example/login now.txt',
  'renew at www.evil.example now.txt',
  'evil.example.txt',
  'evil1.example.txt',
  'evil。example.srt',
  'mail help@evil.example.html',
  'evil/example.txt',
  `${'long '.repeat(25)}.txt`,
])('a mail names a document by its uid when the name of its file is %s', async (name) => {
  const customer = await createCustomer();
  const uid = await send(customer, name);
  await finish(customer, uid);
  const mail = await readMail(customer);
  expect(mail.text).toContain(`\n\n${uid}, en to es\n`);
  expect(mail.raw.replaceAll('=\r\n', '')).not.toMatch(/evil|long/);
});

it('mails of an account are counted together, and a mail about documents waits when there were too many', async () => {
  const customer = await createCustomer();
  const { ref } = await accountNamed(server.database, customer.account!.username);
  await finish(customer, await send(customer, 'counted.txt'));
  while (await mayMail(server.database, server.store.vault, ref));
  const refused = await customer.call('POST', '/api/account/team', { email: 'one-too-many@example.com' });
  expect(refused.status).toBe(429);
  await mailAll();
  const other = await createCustomer();
  await finish(other, await send(other, 'of-others.txt'));
  await readMail(other);
  expect(mailsTo(customer)).toEqual([]);
  await owner.query('update sign_ins set closed_until = last_at');
  await owner.query('update jobs set mail_at = now() where mail_to = $1', [customer.userId]);
  expect((await readMail(customer)).text).toContain('counted, en to es');
});

it('a mail that the SMTP server does not take is not counted', async () => {
  const customer = await createCustomer();
  await finish(customer, await send(customer, 'undelivered.txt'));
  const again = 'update jobs set mail_at = now() where mail_to = $1';
  for (let turn = 0; turn < 52; turn++) {
    await mailAll('smtp://127.0.0.1:1');
    await owner.query(again, [customer.userId]);
  }
  const invited = await customer.call('POST', '/api/account/team', { email: 'still-free@example.com' });
  expect(invited.status).toBe(201);
  expect((await readMail(customer)).text).toContain('undelivered, en to es');
});

it('one mail names all documents when the last one is finished, but none that was canceled', async () => {
  const customer = await createCustomer();
  const [first, last, failed, canceled] = [
    await send(customer, 'first.txt'),
    await send(customer, 'last.txt'),
    await send(customer, 'failed.txt'),
    await send(customer, 'canceled.txt'),
  ];
  await finish(customer, first);
  await mailAll();
  expect(mailsTo(customer)).toEqual([]);
  await owner.query(`update jobs set status = 'failed', finished_at = now() where uid = $1`, [failed]);
  await customer.call('POST', `/api/account/jobs/${canceled}/cancel?environment=production`, {});
  await mailAll();
  expect(mailsTo(customer)).toEqual([]);
  await finish(customer, last);
  // Two workers at once send one mail.
  await Promise.all([mailAll(), mailAll()]);
  const mail = await until(() => mailsTo(customer)[0]);
  expect(mail.raw).toContain('Subject: 3 of your documents are finished');
  expect(mail.text).toContain('first, en to es\n');
  expect(mail.text).toContain('last, en to es\n');
  expect(mail.text).toContain('failed, en to es: failed\n');
  expect(mail.text).not.toContain('canceled');
  await mailAll();
  expect(mailsTo(customer)).toHaveLength(1);
});

it('a mail waits until no other transaction locks one of its documents, and the mails of others do not wait', async () => {
  const customer = await createCustomer();
  const [locked, last] = [await send(customer, 'locked.txt'), await send(customer, 'last.txt')];
  await finish(customer, locked);
  const other = await createCustomer();
  const locking = createConnection(server.connection);
  await locking.connect();
  try {
    await locking.query('begin');
    const { rows } = await locking.query('select part from jobs where uid = $1', [locked]);
    await locking.query('select from jobs where part = $1 and uid = $2 for update', [rows[0].part, locked]);
    await finish(customer, last);
    await finish(other, await send(other, 'other.txt'));
    await mailAll();
    expect(mailsTo(customer)).toEqual([]);
    await until(() => mailsTo(other)[0]);
    await locking.query('commit');
  } finally {
    await locking.end();
  }
  const mail = await readMail(customer);
  expect(mail.raw).toContain('Subject: 2 of your documents are finished');
});

it('a mail about finished documents is sent after an hour when others are unfinished', async () => {
  const customer = await createCustomer();
  const [first, second] = [await send(customer, 'first.txt'), await send(customer, 'second.txt')];
  await send(customer, 'open.txt');
  await finish(customer, first);
  await owner.query(
    `update jobs set finished_at = (finished_at at time zone 'utc' - interval '1 hour') at time zone 'utc'
      where uid = $1`,
    [first],
  );
  const mail = await readMail(customer);
  expect(mail.text).toContain('first, en to es');
  expect(mail.text).not.toMatch(/second|open, en/);
  await finish(customer, second);
  await mailAll();
  expect(mailsTo(customer)).toHaveLength(1);
});

it('a mail that the SMTP server refuses is sent later, with the documents that are finished then', async () => {
  const customer = await createCustomer();
  mailbox.refuse();
  await finish(customer, await send(customer, 'refused.txt'));
  await mailAll();
  await finish(customer, await send(customer, 'later.txt'));
  mailbox.refuse(false);
  // The next attempt follows after ten minutes.
  await mailAll();
  expect(mailsTo(customer)).toEqual([]);
  await owner.query('update jobs set mail_at = now() where mail_to = $1', [customer.userId]);
  const mail = await readMail(customer);
  expect(mail.text).toContain('refused, en to es');
  expect(mail.text).toContain('later, en to es');
  await mailAll();
  expect(mailsTo(customer)).toHaveLength(1);
});

it('the sandbox offers and sends no mail', async () => {
  const customer = await createCustomer();
  const mails = async (environment: string) =>
    (await customer.call('GET', `${DOCUMENTS}/options?environment=${environment}`)).body.mails;
  expect([await mails('production'), await mails('sandbox')]).toEqual([true, false]);
  const uid = await send(customer, 'sandbox.txt', { environment: 'sandbox' });
  const { rows } = await owner.query('select mail_to from jobs where uid = $1', [uid]);
  expect(rows).toEqual([{ mail_to: null }]);
});

it('a disabled user gets no mail', async () => {
  const customer = await createCustomer();
  const operator = await createPerson(server, { role: 'operator' });
  const uid = await send(customer, 'late.txt');
  const other = await createPerson(server, { role: 'customer', account: customer.account! });
  await operator.call('POST', `/api/console/people/${customer.userId}/disable`, {});
  await finish(other, uid);
  await mailAll();
  await until(async () => {
    const { rows } = await owner.query('select from jobs where uid = $1 and mail_to is null', [uid]);
    return rows.length === 1;
  });
  expect(mailsTo(customer)).toEqual([]);
});
