/** Tests of the mails to customers whose documents are finished, with an SMTP server. */
import type pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createConnection } from '../database/connections.ts';
import {
  createClient,
  createPerson,
  startTestServer,
  type TestPerson,
  type TestServer,
  until,
} from '../testing/harness.ts';
import { type Mailbox, startMailbox } from '../testing/mailbox.ts';

const DOCUMENTS = '/api/account/documents';
const WAITING = 'The house is big. [sandbox:wait]';

let server: TestServer;
let mailbox: Mailbox;
let owner: pg.Client;
beforeAll(async () => {
  mailbox = await startMailbox();
  server = await startTestServer({
    settings: { DRAGOMAN_SMTP_URL: mailbox.url, DRAGOMAN_MAIL_FROM: 'dragoman@example.com' },
  });
  owner = createConnection(server.connection);
  await owner.connect();
});
afterAll(async () => {
  await owner.end();
  await server.stop();
  await mailbox.close();
});

const mailsTo = ({ email }: TestPerson) => mailbox.received.filter(({ to }) => to.includes(email));

/** Sends a document in the sandbox. @returns the uid of its job */
async function send(customer: TestPerson, fields: object): Promise<string> {
  const { status, body } = await customer.call('POST', DOCUMENTS, {
    environment: 'sandbox',
    tier: 'human',
    text: WAITING,
    source_language: 'en',
    target_language: 'es',
    ...fields,
  });
  expect([200, 201], JSON.stringify(body)).toContain(status);
  return body.job.uid;
}

const statusOf = async ({ call }: TestPerson, uid: string) =>
  (await call('GET', `/api/account/jobs/${uid}?environment=sandbox`)).body.status;

/** Skips the waiting time of the sandbox until a job is completed. */
async function complete(customer: TestPerson, uid: string): Promise<void> {
  const call = createClient(`${server.url}/sandbox`, customer.account!.sandbox_key);
  await until(async () => {
    await call('POST', '/api/v1/clock/', { seconds: 86_400 });
    return (await statusOf(customer, uid)) === 'completed';
  });
}

it('a customer gets a mail with the name, the languages and a link when a document is finished', async () => {
  const customer = await createPerson(server, { role: 'customer' });
  expect((await customer.call('GET', `${DOCUMENTS}/options`)).body.mails).toBe(true);
  const uid = await send(customer, { name: 'house\r\nBcc: x@example.com.txt', mail: true });
  // The same document without the choice is the same job, and does not take the mail back.
  expect(await send(customer, { name: 'house\r\nBcc: x@example.com.txt' })).toBe(uid);
  const silent = await send(customer, { name: 'silent.txt' });
  await complete(customer, uid);
  await complete(customer, silent);
  const mail = await until(() => mailsTo(customer)[0]);
  expect(mail.raw).toContain('Subject: Your document is finished');
  expect(mail.text).toContain('houseBcc: x@example.com.txt, en to es\n');
  expect(mail.text).toContain(`/app/account/jobs?tier=human&environment=sandbox&open=${uid}`);
  expect(mail.text).not.toMatch(/silent\.txt|big|GRANDE|BIG/);
  expect(mail.to).toEqual([customer.email]);
});

it('one mail names all documents that are finished, but none that was canceled', async () => {
  const customer = await createPerson(server, { role: 'customer' });
  const [done, failed, canceled] = [
    await send(customer, { name: 'done.txt' }),
    await send(customer, { name: 'failed.txt', text: 'The house is big. [sandbox:fail]' }),
    await send(customer, { name: 'canceled.txt' }),
  ];
  await customer.call('POST', `/api/account/jobs/${canceled}/cancel?environment=sandbox`, {});
  await complete(customer, done);
  await until(async () => (await statusOf(customer, failed)) === 'failed');
  expect(await statusOf(customer, canceled)).toBe('canceled');
  // All at once, so that one round finds all.
  await owner.query('update jobs set mail_to = $1 where uid = any($2)', [
    customer.userId,
    [done, failed, canceled],
  ]);
  const mail = await until(() => mailsTo(customer)[0]);
  expect(mail.raw).toContain('Subject: 2 of your documents are finished');
  expect(mail.text).toContain('done.txt, en to es\n');
  expect(mail.text).toContain('failed.txt, en to es: failed\n');
  expect(mail.text).not.toContain('canceled.txt');
  expect(mailsTo(customer)).toHaveLength(1);
});

it('a disabled user gets no mail', async () => {
  const customer = await createPerson(server, { role: 'customer' });
  const operator = await createPerson(server, { role: 'operator' });
  const uid = await send(customer, { name: 'late.txt', mail: true });
  const other = await createPerson(server, { role: 'customer', account: customer.account! });
  await operator.call('POST', `/api/console/people/${customer.userId}/disable`, {});
  await complete(other, uid);
  await until(async () => {
    const { rows } = await owner.query('select from jobs where uid = $1 and mail_to is null', [uid]);
    return rows.length === 1;
  });
  expect(mailsTo(customer)).toEqual([]);
});
