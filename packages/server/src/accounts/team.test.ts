/** What a person leaves behind, and what nobody but an owner may do to another person's sign-in. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { listAudit } from '../operations/audit.ts';
import { createClient, createPerson, startTestServer, type TestServer, until } from '../testing/harness.ts';
import { accountNamed } from './accounts.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.stop());

async function createTeam() {
  const account = await server.createAccount();
  const owner = await createPerson(server, { role: 'customer', account });
  const member = await createPerson(server, { role: 'customer', account });
  return { account, owner, member };
}
const knock = async (key: string) =>
  (await createClient(server.url, key)('GET', '/tapi/v2/translation/')).status;

describe('keys', () => {
  it('show who made them, to customers without the e-mail of an operator', async () => {
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
    'end with their maker where %s wants it, and only theirs',
    async (where) => {
      const { account, owner, member } = await createTeam();
      const operator = await createPerson(server, { role: 'operator' });
      const [by, root] =
        where === 'the team' ? [owner, '/api/account/team'] : [operator, '/api/console/people'];
      const wanted = { name: 'left', environment: 'production' };
      const left = (await member.call('POST', '/api/account/keys', wanted)).body;
      const kept = (await owner.call('POST', '/api/account/keys', wanted)).body;
      expect(await Promise.all([left.key, kept.key].map(knock))).toEqual([200, 200]);
      const disable = async (body?: object) => {
        const { body: answer } = await by.call('POST', `${root}/${member.userId}/disable`, body);
        const people = answer.objects ?? [answer];
        return people.find(({ user_id }: { user_id: string }) => user_id === member.userId);
      };
      expect(await disable()).toMatchObject({
        status: 'disabled',
        keys: [{ key_id: left.key_id, name: 'left', environment: 'production', username: account.username }],
      });
      expect(await knock(left.key)).toBe(200);
      expect(await disable({ revoke_keys: true })).toMatchObject({ status: 'disabled', keys: [] });
      await until(async () => (await knock(left.key)) === 401);
      expect(await Promise.all([kept.key, account.production_key].map(knock))).toEqual([200, 200]);
      const { ref } = await accountNamed(server.database, account.username);
      const entries = await listAudit(server.database, { account: ref }, 20);
      expect(entries.filter(({ action }) => action === 'key.revoked')).toMatchObject([
        { name: by.email, subject: left.key_id },
      ]);
    },
  );
});
