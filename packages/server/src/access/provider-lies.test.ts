/** Tests what a provider that lies, or that sends unusual claims, can reach: a table of claims and outcomes. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createBrowser, createPerson, startTestServer, type TestServer } from '../testing/harness.ts';
import { createTraveler, type ProviderUser, startProvider, type TestProvider } from '../testing/provider.ts';
import { invitePerson } from './invitations.ts';
import { listPeople, personNamed } from './people.ts';

let server: TestServer;
let provider: TestProvider;
beforeAll(async () => {
  provider = await startProvider();
  server = await startTestServer({
    settings: { ...provider.settings, DRAGOMAN_TRUSTED_PROXIES: '127.0.0.0/8' },
  });
  provider.serve(server.url);
});
afterAll(async () => {
  await server.stop();
  await provider.close();
});

async function restart(changes: Record<string, string> = {}): Promise<void> {
  await server.restart(changes);
  provider.serve(server.url);
}

let visits = 0;
/** Signs in as a user with these claims. @returns the page that the browser shows at the end, and the user */
async function signIn(user: ProviderUser, subject = `subject-${++visits}`, path = '/api/sign-in/provider') {
  provider.users.set(subject, user);
  provider.subject = subject;
  const traveler = createTraveler();
  const headers = { 'x-forwarded-for': `10.9.${++visits}.1`, 'sec-fetch-site': 'same-origin' };
  const reached = await traveler.open(`${server.url}${path}`, undefined, headers);
  const jar = traveler.jars.get(new URL(server.url).origin)!;
  const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ');
  const { body } = await createBrowser(server.url).call('GET', '/api/me', undefined, { cookie });
  const at = `${reached.pathname}${reached.search}`;
  return { at, email: body?.email as string | undefined, role: body?.role as string | undefined };
}
const refused = (why: string) => ({ at: `/app/sign-in?refused=${why}`, email: undefined, role: undefined });
const TRUST = { DRAGOMAN_OIDC_TRUST_EMAILS: 'true' };
const ROLES = {
  DRAGOMAN_OIDC_ROLE_CLAIM: 'groups',
  DRAGOMAN_OIDC_ROLES: 'operators=operator,translators=editor',
};

describe('the address of an active operator finds them', () => {
  it.each<[string, Record<string, unknown>, Record<string, string>, string | undefined]>([
    ['if it is verified', { email_verified: true }, {}, undefined],
    ['if it is verified in words, as by Amazon Cognito', { email_verified: 'true' }, {}, undefined],
    ['not without the claim, as from Entra ID', {}, {}, 'unverified'],
    ['not with another claim about it', { xms_edov: true }, {}, 'unverified'],
    ['not if it is false, as from Authentik', { email_verified: false }, {}, 'unverified'],
    ['not if it is false in words', { email_verified: 'false' }, {}, 'unverified'],
    ['not with a number', { email_verified: 1 }, {}, 'unverified'],
    ['not with a list', { email_verified: [true] }, {}, 'unverified'],
    ['without the claim if the operator vouches for it', {}, TRUST, undefined],
    ['even if it is false, if the operator vouches for it', { email_verified: false }, TRUST, undefined],
    [
      'not if it has another domain, though the operator vouches for it',
      {},
      { ...TRUST, DRAGOMAN_OIDC_DOMAINS: 'corp.test' },
      'domain',
    ],
  ])('%s', async (_, claims, settings, why) => {
    const { email } = await createPerson(server, { role: 'operator' });
    await restart(settings);
    const expected = why === undefined ? { at: '/app/', email, role: 'operator' } : refused(why);
    expect(await signIn({ email, ...claims } as ProviderUser)).toEqual(expected);
  });
});

