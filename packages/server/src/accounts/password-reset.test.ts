/** Tests of forgotten passwords on a running server with an SMTP server. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { invitePerson, linkFor } from '../access/invitations.ts';
import { personNamed } from '../access/people.ts';
import { linkSubject } from '../access/people-store.ts';
import { listAudit } from '../audit/audit.ts';
import { statement } from '../database/statements.ts';
import { createBrowser, createPerson, startTestServer, type TestServer, until } from '../testing/harness.ts';
import { type Mailbox, startMailbox } from '../testing/mailbox.ts';

let server: TestServer;
let mailbox: Mailbox;
beforeAll(async () => {
  mailbox = await startMailbox();
  server = await startTestServer({
    settings: {
      DRAGOMAN_SMTP_URL: mailbox.url,
      DRAGOMAN_MAIL_FROM: 'dragoman@example.com',
      DRAGOMAN_TRUSTED_PROXIES: '127.0.0.0/8',
    },
  });
});
afterAll(async () => {
  await server.stop();
  await mailbox.close();
});

const PASSWORD = 'another password of mine';
let addresses = 0;
const request = (email: string, from = `10.7.${++addresses}.1`) =>
  createBrowser(server.url).call('POST', '/api/password-resets', { email }, { 'x-forwarded-for': from });
const mailsTo = (email: string) => mailbox.received.filter(({ to }) => to.includes(email));
const tokenIn = (text: string) => /\/app\/invitation\/(\S+)/.exec(text)![1]!;
const accept = (token: string) =>
  createBrowser(server.url).call('POST', `/api/invitations/${token}`, { password: PASSWORD });

it('a user who forgot the password gets a link that works once and ends all sessions', async () => {
  const { email, password, call } = await createPerson(server, { role: 'editor' });
  const answer = await request(` ${email.toUpperCase()} `);
  expect([answer.status, answer.body]).toEqual([202, { status: 'received' }]);
  const [mail] = await until(() => (mailsTo(email).length > 0 ? mailsTo(email) : undefined));
  expect(mail!.text).toContain('ignore this e-mail');
  // The old password works until the link is used.
  expect((await call('GET', '/api/session')).status).toBe(200);
  const token = tokenIn(mail!.text);
  expect((await accept(token)).status).toBe(201);
  expect((await call('GET', '/api/session')).status).toBe(401);
  const { call: old } = createBrowser(server.url);
  expect((await old('POST', '/api/session', { email, password })).status).toBe(401);
  expect((await accept(token)).status).toBe(404);
  const notice = await until(() => mailsTo(email).find(({ text }) => text.includes('was changed')));
  expect(notice.text).toContain('with a link that was mailed to you');
  const entries = await listAudit(server.database, {}, 50);
  expect(
    entries.filter(({ subject }) => subject === email).map(({ action, actor }) => [action, actor]),
  ).toEqual([
    ['person.accepted', 'person'],
    ['person.link', 'program'],
    ['person.made', 'command'],
  ]);
});

it('a link for a forgotten password ends after an hour', async () => {
  const { email } = await createPerson(server, { role: 'editor' });
  await request(email);
  const [mail] = await until(() => (mailsTo(email).length > 0 ? mailsTo(email) : undefined));
  const token = tokenIn(mail!.text);
  const { body } = await createBrowser(server.url).call('GET', `/api/invitations/${token}`);
  const minutes = (Date.parse(body.expires_at) - Date.now()) / 60_000;
  expect(minutes).toBeGreaterThan(50);
  expect(minutes).toBeLessThanOrEqual(60);
  const age = statement('test.age_links', 'update invitations set expires_at = now() where used_at is null');
  await server.database.query(age);
  expect((await accept(token)).status).toBe(404);
});

it('a request for a link gets the same answer but no mail for an unknown, invited or disabled user or a user without a password', async () => {
  const operator = await createPerson(server, { role: 'operator' });
  const disabled = await createPerson(server, { role: 'editor' });
  await operator.call('POST', `/api/console/people/${disabled.userId}/disable`, {});
  const { user: invited } = await invitePerson(server.database, 'command', {
    email: 'invited@example.com',
    role: 'editor',
  });
  const { user: linked } = await invitePerson(server.database, 'command', {
    email: 'linked@example.com',
    role: 'editor',
  });
  await linkSubject(server.database, {
    userId: linked.user_id,
    issuer: 'https://id.example.com',
    subject: 'linked',
  });
  const answers = [];
  const silent = [disabled.email, invited.email, linked.email];
  for (const email of ['nobody@example.com', ...silent, operator.email]) {
    const { status, text } = await request(email);
    answers.push([status, text]);
  }
  expect(new Set(answers.map((one) => JSON.stringify(one))).size).toBe(1);
  // Mails are sent in the order of requests. The mail to the operator, the last request, shows that no earlier one
  // follows.
  await until(() => mailsTo(operator.email).length > 0);
  expect(mailbox.received.filter(({ to }) => silent.includes(to[0]!))).toEqual([]);
  const { email: wrong } = (await request('nobody')).body.error.fields;
  expect(wrong).toBe('Must be an e-mail address.');
});

it('a request for a link does not end older links, and a user has at most three valid links', async () => {
  const { email } = await createPerson(server, { role: 'editor' });
  const { token: made } = await linkFor(
    server.database,
    'command',
    await personNamed(server.database, email),
  );
  await request(email);
  await until(() => mailsTo(email).length === 1);
  await request(email);
  await until(() => mailsTo(email).length === 2);
  await request(email);
  // Mails are sent in the order of requests. The mail to the other user shows that no third mail follows for this user.
  const other = await createPerson(server, { role: 'editor' });
  await request(other.email);
  await until(() => mailsTo(other.email).length > 0);
  expect(mailsTo(email)).toHaveLength(2);
  const tokens = [made, ...mailsTo(email).map(({ text }) => tokenIn(text))];
  const statusOf = async (token: string) =>
    (await createBrowser(server.url).call('GET', `/api/invitations/${token}`)).status;
  expect(await Promise.all(tokens.map(statusOf))).toEqual([200, 200, 200]);
  // All other links of a user end when they use one of them, and when a person creates a link for them.
  expect((await accept(tokens[1]!)).status).toBe(201);
  expect(await Promise.all(tokens.map(statusOf))).toEqual([404, 404, 404]);
  await request(other.email);
  await until(() => mailsTo(other.email).length === 2);
  await linkFor(server.database, 'command', await personNamed(server.database, other.email));
  const [mail] = mailsTo(other.email);
  expect(await statusOf(tokenIn(mail!.text))).toBe(404);
});

/** Sends requests until one is refused. @returns the number of requests that were accepted */
async function acceptedOf(send: (n: number) => ReturnType<typeof request>): Promise<number> {
  for (let n = 0; ; n++) {
    const { status } = await send(n);
    if (status === 429) return n;
    expect(status).toBe(202);
  }
}

