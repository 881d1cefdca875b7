/**
 * Tests requests for sandbox accounts on a running server: the decisions of operators, the links and the
 * mails.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { listAudit } from '../audit/audit.ts';
import {
  createBrowser,
  createClient,
  createPerson,
  startTestServer,
  type TestPerson,
  type TestServer,
  until,
} from '../testing/harness.ts';
import { type Mailbox, startMailbox } from '../testing/mailbox.ts';

let server: TestServer;
let mailbox: Mailbox;
let operator: TestPerson;
beforeAll(async () => {
  mailbox = await startMailbox();
  server = await startTestServer({
    settings: { DRAGOMAN_SANDBOX_REQUESTS: 'operator', DRAGOMAN_TRUSTED_PROXIES: '127.0.0.0/8' },
  });
  operator = await createPerson(server, { role: 'operator' });
});
afterAll(async () => {
  await server.stop();
  await mailbox.close();
});

let asked = 0;
let visitors = 0;
const form = (fields: object = {}) => ({
  name: 'Ada',
  email: `ada-${++asked}@example.com`,
  company: 'Löwe & Co.',
  use: 'To try it.',
  ...fields,
});
/** Sends a request from a new client address. */
const ask = (body: object) =>
  createBrowser(server.url).call('POST', '/api/sandbox-requests', body, {
    'x-forwarded-for': `192.0.2.${++visitors}`,
  });
const list = async (query = '') => (await operator.call('GET', `/api/console/sandbox-requests${query}`)).body;
const decide = (id: string, how: 'grant' | 'refuse') =>
  operator.call('POST', `/api/console/sandbox-requests/${id}/${how}`);
const pathOf = (link: string) => `/api/sandbox-requests/${link.split('/').at(-1)}`;

async function openRequest(): Promise<{ request_id: string; email: string }> {
  const body = form();
  expect((await ask(body)).body).toEqual({ status: 'received' });
  return (await list('?status=open')).requests.find(({ email }: { email: string }) => email === body.email);
}

