/** Tests of sign-in with an OpenID Connect provider, on a running server with a running provider. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { listAudit } from '../audit/audit.ts';
import { loadSettings } from '../settings/settings.ts';
import { createBrowser, createPerson, startTestServer, type TestServer } from '../testing/harness.ts';
import { createTraveler, type ProviderUser, startProvider, type TestProvider } from '../testing/provider.ts';
import { setUpSecondFactor } from '../testing/second-factor.ts';
import { accountNamed } from './accounts.ts';
import { invitePerson, linkFor } from './invitations.ts';
import { listPeople, personNamed, setDisabled } from './people.ts';
import { endInvitations as endLinks } from './people-store.ts';
import { createSignInProvider } from './provider.ts';
import { unlinkUser } from './provider-people.ts';

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
beforeEach(() => {
  provider.failWith(undefined);
  provider.lagSeconds = 0;
});

async function restart(changes: Record<string, string> = {}): Promise<void> {
  await server.restart(changes);
  provider.serve(server.url);
}

let made = 0;
function addUser(fields: ProviderUser = {}): { subject: string; email: string } {
  const subject = `subject-${++made}`;
  const email = fields.email ?? `person-${made}@example.com`;
  provider.users.set(subject, { email, email_verified: true, name: `Person of ${subject}`, ...fields });
  return { subject, email };
}
const START = '/api/sign-in/provider';

let addresses = 0;
/**
 * Signs in with the provider in a new browser with its own address. @returns the page that the browser shows at the end
 */
async function visit(
  subject: string | undefined,
  path = START,
  headers: Record<string, string> = { 'sec-fetch-site': 'same-origin' },
) {
  provider.subject = subject;
  const traveler = createTraveler();
  const own = { 'x-forwarded-for': `10.8.${++addresses}.1`, ...headers };
  const reached = await traveler.open(`${server.url}${path}`, undefined, own);
  const cookies = traveler.jars.get(new URL(server.url).origin)!;
  const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  const me = () => createBrowser(server.url).call('GET', '/api/me', undefined, { cookie });
  return { at: `${reached.pathname}${reached.search}`, cookie, me };
}
/** Returns the address of the sign-in button on the page of an invitation or reset link. */
const fromLink = (token: string) => `${START}?${new URLSearchParams({ link: token })}`;
const refusal = (why: string) => `/app/sign-in?refused=${why}`;
const invite = (email: string, role: 'editor' | 'operator' = 'editor') =>
  invitePerson(server.database, 'command', { email, role });

