/** Tests that the log names whose key or sign-in was refused and why, and whose delivery is dead. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Account, accountNamed } from '../access/accounts.ts';
import { makeKey, type NewKey, revokeKey } from '../access/keys.ts';
import { createLog } from '../base/log.ts';
import { createClient, createPerson, startReceiver, startTestServer, until } from '../testing/harness.ts';
import { createTraveler, startProvider, type TestProvider } from '../testing/provider.ts';

type Line = Record<string, unknown> & { msg: string; level: string; request: string };

const lines: Line[] = [];
let server: Awaited<ReturnType<typeof startTestServer>>;
let provider: TestProvider;
let account: Account;
beforeAll(async () => {
  provider = await startProvider();
  server = await startTestServer({
    log: createLog('info', { write: (line) => lines.push(JSON.parse(line)) }),
    settings: {
      ...provider.settings,
      DRAGOMAN_TRUSTED_PROXIES: '127.0.0.0/8',
      DRAGOMAN_OIDC_ROLE_CLAIM: 'groups',
      DRAGOMAN_OIDC_ROLES: 'operators=operator',
    },
  });
  provider.serve(server.url);
  const { username } = await server.createAccount({ username: 'acme', chat: true });
  account = await accountNamed(server.database, username);
});
afterAll(async () => {
  await server.stop();
  await provider.close();
});

const create = (fields: Partial<NewKey> = {}) =>
  server.database.transaction((transaction) =>
    makeKey(transaction, 'command', account, {
      environment: 'production',
      name: 'build',
      dialect: 'spec',
      readOnly: false,
      scopes: undefined,
      expiresAt: undefined,
      ...fields,
    }),
  );

describe('the access line of a refused key', () => {
  const whose = () => ({ account: account.ref.accountId, username: 'acme' });
  const cases: [string, () => Promise<{ key: string; path?: string; line: object }>][] = [
    [
      'revoked',
      async () => {
        const { key, key_id } = await create();
        await revokeKey(server.database, 'command', account.ref, key_id, 0);
        return { key, line: { key: key_id, ...whose() } };
      },
    ],
    [
      'expired',
      async () => {
        const { key, key_id } = await create({ expiresAt: new Date(Date.now() - 1000) });
        return { key, line: { key: key_id, ...whose() } };
      },
    ],
    [
      'wrong environment',
      async () => {
        const { key, key_id } = await create({ environment: 'sandbox' });
        return { key, line: { key: key_id, ...whose() } };
      },
    ],
    [
      'wrong environment',
      async () => {
        const { key, key_id } = await create();
        return { key, path: '/sandbox/chats', line: { key: key_id, ...whose() } };
      },
    ],
    [
      'wrong username',
      async () => {
        const { key, key_id } = await create();
        return { key: `someone:${key.split(':')[1]}`, line: { key: key_id, ...whose() } };
      },
    ],
    [
      // Nothing proves whose request this is, so the line names nobody.
      'unknown',
      async () => {
        const { key, key_id } = await create();
        return { key: `${key.slice(0, -1)}${key.endsWith('x') ? 'y' : 'x'}`, line: { key: key_id } };
      },
    ],
    ['unknown', async () => ({ key: 'acme:dgm_live_00000000abc', line: { key: '00000000' } })],
    ['unknown', async () => ({ key: 'acme:a key of another service', line: {} })],
  ];
  it.each(cases)('names its reason: %s', async (reason, make) => {
    const { key, path = '/tapi/v2/tone/', line } = await make();
    const answer = await createClient(server.url, key)('GET', path);
    expect(answer.status).toBe(401);
    const id = answer.headers.get('x-request-id');
    const logged = await until(() => lines.find(({ msg, request }) => msg === 'answered' && request === id));
    const { account: accountId, username, key: keyId } = logged;
    expect({ reason: logged.reason, account: accountId, username, key: keyId }).toEqual({ reason, ...line });
    // Neither the answer nor its headers differ, and the secret part is not logged.
    const other = await createClient(server.url, 'acme:nothing')('GET', path);
    expect([answer.text, answer.headers.get('www-authenticate')]).toEqual([
      other.text,
      other.headers.get('www-authenticate'),
    ]);
    const secret = key.split(':')[1]!.slice('dgm_live_00000000'.length);
    if (secret.length > 8) expect(JSON.stringify(logged)).not.toContain(secret);
  });

  it('names the account and the key of accepted requests too, and the account of signed-in customers', async () => {
    const { key, key_id } = await create();
    const customer = await createPerson(server, { role: 'customer' });
    const answers = [
      await createClient(server.url, key)('GET', '/tapi/v2/tone/'),
      await customer.call('GET', '/api/account'),
    ];
    const [program, person] = await until(() => {
      const ids = answers.map(({ headers }) => headers.get('x-request-id'));
      const found = ids.map((id) => lines.find(({ msg, request }) => msg === 'answered' && request === id));
      return found.every((line) => line !== undefined) && found;
    });
    expect(program).toMatchObject({ ...whose(), key: key_id });
    expect(program).not.toHaveProperty('reason');
    expect(person).toMatchObject({ username: customer.account!.username });
  });
});

describe('the line of a refused sign-in with the provider', () => {
  it.each([
    ['no_role', 'info', { email_verified: true, groups: 'others' }],
    ['unverified', 'info', {}],
    ['no_email', 'info', { email: undefined }],
    ['canceled', 'info', undefined],
  ])('has the reason %s', async (reason, level, claims) => {
    const before = lines.length;
    provider.users.set(reason, { email: `${reason}@example.com`, ...claims });
    provider.subject = claims === undefined ? undefined : reason;
    await createTraveler().open(`${server.url}/api/sign-in/provider`);
    const refused = lines.slice(before).filter(({ msg }) => /provider/.test(msg));
    expect(refused).toEqual([
      expect.objectContaining({ level, reason, msg: 'sign-in with the provider was refused' }),
    ]);
    expect(JSON.stringify(refused)).not.toContain('@');
  });

  it('has the code of a fault of the provider, at the level warn', async () => {
    const before = lines.length;
    provider.subject = 'x'.repeat(256);
    provider.users.set(provider.subject, { email: 'long@example.com', email_verified: true });
    await createTraveler().open(`${server.url}/api/sign-in/provider`);
    await server.restart({ DRAGOMAN_OIDC_CLIENT_SECRET: 'another secret' });
    provider.serve(server.url);
    await createTraveler().open(`${server.url}/api/sign-in/provider`);
    const refused = lines.slice(before).filter(({ msg }) => msg.startsWith('sign-in with the provider'));
    expect(refused).toMatchObject([
      { level: 'warn', reason: 'failed' },
      { level: 'warn', reason: 'failed', code: expect.stringMatching(/^OAUTH_/) },
    ]);
  });
});

it('the line of a dead delivery names its account', async () => {
  const receiver = await startReceiver();
  receiver.answer(() => 410);
  const { key } = await create();
  const job = { text: 'The house.', source_language: 'en', target_language: 'es' };
  const call = createClient(server.url, key);
  await call('POST', '/tapi/v2/mt_translation/', { ...job, callback_url: receiver.url });
  const line = await until(() => lines.find(({ msg }) => msg === 'delivery is dead'));
  expect(line).toMatchObject({ account: account.ref.accountId, username: 'acme', status: 410 });
  await receiver.close();
});