describe('a request for a sandbox account', () => {
  it('gives a link that shows a sandbox key once, after an operator granted the request', async () => {
    const { request_id: id, email } = await openRequest();
    const granted = await decide(id, 'grant');
    expect(granted.status).toBe(201);
    expect(granted.body).toMatchObject({ mailed: null, request: { status: 'granted', shown_at: null } });
    const { account } = granted.body.request;
    expect(account).toMatch(/^lo-we-co-[0-9a-f]{6}$/);
    const anybody = createBrowser(server.url);
    const path = pathOf(granted.body.link);
    expect((await anybody.call('GET', path)).body).toMatchObject({ name: 'Ada', username: account });
    const shown = await anybody.call('POST', path);
    expect(shown.status).toBe(201);
    const { key, webhook_secret, base_url } = shown.body;
    expect(webhook_secret).toMatch(/^whsec_/);
    expect(base_url).toMatch(/\/sandbox$/);
    const body = { text: 'The house.', source_language: 'en', target_language: 'es' };
    const program = createClient(server.url, key);
    expect((await program('POST', '/sandbox/tapi/v2/translation/', body)).status).toBe(201);
    expect((await program('POST', '/tapi/v2/translation/', body)).status).toBe(401);
    for (const method of ['GET', 'POST']) expect((await anybody.call(method, path)).status).toBe(404);
    const again = await decide(id, 'grant');
    expect([again.status, again.body.error.code]).toEqual([409, 'conflict']);
    const seen = (await list()).requests.find(({ email: of }: { email: string }) => of === email);
    expect(seen.shown_at).not.toBeNull();
    const actions = (await listAudit(server.database, {}, 10)).map(({ action }) => action);
    expect(actions.slice(0, 2)).toEqual(['key.made', 'sandbox.granted']);
  });

  it('gets a new link when it is granted again, and only the latest link shows the key, once', async () => {
    const { request_id: id } = await openRequest();
    const first = await decide(id, 'grant');
    const second = await decide(id, 'grant');
    expect(second.body.request.account).toBe(first.body.request.account);
    const { call } = createBrowser(server.url);
    expect((await call('POST', pathOf(first.body.link))).status).toBe(404);
    const shown = await Promise.all([1, 2, 3].map(() => call('POST', pathOf(second.body.link))));
    expect(shown.map(({ status }) => status).toSorted()).toEqual([201, 404, 404]);
  });

  it('cannot be granted or refused again after an operator refused it', async () => {
    const { request_id: id } = await openRequest();
    expect((await decide(id, 'refuse')).body).toMatchObject({ status: 'refused', account: null });
    expect((await decide(id, 'grant')).status).toBe(409);
    expect((await decide(id, 'refuse')).status).toBe(409);
    expect((await decide('0193a1f0-5d5c-7c1e-8d4e-6f1f5d1f0a11', 'grant')).status).toBe(404);
  });

  it('is stored once, with the same answer, when it is sent twice', async () => {
    const body = form({ company: undefined, use: undefined });
    for (let n = 0; n < 2; n++) expect((await ask(body)).body).toEqual({ status: 'received' });
    const same = (await list('?status=open')).requests.filter(
      ({ email }: { email: string }) => email === body.email,
    );
    expect(same).toHaveLength(1);
  });

  it('names every invalid field', async () => {
    const wrong = form({ name: '', email: 'nobody', company: 7, use: 'x'.repeat(2001) });
    const { status, body } = await ask(wrong);
    expect(status).toBe(400);
    expect(Object.keys(body.error.fields)).toEqual(['name', 'email', 'company', 'use']);
    expect((await ask([])).status).toBe(400);
  });

  it('is limited by client address', async () => {
    const { call } = createBrowser(server.url);
    const here = { 'x-forwarded-for': '198.51.100.1' };
    const statuses: number[] = [];
    for (let n = 0; n < 13; n++) {
      statuses.push((await call('POST', '/api/sandbox-requests', form(), here)).status);
    }
    expect(statuses.slice(0, 5)).toEqual([202, 202, 202, 202, 202]);
    expect(statuses).toContain(429);
  });

  it.each([
    ['an address with a changing port', (n: number) => `198.51.100.2:${n + 1}`],
    ['no address', (n: number) => `unknown-${n}`],
  ])('is limited when a proxy sends %s', async (_, node) => {
    const { call } = createBrowser(server.url);
    const statuses: number[] = [];
    for (let n = 0; n < 13; n++) {
      const from = { 'x-forwarded-for': node(n) };
      statuses.push((await call('POST', '/api/sandbox-requests', form(), from)).status);
    }
    expect(statuses).toContain(429);
  });

  it('is limited by IPv6 networks of /56 and /48', async () => {
    const { call } = createBrowser(server.url);
    const from = async (address: string) =>
      (await call('POST', '/api/sandbox-requests', form(), { 'x-forwarded-for': address })).status;
    // Each request comes from its own /64. A /56 has 20 free attempts and a /48 has 80.
    const statuses: number[] = [];
    // The delays after the free attempts are 1, 3, 7 … s, so the first may have passed on a busy machine.
    for (let n = 0; n < 28; n++)
      statuses.push(await from(`2001:db8:1:10${n.toString(16).padStart(2, '0')}::1`));
    expect(statuses.slice(0, 20)).toEqual(Array(20).fill(202));
    expect(statuses.slice(20)).toContain(429);
    expect(await from('2001:db8:1:2000::1')).toBe(202);
    const wide: number[] = [];
    for (let n = 0; n < 70; n++) wide.push(await from(`2001:db8:2:${(n * 256).toString(16)}::1`));
    expect(new Set(wide)).toEqual(new Set([202]));
    for (let n = 70; n < 84; n++) wide.push(await from(`2001:db8:2:${(n * 256).toString(16)}::1`));
    expect(wide).toContain(429);
    expect(await from('2001:db8:3::1')).toBe(202);
  });

  it.each([
    'Visit https://evil.example/claim now',
    'Claim at evil.example/now',
    'www.evil.example',
    'mail me@evil.example',
    'Ada\u202eatad',
    'Ada\u2066',
    'Ada\u200b',
    '\u200dAda',
    'Ada\nBcc: b@example.com',
    'Ada\u2028b',
    'Ada\u0007',
  ])('is refused when the name of the person is %j', async (name) => {
    const { status, body } = await ask(form({ name }));
    expect([status, Object.keys(body.error.fields)]).toEqual([400, ['name']]);
  });

  it.each([
    'Jean-Luc O’Neill',
    "D'Arcy, Jr.",
    'Müller Ø. Łukasz',
    'محمد‌رضا احمدی',
    'علی\u200cاصغر',
    'क्\u200dष',
    'עדה לאבלייס',
    '山田 太郎',
  ])('is accepted when the name of the person is %j', async (name) => {
    expect((await ask(form({ name }))).status).toBe(202);
  });

  it('is visible to operators only', async () => {
    for (const role of ['customer', 'editor'] as const) {
      const { call } = await createPerson(server, { role });
      expect((await call('GET', '/api/console/sandbox-requests')).status).toBe(404);
    }
  });
});