describe('an invited person', () => {
  it('signs in by the verified e-mail address once, and then by issuer and subject alone', async () => {
    const { subject, email } = addUser();
    const { token } = await invite(email);
    const first = await visit(subject);
    expect(first.at).toBe('/app/');
    const { body } = await first.me();
    expect(body).toMatchObject({ email, role: 'editor', has_password: false });
    expect(body.session.by_provider).toBe(true);
    expect((await personNamed(server.database, email)).status).toBe('active');
    // The invitation cannot be used again.
    const { call } = createBrowser(server.url);
    expect((await call('GET', `/api/invitations/${token}`)).status).toBe(404);
    // After the first sign-in, a changed or unverified e-mail address does not change who signs in.
    provider.users.set(subject, { email: 'married@example.com', email_verified: false });
    expect((await (await visit(subject)).me()).body.email).toBe(email);
    const entries = await listAudit(server.database, {}, 20);
    const about = entries.filter((entry) => entry.subject === email).map(({ action }) => action);
    expect(about).toEqual(['person.linked', 'person.link', 'person.made']);
  });

  it('of an account signs in as its customer, but only from the page of the invitation', async () => {
    const { username } = await server.createAccount();
    const { ref } = await accountNamed(server.database, username);
    const { subject, email } = addUser();
    const wanted = { email, role: 'customer', account: ref } as const;
    const { token } = await invitePerson(server.database, 'command', wanted);
    expect((await visit(subject)).at).toBe(refusal('not_invited'));
    // These requests for the address of the sign-in button do not come from a page of the server.
    const foreign: Record<string, string>[] = ['cross-site', 'same-site', 'none'].map((site) => ({
      'sec-fetch-site': site,
      referer: server.url,
    }));
    foreign.push({}, { referer: 'http://elsewhere.test/' }, { referer: 'x' });
    for (const headers of foreign) {
      const sent = await visit(subject, fromLink(token), headers);
      expect(sent.at).toBe(refusal('not_invited'));
    }
    // The link must be the user's own: a link of another user is refused.
    const { token: other } = await invite(addUser().email);
    expect((await visit(subject, fromLink(other))).at).toBe(refusal('not_invited'));
    const accepted = await visit(subject, fromLink(token), { referer: `${server.url}/` });
    expect((await accepted.me()).body).toMatchObject({ role: 'customer', account: username, owner: true });
    expect((await visit(subject)).at).toBe('/app/');
  });

  it('does not join the account of a stranger who invited their e-mail address or registered it', async () => {
    const stranger = await createPerson(server, { role: 'customer' });
    const { subject, email } = addUser();
    const { body } = await stranger.call('POST', '/api/account/team', { email });
    expect((await visit(subject)).at).toBe(refusal('not_invited'));
    // The page showed the link to the stranger, who now uses it and becomes an active user with this address.
    const token = /\/app\/invitation\/(\S+)/.exec(body.link)![1]!;
    const password = 'a password of the stranger';
    const accepted = await createBrowser(server.url).call('POST', `/api/invitations/${token}`, { password });
    expect(accepted.status).toBe(201);
    expect((await visit(subject)).at).toBe(refusal('not_invited'));
  });

  it('is sent to the requested page after sign-in, but never to another site or out of the app', async () => {
    const { subject, email } = addUser();
    await invite(email);
    const reached = async (next: string) =>
      (await visit(subject, `${START}?${new URLSearchParams({ next })}`)).at;
    expect(await reached('/queue?language=de')).toBe('/app/queue?language=de');
    expect(await reached('/queue/../console')).toBe('/app/console');
    const foreign = ['//example.com/', '/\\example.com', 'https://example.com', 'x', '/a\r\nb'];
    const outside = [
      '/../api/sign-in/provider/sign-out',
      '/..',
      '/x/../../docs',
      '/%2e%2E/docs',
      '/..\\docs',
    ];
    for (const next of [...foreign, ...outside]) {
      expect(await reached(next)).toBe('/app/');
    }
  });
});

describe('an active user', () => {
  it('of an account is linked to their identity at the provider when they come from the page of a reset link', async () => {
    const customer = await createPerson(server, { role: 'customer' });
    const { subject } = addUser({ email: customer.email });
    expect((await visit(subject)).at).toBe(refusal('not_invited'));
    const user = await personNamed(server.database, customer.email);
    const { token } = await linkFor(server.database, 'command', user);
    expect((await (await visit(subject, fromLink(token))).me()).body.user_id).toBe(customer.userId);
    expect((await createBrowser(server.url).call('GET', `/api/invitations/${token}`)).status).toBe(404);
  });

  it('is linked to the identity with the same verified e-mail address, keeps the password, and can sign out of the server and the provider', async () => {
    const person = await createPerson(server, { role: 'editor' });
    const { subject } = addUser({ email: person.email.toUpperCase() });
    const visited = await visit(subject);
    expect((await visited.me()).body).toMatchObject({ email: person.email, has_password: true });
    expect((await person.call('GET', '/api/me')).status).toBe(200);
    await createBrowser(server.url).call('DELETE', '/api/session', undefined, { cookie: visited.cookie });
    expect((await visited.me()).status).toBe(401);
    const end = `${provider.issuer}/session/end`;
    const url = await createTraveler().open(`${server.url}${START}/sign-out`, end);
    expect(Object.fromEntries(url.searchParams)).toEqual({
      client_id: 'dragoman',
      post_logout_redirect_uri: `${server.url}/app/sign-in`,
    });
  });

  it('can be linked to another subject only after the first subject was unlinked', async () => {
    const { subject, email } = addUser();
    await invite(email);
    await visit(subject);
    const other = addUser({ email });
    expect((await visit(other.subject)).at).toBe(refusal('linked'));
    const user = await personNamed(server.database, email);
    expect(await unlinkUser(server.database, 'command', user)).toBe(true);
    expect(await unlinkUser(server.database, 'command', user)).toBe(false);
    // The user now has neither a password nor a linked identity, so they need a valid invitation again.
    expect((await visit(other.subject)).at).toBe(refusal('not_invited'));
    await invite(email);
    expect((await visit(other.subject)).at).toBe('/app/');
  });
});

