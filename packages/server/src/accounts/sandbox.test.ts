/** Asking for a sandbox account, deciding on it, the key that is shown once, and the mail that brings it. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { listAudit } from '../operations/audit.ts';
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
const wish = (fields: object = {}) => ({
  ...{ name: 'Ada', email: `ada-${++asked}@example.com`, company: 'Löwe & Co.', use: 'To try it.' },
  ...fields,
});
/** From an address that nobody has asked from. */
const ask = (body: object) =>
  createBrowser(server.url).call('POST', '/api/sandbox-requests', body, {
    'x-forwarded-for': `192.0.2.${++visitors}`,
  });
const list = async (query = '') => (await operator.call('GET', `/api/console/sandbox-requests${query}`)).body;
const decide = (id: string, how: 'grant' | 'refuse') =>
  operator.call('POST', `/api/console/sandbox-requests/${id}/${how}`);
const pathOf = (link: string) => `/api/sandbox-requests/${link.split('/').at(-1)}`;

/** One that is waiting. */
async function openRequest(): Promise<{ request_id: string; email: string }> {
  const body = wish();
  expect((await ask(body)).body).toEqual({ status: 'received' });
  return (await list('?status=open')).requests.find(({ email }: { email: string }) => email === body.email);
}

describe('a request', () => {
  it('is granted by an operator; its link shows a sandbox key once', async () => {
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

  it('may get another link until its key is seen; the one before opens no more', async () => {
    const { request_id: id } = await openRequest();
    const first = await decide(id, 'grant');
    const second = await decide(id, 'grant');
    expect(second.body.request.account).toBe(first.body.request.account);
    const { call } = createBrowser(server.url);
    expect((await call('POST', pathOf(first.body.link))).status).toBe(404);
    const shown = await Promise.all([1, 2, 3].map(() => call('POST', pathOf(second.body.link))));
    expect(shown.map(({ status }) => status).toSorted()).toEqual([201, 404, 404]);
  });

  it('is refused, and stays so', async () => {
    const { request_id: id } = await openRequest();
    expect((await decide(id, 'refuse')).body).toMatchObject({ status: 'refused', account: null });
    expect((await decide(id, 'grant')).status).toBe(409);
    expect((await decide(id, 'refuse')).status).toBe(409);
    expect((await decide('0193a1f0-5d5c-7c1e-8d4e-6f1f5d1f0a11', 'grant')).status).toBe(404);
  });

  it('that is made twice is one, and whoever asks is told the same', async () => {
    const body = wish({ company: undefined, use: undefined });
    for (let n = 0; n < 2; n++) expect((await ask(body)).body).toEqual({ status: 'received' });
    const same = (await list('?status=open')).requests.filter(
      ({ email }: { email: string }) => email === body.email,
    );
    expect(same).toHaveLength(1);
  });

  it('names every field that is wrong', async () => {
    const wrong = wish({ name: '', email: 'nobody', company: 7, use: 'x'.repeat(2001) });
    const { status, body } = await ask(wrong);
    expect(status).toBe(400);
    expect(Object.keys(body.error.fields)).toEqual(['name', 'email', 'company', 'use']);
    expect((await ask([])).status).toBe(400);
  });

  it('is counted by address', async () => {
    const { call } = createBrowser(server.url);
    const here = { 'x-forwarded-for': '198.51.100.1' };
    const statuses: number[] = [];
    for (let n = 0; n < 13; n++) {
      statuses.push((await call('POST', '/api/sandbox-requests', wish(), here)).status);
    }
    expect(statuses.slice(0, 5)).toEqual([202, 202, 202, 202, 202]);
    expect(statuses).toContain(429);
  });

  it('is decided by operators alone', async () => {
    for (const role of ['customer', 'editor'] as const) {
      const { call } = await createPerson(server, { role });
      expect((await call('GET', '/api/console/sandbox-requests')).status).toBe(404);
    }
  });
});

describe('with mail', () => {
  it('a link is sent, and shown to the operator too', async () => {
    await server.restart({ DRAGOMAN_SMTP_URL: mailbox.url, DRAGOMAN_MAIL_FROM: 'D <d@example.com>' });
    const { request_id: id, email } = await openRequest();
    const { body } = await decide(id, 'grant');
    expect(body).toMatchObject({ mailed: true, request: { mailed: 'sent' } });
    const mail = mailbox.received.at(-1)!;
    expect(mail).toMatchObject({ from: 'd@example.com', to: [email] });
    expect(mail.text).toContain(body.link);
    expect(mail.raw).toMatch(/^Auto-Submitted: auto-generated/m);
  });

  it('an invitation is sent, to nobody else, whatever a name says', async () => {
    const customer = await createPerson(server, { role: 'customer' });
    const name = 'Eve\u2028Bcc: all@example.com, "x" <y@example.com>';
    const email = 'mate@example.com';
    const sent = await customer.call('POST', '/api/account/team', { email, name });
    expect(sent.body.mailed).toBe(true);
    const mail = mailbox.received.at(-1)!;
    expect(mail.to).toEqual([email]);
    expect(mail.text).toContain(sent.body.link);
    expect(mail.raw.split('\r\n\r\n')[0]).not.toMatch(/all@example|y@example/);
    for (const two of ['a@example.com,b@example.com', 'a@example.com,b', '<a@b.example>']) {
      expect((await customer.call('POST', '/api/account/team', { email: two })).status).toBe(400);
    }
  });

  it('at once is by mail alone: whoever asks is not shown the link', async () => {
    await server.restart({ DRAGOMAN_SMTP_URL: mailbox.url, DRAGOMAN_SANDBOX_REQUESTS: 'at-once' });
    const body = wish();
    // Two at once are one.
    const answers = await Promise.all([ask(body), ask(body)]);
    expect(answers.map((answer) => answer.body)).toEqual([{ status: 'received' }, { status: 'received' }]);
    const granted = async () =>
      (await list('?status=granted')).requests.filter(({ email }: { email: string }) => email === body.email);
    const mails = () => mailbox.received.filter(({ to }) => to[0] === body.email);
    await until(async () => mails().length === 1);
    expect(await granted()).toHaveLength(1);
    // Whoever has an account asks an operator for another, and is told the same.
    expect((await ask(body)).body).toEqual({ status: 'received' });
    const waiting = (await list('?status=open')).requests;
    expect(waiting.map(({ email }: { email: string }) => email)).toContain(body.email);
    const [mail] = mails() as [Mailbox['received'][number]];
    const link = /http\S+/.exec(mail.text)![0];
    expect((await createBrowser(server.url).call('POST', pathOf(link))).status).toBe(201);
  });

  it('that is not taken fails nothing; the operator sees it and has the link', async () => {
    mailbox.refuse();
    await server.restart({ DRAGOMAN_SMTP_URL: mailbox.url });
    const { request_id: id } = await openRequest();
    const { status, body } = await decide(id, 'grant');
    expect(status).toBe(201);
    expect(body).toMatchObject({ mailed: false, request: { mailed: 'failed' } });
    expect((await createBrowser(server.url).call('GET', pathOf(body.link))).status).toBe(200);
  });
});

it('at once without mail is answered with the link', async () => {
  await server.restart({ DRAGOMAN_SANDBOX_REQUESTS: 'at-once' });
  const body = wish();
  const answer = await ask(body);
  expect([answer.status, answer.body.status]).toEqual([201, 'granted']);
  expect((await createBrowser(server.url).call('POST', pathOf(answer.body.link))).status).toBe(201);
  // Whether an e-mail is known shows in nothing: nobody has shown that it is theirs.
  const again = await Promise.all([ask(body), ask(body)]);
  expect(again.map(({ status }) => status)).toEqual([201, 201]);
  const accounts = (await list('?status=granted')).requests.filter(
    ({ email }: { email: string }) => email === body.email,
  );
  expect(new Set(accounts.map(({ account }: { account: string }) => account)).size).toBe(3);
});

it('is not there where the settings do not say so', async () => {
  await server.restart({ DRAGOMAN_SANDBOX_REQUESTS: 'off' });
  expect((await ask(wish())).status).toBe(404);
  const { body } = await createBrowser(server.url).call('GET', '/api/sandbox-requests');
  expect(body).toEqual({ open: false });
});