describe('the program with a mail server', () => {
  it('mails the link of a granted sandbox request and shows it to the operator', async () => {
    await server.restart({ DRAGOMAN_SMTP_URL: mailbox.url, DRAGOMAN_MAIL_FROM: 'D <d@example.com>' });
    const { request_id: id, email } = await openRequest();
    const { body } = await decide(id, 'grant');
    expect(body).toMatchObject({ mailed: true, request: { mailed: 'sent' } });
    const mail = mailbox.received.at(-1)!;
    expect(mail).toMatchObject({ from: 'd@example.com', to: [email] });
    expect(mail.text).toContain(body.link);
    expect(mail.raw).toMatch(/^Auto-Submitted: auto-generated/m);
  });

  it('mails an invitation to its address only, even when the name contains mail headers', async () => {
    const customer = await createPerson(server, { role: 'customer' });
    const name = 'Eve Bcc: all@example, "x" <y@example>';
    const email = 'mate@example.com';
    const hostile = await customer.call('POST', '/api/account/team', {
      email,
      name: `${name}\u2028a/b`,
    });
    expect([hostile.status, Object.keys(hostile.body.error.fields)]).toEqual([400, ['name']]);
    const sent = await customer.call('POST', '/api/account/team', { email, name });
    expect(sent.body.mailed).toBe(true);
    const mail = mailbox.received.at(-1)!;
    expect(mail.to).toEqual([email]);
    expect([sent.body.link, mail.text.includes('/app/invitation/')]).toEqual([null, true]);
    expect(mail.raw.split('\r\n\r\n')[0]).not.toMatch(/all@example|y@example/);
    for (const two of ['a@example.com,b@example.com', 'a@example.com,b', '<a@b.example>']) {
      expect((await customer.call('POST', '/api/account/team', { email: two })).status).toBe(400);
    }
  });

  it('mails the link without showing it when requests are granted at once', async () => {
    await server.restart({ DRAGOMAN_SMTP_URL: mailbox.url, DRAGOMAN_SANDBOX_REQUESTS: 'at-once' });
    const body = form();
    const answers = await Promise.all([ask(body), ask(body)]);
    expect(answers.map((answer) => answer.body)).toEqual([{ status: 'received' }, { status: 'received' }]);
    const granted = async () =>
      (await list('?status=granted')).requests.filter(({ email }: { email: string }) => email === body.email);
    const mails = () => mailbox.received.filter(({ to }) => to[0] === body.email);
    await until(async () => mails().length === 1);
    expect(await granted()).toHaveLength(1);
    // An operator decides on a further account for the same address. The requester gets the same answer as
    // for the first account.
    expect((await ask(body)).body).toEqual({ status: 'received' });
    const waiting = (await list('?status=open')).requests;
    expect(waiting.map(({ email }: { email: string }) => email)).toContain(body.email);
    const [mail] = mails() as [Mailbox['received'][number]];
    const link = /http\S+/.exec(mail.text)![0];
    expect((await createBrowser(server.url).call('POST', pathOf(link))).status).toBe(201);
  });

  it('shows the operator the link and the failure when the mail server refuses a mail', async () => {
    mailbox.refuse();
    await server.restart({ DRAGOMAN_SMTP_URL: mailbox.url });
    const { request_id: id } = await openRequest();
    const { status, body } = await decide(id, 'grant');
    expect(status).toBe(201);
    expect(body).toMatchObject({ mailed: false, request: { mailed: 'failed' } });
    expect((await createBrowser(server.url).call('GET', pathOf(body.link))).status).toBe(200);
  });
});

it('a request for a sandbox account is answered with the link when requests are granted at once without mail', async () => {
  await server.restart({ DRAGOMAN_SANDBOX_REQUESTS: 'at-once' });
  const body = form();
  const answer = await ask(body);
  expect([answer.status, answer.body.status]).toEqual([201, 'granted']);
  expect((await createBrowser(server.url).call('POST', pathOf(answer.body.link))).status).toBe(201);
  // A known address gets the same answer, because nobody has verified that the address belongs to the
  // requester.
  const again = await Promise.all([ask(body), ask(body)]);
  expect(again.map(({ status }) => status)).toEqual([201, 201]);
  const accounts = (await list('?status=granted')).requests.filter(
    ({ email }: { email: string }) => email === body.email,
  );
  expect(new Set(accounts.map(({ account }: { account: string }) => account)).size).toBe(3);
});

it('the routes for sandbox requests answer 404 when requests are turned off', async () => {
  await server.restart({ DRAGOMAN_SANDBOX_REQUESTS: 'off' });
  expect((await ask(form())).status).toBe(404);
  const { body } = await createBrowser(server.url).call('GET', '/api/sandbox-requests');
  expect(body).toEqual({ open: false });
});