describe('the request to the provider', () => {
  it('has state, nonce and a code challenge, which differ each time', async () => {
    const [from] = [provider.requests.length];
    const { subject } = addUser();
    await visit(subject);
    await visit(subject);
    const [one, other] = provider.requests
      .slice(from)
      .map(({ searchParams }) => Object.fromEntries(searchParams));
    expect(one).toMatchObject({
      response_type: 'code',
      scope: 'openid email profile',
      code_challenge_method: 'S256',
      redirect_uri: `${server.url}${START}/callback`,
    });
    for (const name of ['state', 'nonce', 'code_challenge'] as const)
      expect(one![name]).not.toBe(other![name]);
  });

  it('is bound to the browser: an answer without its cookie, or with another state, is refused', async () => {
    const { subject, email } = addUser();
    await invite(email);
    provider.subject = subject;
    const victim = createTraveler();
    const callback = `${server.url}${START}/callback`;
    const answer = await victim.open(`${server.url}${START}`, callback);
    const stranger = createTraveler();
    const arrived = async (traveler: typeof victim, url: string) => {
      const { pathname, search } = await traveler.open(url);
      return `${pathname}${search}`;
    };
    expect(await arrived(stranger, answer.href)).toBe(refusal('expired'));
    await stranger.open(`${server.url}${START}`, callback);
    expect(await arrived(stranger, answer.href)).toBe(refusal('expired'));
    expect(await arrived(victim, answer.href)).toBe('/app/');
    // The provider's answer and the cookie of the unfinished sign-in work only once.
    expect(await arrived(victim, answer.href)).toBe(refusal('expired'));
  });

  it('is not delayed by answers with a wrong state from the same address', async () => {
    const { subject, email } = addUser();
    await invite(email);
    provider.subject = subject;
    const here = { 'x-forwarded-for': '10.8.255.1', 'sec-fetch-site': 'same-origin' };
    const callback = `${server.url}${START}/callback`;
    for (let n = 0; n < 25; n++) {
      const stranger = createTraveler();
      await stranger.open(`${server.url}${START}`, callback, here);
      const { search } = await stranger.open(`${callback}?state=x&code=x`, undefined, here);
      expect(search).toBe('?refused=expired');
    }
    expect((await visit(subject, START, here)).at).toBe('/app/');
  });
});