it('requests for links are limited for each e-mail address, known or not, and for each network', async () => {
  const { email } = await createPerson(server, { role: 'editor' });
  for (const one of [email, 'not-there@example.com']) {
    expect(await acceptedOf(() => request(one))).toBeGreaterThanOrEqual(4);
  }
  const send = (n: number) => request(`person-${n}@example.com`, '10.99.0.1');
  expect(await acceptedOf(send)).toBeGreaterThanOrEqual(11);
});

it.each([
  ['an address with a changing port', (n: number) => `198.51.100.9:${n + 1}`],
  ['no address', (n: number) => `_hidden${n}`],
])('requests for links are limited when a proxy sends %s', async (name, node) => {
  const statuses: number[] = [];
  for (let n = 0; n < 15; n++) {
    statuses.push((await request(`${name.replaceAll(' ', '-')}-${n}@example.com`, node(n))).status);
  }
  expect(statuses).toContain(429);
});

it('a request for a link gets 404 when no mail server is configured, and the sign-in options report this', async () => {
  const options = async () => (await createBrowser(server.url).call('GET', '/api/sign-in-options')).body;
  expect(await options()).toMatchObject({ reset_by_mail: true });
  await server.restart({ DRAGOMAN_SMTP_URL: '' });
  expect(await options()).toMatchObject({ reset_by_mail: false });
  expect((await request('nobody@example.com')).status).toBe(404);
});
