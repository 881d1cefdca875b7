/**
 * Tests users who accepted an invitation whose link a customer saw, on a server without e-mail: nobody has proved that the
 * mailbox is theirs, so an operator's invitation to the address replaces them.
 */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { personNamed } from '../access/people.ts';
import { createBrowser, createPerson, startTestServer, type TestPerson, until } from '../testing/harness.ts';
import { startMailbox } from '../testing/mailbox.ts';

let server: Awaited<ReturnType<typeof startTestServer>>;
let operator: TestPerson;
beforeAll(async () => {
  server = await startTestServer();
  operator = await createPerson(server, { role: 'operator' });
});
afterAll(() => server.stop());

const PASSWORD = 'a password of the inviter';
let squats = 0;

/** A customer invites an address, uses the shown link, and is signed in as that address. */
async function squat(inviter?: TestPerson) {
  const customer = inviter ?? (await createPerson(server, { role: 'customer' }));
  const email = `ceo-${++squats}@gamma.test`;
  const { body } = await customer.call('POST', '/api/account/team', { email });
  const browser = createBrowser(server.url);
  const token = body.link.split('/').at(-1);
  expect((await browser.call('POST', `/api/invitations/${token}`, { password: PASSWORD })).status).toBe(201);
  expect((await personNamed(server.database, email)).unconfirmed).toBe(true);
  const people = async () =>
    (await customer.call('GET', '/api/account/team')).body.objects as { email: string; user_id: string }[];
  return { email, customer, browser, people };
}

const invite = (body: object) => operator.call('POST', '/api/console/people', body);

it.each(['editor', 'operator', 'customer'])(
  'give way when an operator invites the address as %s',
  async (role) => {
    const { email, browser, people } = await squat();
    const account = role === 'customer' ? { account: (await server.createAccount()).username } : {};
    const invited = await invite({ email, role, ...account });
    expect([invited.status, invited.body.person.role]).toEqual([201, role]);
    expect((await browser.call('GET', '/api/session')).status).toBe(401);
    const again = await createBrowser(server.url).call('POST', '/api/session', { email, password: PASSWORD });
    expect(again.status).toBe(401);
    expect((await people()).map((one) => one.email)).not.toContain(email);
    // The new user was invited by an operator, so a further invitation does not replace them.
    const accepted = await createBrowser(server.url).call(
      'POST',
      `/api/invitations/${invited.body.link.split('/').at(-1)}`,
      { password: 'a password of the person' },
    );
    expect([accepted.status, accepted.body.role]).toEqual([201, role]);
    expect((await invite({ email, role: 'editor' })).status).toBe(400);
  },
);

it('give way also when they are disabled, but not to other customers', async () => {
  const { email, customer, people } = await squat();
  const other = await createPerson(server, { role: 'customer' });
  expect((await other.call('POST', '/api/account/team', { email })).status).toBe(400);
  const { user_id: userId } = (await people()).find((one) => one.email === email)!;
  expect((await customer.call('POST', `/api/account/team/${userId}/disable`)).status).toBe(200);
  expect((await other.call('POST', '/api/account/team', { email })).status).toBe(400);
  expect((await invite({ email, role: 'editor' })).status).toBe(201);
});

it('stay when they choose a new password with a link that was mailed to them', async () => {
  const { email } = await squat();
  const mailbox = await startMailbox();
  await server.restart({ DRAGOMAN_SMTP_URL: mailbox.url, DRAGOMAN_MAIL_FROM: 'dragoman@example.com' });
  const { call } = createBrowser(server.url);
  await call('POST', '/api/password-resets', { email });
  const mail = await until(() => mailbox.received.find(({ to }) => to.includes(email)));
  const token = /\/app\/invitation\/(\S+)/.exec(mail.text)![1];
  const chosen = { password: 'a password of the person' };
  expect((await call('POST', `/api/invitations/${token}`, chosen)).status).toBe(201);
  expect((await invite({ email, role: 'editor' })).status).toBe(400);
  await mailbox.close();
});

it('are also those whose invitation was mailed at first and shown to a customer later', async () => {
  const mailbox = await startMailbox();
  await server.restart({ DRAGOMAN_SMTP_URL: mailbox.url, DRAGOMAN_MAIL_FROM: 'dragoman@example.com' });
  const customer = await createPerson(server, { role: 'customer' });
  const email = 'cfo@gamma.test';
  expect((await customer.call('POST', '/api/account/team', { email })).body.link).toBeNull();
  await mailbox.close();
  await server.restart({ DRAGOMAN_SMTP_URL: '' });
  const { user_id: userId } = await personNamed(server.database, email);
  const { body } = await customer.call('POST', `/api/account/team/${userId}/link`);
  expect(body.link).toMatch(/^http/);
  expect((await personNamed(server.database, email)).unconfirmed).toBe(true);
});