describe('a sign-in is refused', () => {
  it('when the user cancels at the provider', async () => {
    expect((await visit(undefined)).at).toBe(refusal('canceled'));
  });

  it('without an invitation, and after the invitation expired', async () => {
    const { subject, email } = addUser();
    expect((await visit(subject)).at).toBe(refusal('not_invited'));
    const { user } = await invite(email);
    await server.database.transaction((transaction) => endLinks(transaction, { userId: user.user_id }));
    expect((await visit(subject)).at).toBe(refusal('not_invited'));
    expect((await listPeople(server.database)).find((one) => one.email === email)?.status).toBe('invited');
  });

  it('without an e-mail address, and with one that is not verified', async () => {
    const { subject, email } = addUser();
    await invite(email);
    provider.users.set(subject, { email });
    expect((await visit(subject)).at).toBe(refusal('unverified'));
    provider.users.set(subject, {});
    expect((await visit(subject)).at).toBe(refusal('no_email'));
  });

  it('when the e-mail address and the claim `email_verified` come from different answers of the provider', async () => {
    const { email } = await createPerson(server, { role: 'editor' });
    const { subject } = addUser({ email });
    provider.users.set(subject, { token: { email }, email_verified: true });
    expect((await visit(subject)).at).toBe(refusal('unverified'));
    provider.users.set(subject, { token: { email_verified: true }, email });
    expect((await visit(subject)).at).toBe(refusal('unverified'));
    provider.users.set(subject, { token: { email, email_verified: true }, email: 'other@example.com' });
    expect((await (await visit(subject)).me()).body.email).toBe(email);
  });

  it('for a disabled user, before and after the first sign-in', async () => {
    const { subject, email } = addUser();
    const { user } = await invite(email);
    await setDisabled(server.database, 'command', user, true);
    expect((await visit(subject)).at).toBe(refusal('disabled'));
    await setDisabled(server.database, 'command', user, false);
    await invite(email);
    expect((await visit(subject)).at).toBe('/app/');
    await setDisabled(server.database, 'command', await personNamed(server.database, email), true);
    expect((await visit(subject)).at).toBe(refusal('disabled'));
  });

  it('when only the e-mail address identifies a user with a second factor, because access to a mailbox must not replace it', async () => {
    const person = await createPerson(server, { role: 'editor' });
    await setUpSecondFactor(server, person);
    const { subject } = addUser({ email: person.email });
    expect((await visit(subject)).at).toBe(refusal('second_factor'));
  });

  it('when the provider is down, or its clock is wrong', async () => {
    const { subject, email } = addUser();
    await invite(email);
    // A new server has not read the provider's discovery document yet, so the sign-in fails while the provider is down.
    await restart();
    provider.failWith(503);
    expect((await visit(subject)).at).toBe(refusal('down'));
    provider.failWith(undefined);
    // The provider's clock is one hour late. Its tokens are valid for ten minutes, so they arrive expired.
    provider.lagSeconds = 3600;
    expect((await visit(subject)).at).toBe(refusal('clock'));
    provider.lagSeconds = 30;
    expect((await visit(subject)).at).toBe('/app/');
  });

  it('when the client secret is wrong', async () => {
    await restart({ DRAGOMAN_OIDC_CLIENT_SECRET: 'another secret' });
    const { subject } = addUser();
    expect((await visit(subject)).at).toBe(refusal('failed'));
    await restart();
  });

  it('for e-mail addresses of other domains, even if the user is already linked', async () => {
    const { subject, email } = addUser();
    await invite(email);
    await visit(subject);
    await restart({ DRAGOMAN_OIDC_DOMAINS: 'acme.test' });
    expect((await visit(subject)).at).toBe(refusal('domain'));
    const inside = addUser({ email: 'ada@ACME.test' });
    await invite(inside.email);
    expect((await visit(inside.subject)).at).toBe('/app/');
    const tricky = addUser({ email: 'eve@evil-acme.test' });
    expect((await visit(tricky.subject)).at).toBe(refusal('domain'));
    await restart();
  });
});

