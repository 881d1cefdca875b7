/** Tests the team of an account: API keys that its users created, reset links and pending invitations. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { accountNamed } from '../access/accounts.ts';
import { listAudit } from '../audit/audit.ts';
import { statement } from '../database/statements.ts';
import {
  createBrowser,
  createClient,
  createPerson,
  startTestServer,
  type TestServer,
  until,
} from '../testing/harness.ts';
import { type Mailbox, startMailbox } from '../testing/mailbox.ts';

let server: TestServer;
let mailbox: Mailbox;
beforeAll(async () => {
  mailbox = await startMailbox();
  server = await startTestServer({
    settings: { DRAGOMAN_SMTP_URL: mailbox.url, DRAGOMAN_MAIL_FROM: 'dragoman@example.com' },
  });
});
afterAll(async () => {
  await server.stop();
  await mailbox.close();
});

async function createTeam() {
  const account = await server.createAccount();
  const owner = await createPerson(server, { role: 'customer', account });
  const member = await createPerson(server, { role: 'customer', account });
  return { account, owner, member };
}
const statusWith = async (key: string) =>
  (await createClient(server.url, key)('GET', '/tapi/v2/translation/')).status;

describe('API keys', () => {
  it('show who created them, but never an operator’s e-mail address to customers', async () => {
    const { account, owner, member } = await createTeam();
    const operator = await createPerson(server, { role: 'operator' });
    const wanted = { name: 'of the member', environment: 'production' };
    const made = (await member.call('POST', '/api/account/keys', wanted)).body;
    const rolled = await owner.call('POST', `/api/account/keys/${made.key_id}/roll`, { overlap: '1h' });
    expect(rolled.status).toBe(201);
    const path = `/api/console/accounts/${account.username}`;
    await operator.call('POST', `${path}/keys`, { ...wanted, name: 'of the operator' });
    const makers = (keys: { name: string; made_by: string | null }[]) =>
      keys.map(({ name, made_by }) => [name, made_by]);
    expect(makers((await owner.call('GET', '/api/account/keys')).body.objects).slice(2)).toEqual([
      ['of the member', member.email],
      ['of the member', owner.email],
      ['of the operator', null],
    ]);
    expect(makers((await operator.call('GET', path)).body.keys).slice(2)).toEqual([
      ['of the member', member.email],
      ['of the member', owner.email],
      ['of the operator', operator.email],
    ]);
  });

  it.each(['the team', 'the console'])(
    'are revoked when %s disables their creator and requests their revocation',
    async (where) => {
      const { account, owner, member } = await createTeam();
      const operator = await createPerson(server, { role: 'operator' });
      const [by, root] =
        where === 'the team' ? [owner, '/api/account/team'] : [operator, '/api/console/people'];
      const wanted = { name: 'left', environment: 'production' };
      const left = (await member.call('POST', '/api/account/keys', wanted)).body;
      const kept = (await owner.call('POST', '/api/account/keys', wanted)).body;
      expect(await Promise.all([left.key, kept.key].map(statusWith))).toEqual([200, 200]);
      const disable = async (body?: object) => {
        const { body: answer } = await by.call('POST', `${root}/${member.userId}/disable`, body);
        const people = answer.objects ?? [answer];
        return people.find(({ user_id }: { user_id: string }) => user_id === member.userId);
      };
      expect(await disable()).toMatchObject({
        status: 'disabled',
        keys: [{ key_id: left.key_id, name: 'left', environment: 'production', username: account.username }],
      });
      expect(await statusWith(left.key)).toBe(200);
      expect(await disable({ revoke_keys: true })).toMatchObject({ status: 'disabled', keys: [] });
      await until(async () => (await statusWith(left.key)) === 401);
      expect(await Promise.all([kept.key, account.production_key].map(statusWith))).toEqual([200, 200]);
      const { ref } = await accountNamed(server.database, account.username);
      const entries = await listAudit(server.database, { account: ref }, 20);
      expect(entries.filter(({ action }) => action === 'key.revoked')).toMatchObject([
        { name: by.email, subject: left.key_id },
      ]);
    },
  );
});

describe('a reset link', () => {
  it('is created by owners only and mailed without being shown, and its user is notified when it was used', async () => {
    const { account, owner, member } = await createTeam();
    const colleague = await createPerson(server, { role: 'customer', account });
    const path = `/api/account/team/${colleague.userId}/link`;
    const refused = await member.call('POST', path);
    expect([refused.status, refused.body.error.code]).toEqual([403, 'owner_only']);
    const sent = await owner.call('POST', path);
    expect([sent.status, sent.body.mailed, sent.body.link]).toEqual([201, true, null]);
    const mail = await until(() => mailbox.received.find(({ to }) => to.includes(colleague.email)));
    expect(mail.text).toContain(owner.email);
    const token = /\/app\/invitation\/(\S+)/.exec(mail.text)![1];
    const used = await createBrowser(server.url).call('POST', `/api/invitations/${token}`, {
      password: 'a password of mine',
    });
    expect(used.status).toBe(201);
    const notice = await until(() =>
      mailbox.received.find(({ to, text }) => to.includes(colleague.email) && text.includes('was changed')),
    );
    expect(notice.text).toContain(owner.email);
  });
});

describe('an invitation', () => {
  it('is mailed, and its link is shown to neither customers nor operators', async () => {
    const { account, member } = await createTeam();
    const operator = await createPerson(server, { role: 'operator' });
    const [mine, theirs] = [`mine-${member.email}`, `theirs-${member.email}`];
    const sent = await member.call('POST', '/api/account/team', { email: mine });
    expect([sent.status, sent.body.mailed, sent.body.link]).toEqual([201, true, null]);
    const wanted = { email: theirs, role: 'customer', account: account.username };
    const made = await operator.call('POST', '/api/console/people', wanted);
    expect([made.status, made.body.mailed, made.body.link]).toEqual([201, true, null]);
    for (const email of [mine, theirs]) {
      const mail = await until(() => mailbox.received.find(({ to }) => to.includes(email)));
      const token = /\/app\/invitation\/(\S+)/.exec(mail.text)![1];
      const path = `/api/invitations/${token}`;
      const password = 'a password of mine';
      expect((await createBrowser(server.url).call('POST', path, { password })).status).toBe(201);
      // The mailbox is proved, so no invitation replaces the user.
      const again = await operator.call('POST', '/api/console/people', { email, role: 'editor' });
      expect(again.status).toBe(400);
    }
  });

  it('is shown to operators alone when the mail server refuses the mail', async () => {
    const { owner, member } = await createTeam();
    const operator = await createPerson(server, { role: 'operator' });
    mailbox.refuse();
    const email = `refused-${member.email}`;
    const sent = await member.call('POST', '/api/account/team', { email });
    expect([sent.status, sent.body.mailed, sent.body.link]).toEqual([201, false, null]);
    const reset = await owner.call('POST', `/api/account/team/${member.userId}/link`);
    expect([reset.status, reset.body.mailed, reset.body.link]).toEqual([201, false, null]);
    const made = await operator.call('POST', '/api/console/people', { email, role: 'editor' });
    mailbox.refuse(false);
    expect([made.status, made.body.mailed]).toEqual([201, false]);
    expect(made.body.link).toMatch(/\/app\/invitation\//);
  });
});

describe('a pending invitation', () => {
  const AGE = statement(
    'test.end_invitations',
    `update invitations set expires_at = now() where user_id = (select user_id from users where email = $1)`,
  );

  it('reserves its e-mail address against other teams until it expires, but not against operators', async () => {
    const [one, other] = [await createTeam(), await createTeam()];
    const operator = await createPerson(server, { role: 'operator' });
    const email = `wanted-${one.owner.email}`;
    const invite = (by: typeof one.owner) => by.call('POST', '/api/account/team', { email });
    expect((await invite(one.owner)).status).toBe(201);
    expect((await invite(other.owner)).status).toBe(400);
    await server.database.query(AGE, [email]);
    expect((await invite(other.owner)).status).toBe(201);
    expect((await invite(one.owner)).status).toBe(400);
    const wanted = { email, role: 'customer', account: one.account.username };
    const taken = await operator.call('POST', '/api/console/people', wanted);
    expect([taken.status, taken.body.person.account]).toEqual([201, one.account.username]);
    const emails = async (by: typeof one.owner) =>
      (await by.call('GET', '/api/account/team')).body.objects.map((row: { email: string }) => row.email);
    expect(await emails(one.owner)).toContain(email);
    expect(await emails(other.owner)).not.toContain(email);
    const present = await operator.call('POST', '/api/console/people', { ...wanted, email: one.owner.email });
    expect(present.status).toBe(400);
  });
});

it('changing a user is refused when the request has unknown or unchangeable fields', async () => {
  const operator = await createPerson(server, { role: 'operator' });
  const { member } = await createTeam();
  const path = `/api/console/people/${member.userId}`;
  const { status, body } = await operator.call('PATCH', path, { email: 'x@example.com', account: 'y' });
  expect([status, Object.keys(body.error.fields)]).toEqual([400, ['email', 'account']]);
});