describe('an address that only looks like that of an operator', () => {
  // The local part of each address normalises to `frank`, `fiona` or `mark` in some normal form or case.
  it.each([
    ['KELVIN SIGN', 'fran\u212a@corp.test', 'frank@corp.test'],
    ['full-width letters', '\uff46\uff52\uff41\uff4e\uff4b@corp.test', 'frank@corp.test'],
    ['a ligature', '\ufb01ona@corp.test', 'fiona@corp.test'],
    ['a long s', 'han\u017f@corp.test', 'hans@corp.test'],
    ['a capital K of mathematics', 'mar\u{1d40a}@corp.test', 'mark@corp.test'],
    ['a letter in a circle', 'mar\u24da@corp.test', 'mark@corp.test'],
  ])('does not find them: %s', async (_, given, email) => {
    const wanted = { email, role: 'operator' } as const;
    await invitePerson(server.database, 'command', { ...wanted, name: 'Owner of the mailbox' });
    for (const settings of [{}, ROLES]) {
      await restart(settings);
      const claims = { email: given, email_verified: true, groups: 'operators' };
      expect(await signIn(claims)).toEqual(refused('not_invited'));
    }
    expect((await personNamed(server.database, email)).status).toBe('invited');
    // A new person does not get the address either, before its owner has it.
    const fresh = given.replace('@', '@fresh.');
    expect(await signIn({ email: fresh, email_verified: true, groups: 'operators' })).toEqual(
      refused('not_invited'),
    );
  });

  it('may have letters of other scripts if no group or link is needed to know the person', async () => {
    await restart(ROLES);
    const named = { email: 'jürgen@corp.test', email_verified: true, groups: 'translators' };
    expect(await signIn(named)).toMatchObject({ email: 'jürgen@corp.test', role: 'editor' });
    await restart();
    const invited = { email: 'zoë@corp.test', role: 'editor' } as const;
    const { token } = await invitePerson(server.database, 'command', invited);
    const claims = { email: 'zoe\u0308@corp.test', email_verified: true };
    expect(await signIn(claims)).toEqual(refused('not_invited'));
    const fromLink = `/api/sign-in/provider?link=${token}`;
    expect(await signIn(claims, undefined, fromLink)).toMatchObject({
      email: 'zoë@corp.test',
      role: 'editor',
    });
  });
});

it.each([
  ['of 256 characters', 'x'.repeat(256)],
  ['of a megabyte', 'x'.repeat(1024 * 1024)],
  ['with NUL', 'sub\u0000ject'],
  ['with letters that are not ASCII', 'sübject'],
])('a subject %s is refused', async (_, subject) => {
  await restart(ROLES);
  const before = (await listPeople(server.database)).length;
  const claims = { email: 'subject@corp.test', email_verified: true, groups: 'operators' };
  expect(await signIn(claims, subject)).toEqual(refused('failed'));
  expect(await listPeople(server.database)).toHaveLength(before);
});

describe('a person who loses the group', () => {
  it('loses their sessions, and cannot use a password', async () => {
    await restart(ROLES);
    const staff = await createPerson(server, { role: 'operator' });
    const claims = { email: staff.email, email_verified: true };
    expect(await signIn({ ...claims, groups: 'operators' }, 'staff')).toMatchObject({ role: 'operator' });
    expect((await staff.call('GET', '/api/console/home')).status).toBe(200);
    const { email, password } = staff;
    const byPassword = () => createBrowser(server.url).call('POST', '/api/session', { email, password });
    // Also while they have the group: only the provider knows whether they still do.
    expect((await byPassword()).status).toBe(401);
    expect(await signIn({ ...claims, groups: 'others' }, 'staff')).toEqual(refused('no_role'));
    expect((await staff.call('GET', '/api/console/home')).status).toBe(401);
    expect((await byPassword()).status).toBe(401);
    // A list names the people who may use a password although the provider knows them.
    await restart({ ...ROLES, DRAGOMAN_PASSWORDS: email });
    expect((await byPassword()).status).toBe(200);
    // Without a claim, groups decide nothing, and the person has the role of the invitation.
    await restart();
    expect((await byPassword()).status).toBe(200);
  });

  it('gets no way around it with a reset link', async () => {
    await restart(ROLES);
    const staff = await createPerson(server, { role: 'operator' });
    const operator = await createPerson(server, { role: 'operator' });
    await signIn({ email: staff.email, email_verified: true, groups: 'operators' }, 'leaver');
    const { body } = await operator.call('POST', `/api/console/people/${staff.userId}/link`);
    const path = `/api/invitations/${body.link.split('/').at(-1)}`;
    const password = 'another password of mine';
    const used = await createBrowser(server.url).call('POST', path, { password });
    expect([used.status, used.body.error.code]).toEqual([403, 'passwords_off']);
    await signIn({ email: staff.email, email_verified: true }, 'leaver');
    expect((await createBrowser(server.url).call('GET', path)).status).toBe(404);
  });
});