describe('roles from an OpenID Connect claim', () => {
  const ROLES = {
    DRAGOMAN_OIDC_ROLE_CLAIM: 'groups',
    DRAGOMAN_OIDC_ROLES: 'operators=operator,translators=editor',
  };

  it('decide which editors and operators are created, changed and refused at sign-in', async () => {
    await restart(ROLES);
    const { subject, email } = addUser({ groups: ['staff', 'translators'] });
    const visited = await visit(subject);
    expect((await visited.me()).body).toMatchObject({ email, role: 'editor', name: `Person of ${subject}` });
    provider.users.set(subject, { email, email_verified: true, groups: ['translators', 'operators'] });
    expect((await (await visit(subject)).me()).body.role).toBe('operator');
    // The session with the former role has ended.
    expect((await visited.me()).status).toBe(401);
    provider.users.set(subject, { email, email_verified: true, groups: 'staff' });
    expect((await visit(subject)).at).toBe(refusal('no_role'));
    expect((await visit(addUser().subject)).at).toBe(refusal('no_role'));
    const actions = (await listAudit(server.database, {}, 20))
      .filter((entry) => entry.subject === email)
      .map(({ action, actor }) => [action, actor]);
    expect(actions).toEqual([
      ['person.role', 'program'],
      ['person.made', 'program'],
    ]);
    await restart();
  });

  it('never change the role of a customer and never create a customer', async () => {
    const { username } = await server.createAccount();
    const { ref } = await accountNamed(server.database, username);
    const { subject, email } = addUser({ groups: 'operators' });
    const wanted = { email, role: 'customer', account: ref } as const;
    const { token } = await invitePerson(server.database, 'command', wanted);
    await restart(ROLES);
    const expected = { role: 'customer', account: username };
    expect((await (await visit(subject, fromLink(token))).me()).body).toMatchObject(expected);
    expect((await (await visit(subject)).me()).body).toMatchObject(expected);
    await restart();
  });

  it('replace an invitation to an account if the person has not accepted it', async () => {
    const stranger = await createPerson(server, { role: 'customer' });
    const [member, outsider] = [addUser({ groups: 'translators' }), addUser({ groups: 'staff' })];
    for (const { email } of [member, outsider]) {
      expect((await stranger.call('POST', '/api/account/team', { email })).status).toBe(201);
    }
    await restart(ROLES);
    const { body } = await (await visit(member.subject)).me();
    expect(body).toMatchObject({ email: member.email, role: 'editor' });
    expect(body).not.toHaveProperty('account');
    expect((await visit(outsider.subject)).at).toBe(refusal('not_invited'));
    await restart();
  });

  it.each([
    ['accepted it with the link that they were shown', true, false],
    ['accepted it, and disabled the user', true, true],
    ['disabled the user before anybody accepted it', false, true],
  ])('replace a user of an account if the stranger who invited them %s', async (_, accepts, disables) => {
    const stranger = await createPerson(server, { role: 'customer' });
    const { subject, email } = addUser({ groups: 'translators' });
    const { link } = (await stranger.call('POST', '/api/account/team', { email })).body;
    const { user_id: userId } = await personNamed(server.database, email);
    if (accepts) {
      const path = `/api/invitations/${link.split('/').at(-1)}`;
      const password = 'a password of the stranger';
      expect((await createBrowser(server.url).call('POST', path, { password })).status).toBe(201);
    }
    if (disables) await stranger.call('POST', `/api/account/team/${userId}/disable`);
    await restart(ROLES);
    const { body } = await (await visit(subject)).me();
    expect(body).toMatchObject({ email, role: 'editor' });
    expect(body.user_id).not.toBe(userId);
    await restart();
  });
});

describe('DRAGOMAN_PASSWORDS', () => {
  it('lets only the listed users sign in with a password, and does not reveal who is listed', async () => {
    const emergency = await createPerson(server, { role: 'operator' });
    const editor = await createPerson(server, { role: 'editor' });
    const { token } = await invite(addUser().email);
    await restart({ DRAGOMAN_PASSWORDS: emergency.email });
    const signIn = async ({ email, password }: { email: string; password: string }) => {
      const { status, text } = await createBrowser(server.url).call('POST', '/api/session', {
        email,
        password,
      });
      return [status, text];
    };
    expect((await signIn(emergency))[0]).toBe(200);
    const refused = await signIn(editor);
    expect(refused).toEqual(await signIn({ ...emergency, password: 'not the password' }));
    expect(refused[0]).toBe(401);
    const password = 'a password of mine';
    const accepted = await createBrowser(server.url).call('POST', `/api/invitations/${token}`, { password });
    expect([accepted.status, accepted.body.error.code]).toEqual([403, 'passwords_off']);
    const options = await createBrowser(server.url).call('GET', '/api/sign-in-options');
    expect(options.body).toMatchObject({ reset_by_mail: false, passwords: false, provider: 'Acme ID' });
    await restart();
  });

  it('does not require a second factor of operators who sign in with the provider', async () => {
    const { subject, email } = addUser();
    await invite(email, 'operator');
    await restart({ DRAGOMAN_OPERATOR_SECOND_FACTOR: 'required' });
    const { cookie, me } = await visit(subject);
    expect((await me()).body.second_factor_missing).toBe(false);
    const home = await createBrowser(server.url).call('GET', '/api/console/home', undefined, { cookie });
    expect(home.status).toBe(200);
    await restart();
  });
});

describe('the settings of the provider', () => {
  const create = (settings: Record<string, string>) => () => createSignInProvider(loadSettings(settings));
  const ISSUER = { DRAGOMAN_OIDC_ISSUER: 'https://id.example.com/' };

  it.each([
    [ISSUER, 'DRAGOMAN_OIDC_CLIENT_ID must be set when DRAGOMAN_OIDC_ISSUER is set.'],
    [
      { DRAGOMAN_PASSWORDS: 'root@example.com' },
      'DRAGOMAN_PASSWORDS must be everybody unless DRAGOMAN_OIDC_ISSUER is set.',
    ],
    [
      { ...ISSUER, DRAGOMAN_OIDC_CLIENT_ID: 'x', DRAGOMAN_OIDC_ROLE_CLAIM: 'groups' },
      'DRAGOMAN_OIDC_ROLE_CLAIM and DRAGOMAN_OIDC_ROLES must be set together.',
    ],
    [
      { DRAGOMAN_OIDC_ISSUER: 'http://id.example.com' },
      'DRAGOMAN_OIDC_ISSUER must be an https URL; only a provider on this machine may have http.',
    ],
    ...['common/v2.0', 'organizations/v2.0', 'Consumers'].flatMap((tenant) =>
      [{}, { DRAGOMAN_OIDC_DOMAINS: 'example.com', DRAGOMAN_OIDC_TRUST_EMAILS: 'true' }].map(
        (more): [Record<string, string>, string] => [
          {
            DRAGOMAN_OIDC_ISSUER: `https://login.microsoftonline.com/${tenant}`,
            DRAGOMAN_OIDC_CLIENT_ID: 'x',
            ...more,
          },
          'DRAGOMAN_OIDC_ISSUER names the tenants of all customers of Microsoft: name your own tenant, or set DRAGOMAN_OIDC_DOMAINS without DRAGOMAN_OIDC_TRUST_EMAILS.',
        ],
      ),
    ),
    [
      { DRAGOMAN_OIDC_ROLES: 'staff=pope' },
      'DRAGOMAN_OIDC_ROLES must be a comma-separated list such as dragoman-operators=operator,translators=editor.',
    ],
    [
      { DRAGOMAN_OIDC_DOMAINS: 'ada@example.com' },
      'DRAGOMAN_OIDC_DOMAINS must be a comma-separated list of domains such as example.com.',
    ],
    [
      { DRAGOMAN_PASSWORDS: 'nobody' },
      'DRAGOMAN_PASSWORDS must be everybody, or a comma-separated list of e-mail addresses.',
    ],
  ])('%j stop the server at its start with a one-sentence error', (settings, sentence) => {
    expect(create(settings)).toThrow(sentence);
  });

  it('may name one tenant of Microsoft, or all tenants for some domains', () => {
    const microsoft = (tenant: string) => ({
      DRAGOMAN_OIDC_ISSUER: `https://login.microsoftonline.com/${tenant}/v2.0`,
      DRAGOMAN_OIDC_CLIENT_ID: 'x',
    });
    const own = { ...microsoft('0f9c1c2e-0000-4000-8000-000000000001'), DRAGOMAN_OIDC_TRUST_EMAILS: 'true' };
    expect(create(own)()).toBeDefined();
    expect(create({ ...microsoft('common'), DRAGOMAN_OIDC_DOMAINS: 'example.com' })()).toBeDefined();
  });

  it('are optional, and without them the routes of the provider answer 404', async () => {
    expect(create({})()).toBeUndefined();
    expect(create({ ...ISSUER, DRAGOMAN_OIDC_CLIENT_ID: 'x' })()?.name).toBe('id.example.com');
    await restart({ DRAGOMAN_OIDC_ISSUER: '' });
    for (const path of ['', '/callback', '/sign-out']) {
      expect((await fetch(`${server.url}${START}${path}`, { redirect: 'manual' })).status).toBe(404);
    }
    await restart();
  });
});
