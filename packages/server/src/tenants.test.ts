/**
 * Tests the separation of accounts over HTTP. Every route with an id is called with ids of another account.
 * The answer must have the same bytes as the answer for an unknown id.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { accountNamed } from './access/accounts.ts';
import type { AccountCredentials } from './accounts/accounts.ts';
import { parseBrand } from './brands/brand.ts';
import { saveBrand } from './brands/brands.ts';
import { proposeTerm } from './brands/proposals.ts';
import { importEntries } from './memory/memory.ts';
import { confirm, disagree } from './testing/editors.ts';
import {
  type Answer,
  createClient,
  createPerson,
  startTestServer,
  type TestPerson,
  type TestServer,
  until,
  waitForStatus,
} from './testing/harness.ts';

const HUMAN = '/tapi/v2/translation/';
const MACHINE = '/tapi/v2/mt_translation/';
/** A text of the victim's account that the other account, the stranger, must never see. */
const CANARY = 'canary';

interface Route {
  path: string;
  methods: string[];
}

let server: TestServer;
let routes: Route[];
let ownRoutes: Route[] = [];
let customer: TestPerson;
let stranger: { production: Call; sandbox: Call };
let victim: { production: Call; sandbox: Call };
const accounts = new Map<string, AccountCredentials>();
type Call = ReturnType<typeof createClient>;

beforeAll(async () => {
  server = await startTestServer({ settings: { DRAGOMAN_SANDBOX_HOLD: '0' } });
  const all = readRoutes(server.server.app!.printRoutes({ commonPrefix: false }));
  // Of the web app's routes, only those of customers are tested, because editors and operators work for all accounts.
  ownRoutes = all.filter(({ path }) => path.startsWith('/api/account'));
  routes = all.filter(({ path }) => !/^\/(api(?!\/v1\/)|app|docs)(\/|$)/.test(path) && !path.includes('*'));
  [victim, stranger] = [await createCustomer(`${CANARY}-victim`), await createCustomer('stranger')];
  // Creates jobs of both tiers in both environments for the victim. The machine jobs are completed.
  for (const { call, prefix } of environmentsOf(victim)) {
    expect((await call('POST', `${prefix}${HUMAN}`, job(`${CANARY}-human`))).status).toBe(201);
    await completed(call, `${prefix}${MACHINE}`, `${CANARY}-machine`);
    const test = await call('POST', `${prefix}/api/v1/test-event/`, { url: 'http://127.0.0.1:9/' });
    FOREIGN[':delivery_id']!.push(test.body.id);
    const endpoint = { url: `https://example.com/${CANARY}` };
    FOREIGN[':endpoint_id']!.push(
      (await call('POST', `${prefix}/api/v1/webhook-endpoints/`, endpoint)).body.id,
    );
  }
  FOREIGN[':chat_id'] = [];
  FOREIGN[':message_id'] = [];
  for (const { call, prefix } of environmentsOf(victim)) {
    const { chat, message } = (await call('POST', `${prefix}/v2/chats/messages`, chatMessage)).body;
    FOREIGN[':chat_id'].push(chat.id);
    FOREIGN[':message_id'].push(message.id);
  }
  for (const { call, prefix } of environmentsOf(stranger))
    await completed(call, `${prefix}${MACHINE}`, 'own');
  const owner = await createPerson(server, { role: 'customer', account: accounts.get(`${CANARY}-victim`)! });
  customer = await createPerson(server, { role: 'customer', account: accounts.get('stranger')! });
  FOREIGN[':user_id'] = [owner.userId];
  const { keys, brands } = await ownThings(owner);
  FOREIGN[':key_id'] = keys;
  FOREIGN[':brand'] = brands;
});

/**
 * Claims the victim's human job as an editor, confirms its first segment and asks the victim about it.
 * @returns the ids of the query and of the vote for the confirmed text
 */
async function editVictimsJob(): Promise<{ query: string; vote: string }> {
  const editor = await createPerson(server, { role: 'editor', languages: ['en:es'] });
  const task = await until(async () => {
    const claimed = await editor.call('POST', '/api/editing/claims', {});
    return claimed.status === 201 ? claimed.body.task : undefined;
  });
  expect((await confirm(editor, task, task.segments[0])).status).toBe(200);
  const asked = { token: task.lease.token, position: 0, question: `Which ${CANARY}?` };
  const { body: query } = await editor.call('POST', `/api/editing/tasks/${task.task}/queries`, asked);
  const operator = await createPerson(server, { role: 'operator' });
  const votes = `/api/console/accounts/${CANARY}-victim/votes?filling=false`;
  return { query: query.query, vote: (await operator.call('GET', votes)).body.votes[0].vote };
}

/** Has two editors disagree about a text of the victim. @returns the id of the disagreement */
async function disputeVictim(): Promise<string> {
  const operator = await createPerson(server, { role: 'operator' });
  const people = [0, 1].map(() => createPerson(server, { role: 'editor', languages: ['en:es'] }));
  const editors = await Promise.all(people);
  for (const { userId } of editors) {
    await operator.call('PATCH', `/api/console/people/${userId}`, { review_share: 0 });
  }
  const list = `/api/console/accounts/${CANARY}-victim/disagreements`;
  const found = await disagree(victim.production, editors, operator, list, `Every ${CANARY} has a house.`);
  return found.disagreement;
}

/** Creates keys, a brand and a memory entry of the victim. */
async function ownThings({ call }: TestPerson): Promise<{ keys: string[]; brands: string[] }> {
  const { ref } = await accountNamed(server.database, `${CANARY}-victim`);
  const brand = { external_id: `${CANARY}-brand`, name: CANARY, languages: {} };
  await saveBrand(server.database, 'command', ref, parseBrand('brand', brand), false);
  await importEntries(server.database, ref, { from: 'en', to: 'es', brand: undefined }, [
    { source: [{ text: `The ${CANARY} flies.` }], target: [{ text: `El ${CANARY} vuela.` }] },
  ]);
  const proposed = { jobId: NOBODY, brand: `${CANARY}-brand`, targetLanguage: 'es' };
  const term = { source: CANARY, target: 'canario', note: undefined };
  const { proposal } = await proposeTerm(server.database, ref, proposed, { userId: NOBODY, name: '' }, term);
  FOREIGN[':proposal'] = [proposal!.id];
  const { query, vote } = await editVictimsJob();
  FOREIGN[':query'] = [query, query];
  FOREIGN[':vote'] = [vote];
  FOREIGN[':memory_id'] = (await call('GET', '/api/account/memory')).body.entries.map(
    (entry: { memory_id: string }) => entry.memory_id,
  );
  expect(FOREIGN[':memory_id']).toHaveLength(1);
  // Later than the line above, because the memory learns from delivered jobs.
  FOREIGN[':disagreement'] = [await disputeVictim()];
  const { body } = await call('GET', '/api/account/keys');
  return {
    keys: body.objects.map((key: { key_id: string }) => key.key_id),
    brands: [`${CANARY}-brand`],
  };
}
afterAll(() => server.stop());

const job = (uid: string) => ({
  uid,
  text: `The ${CANARY} of ${uid} is big.`,
  source_language: 'en',
  target_language: 'es',
});

const chatMessage = {
  chat_external_id: `${CANARY}-chat`,
  external_id: 'm1',
  text: `The ${CANARY} sings.`,
  text_format: 'text',
  source_language: 'en',
  target_language: 'es',
};

const environmentsOf = (customer: { production: Call; sandbox: Call }) => [
  { call: customer.production, prefix: '' },
  { call: customer.sandbox, prefix: '/sandbox' },
];

async function completed(call: Call, path: string, uid: string): Promise<void> {
  expect((await call('POST', path, job(uid))).status).toBe(201);
  await waitForStatus(call, `${path}${uid}/`);
}

async function createCustomer(username: string): Promise<{ production: Call; sandbox: Call }> {
  const made = await server.createAccount({ username, chat: true });
  accounts.set(username, made);
  const { production_key, sandbox_key } = made;
  return {
    production: createClient(server.url, production_key),
    sandbox: createClient(server.url, sandbox_key),
  };
}

/** Reads the routes from the tree that Fastify prints. Each path has a line, four spaces deeper than its prefix. */
function readRoutes(drawing: string): Route[] {
  const parents: string[] = [];
  return drawing
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => {
      const [, indent, part, methods] = /^([│ ]*)[├└]── (\S*)(?: \((.+)\))?/.exec(line)!;
      const depth = indent!.length / 4;
      const path = (depth === 0 ? '' : parents[depth - 1]!) + part;
      parents[depth] = path;
      return { path, methods: methods?.split(', ') ?? [] };
    });
}

/** The victim's ids for each parameter of a path. A new parameter must be added here. */
const FOREIGN: Record<string, string[]> = {
  ':uid': [`${CANARY}-human`, `${CANARY}-machine`],
  // Filled by `beforeAll` with one for each environment.
  ':delivery_id': [],
  ':endpoint_id': [],
};
const NOBODY = '00000000-0000-7000-8000-000000000000';
const UNKNOWN: Record<string, string> = {
  ':uid': 'nobody-has-this',
  ':chat_id': NOBODY,
  ':message_id': NOBODY,
  ':delivery_id': NOBODY,
  ':endpoint_id': NOBODY,
  ':user_id': NOBODY,
  ':key_id': '00000000',
  ':brand': 'nobody-has-this',
  ':memory_id': NOBODY,
  ':proposal': NOBODY,
  ':query': NOBODY,
  ':vote': NOBODY,
  ':disagreement': NOBODY,
};
/** Parameters whose values identify no row. */
const NO_IDS = [':environment'];
const withIds = (path: string, idOf: (parameter: string) => string) =>
  `${path.replaceAll(/:\w+/g, idOf)}/`.replaceAll('//', '/');

/** Returns all parts of an answer except its date and request id. */
function bytesOf({ status, headers, text }: Answer): string {
  return JSON.stringify([
    status,
    [...headers].filter(([name]) => name !== 'date' && name !== 'x-request-id'),
    text,
  ]);
}

/** Returns how the answer for another account's id differs from the answer for an unknown id. */
function difference(foreign: Answer, unknown: Answer): string | undefined {
  return bytesOf(foreign) === bytesOf(unknown) ? undefined : `${foreign.text} is not ${unknown.text}`;
}

describe('every route', () => {
  it('is found by this test', () => {
    const paths = routes.map(({ path }) => path);
    for (const prefix of ['', '/sandbox']) {
      for (const tier of ['translation', 'mt_translation']) {
        expect(paths).toContain(`${prefix}/tapi/v2/${tier}`);
        expect(paths).toContain(`${prefix}/tapi/v2/${tier}/:uid`);
      }
    }
    expect(paths).toContain('/readyz');
  });

  it('has only parameters that this test knows', () => {
    const parameters = [...routes, ...ownRoutes].flatMap(({ path }) => path.match(/[:*]\w*/g) ?? []);
    expect(new Set(parameters)).toEqual(new Set([...Object.keys(FOREIGN), ...NO_IDS]));
  });

  it('answers the same bytes for an id of another account as for an unknown id', async () => {
    const carrying = routes.filter(({ path }) => path.includes(':'));
    expect(carrying.length).toBeGreaterThanOrEqual(4);
    for (const { path, methods } of carrying) {
      const caller = path.startsWith('/sandbox') ? stranger.sandbox : stranger.production;
      for (const method of methods) {
        const bare = method === 'GET' || method === 'HEAD';
        const body = bare
          ? undefined
          : { ...job('x'), overlap: 'now', reason: 'It is mine.', answer: 'Mine.' };
        const unknown = await caller(
          method,
          withIds(path, (name) => UNKNOWN[name]!),
          body,
        );
        for (const index of FOREIGN[':uid']!.keys()) {
          const foreign = await caller(
            method,
            withIds(path, (name) => FOREIGN[name]![index]!),
            body,
          );
          expect(difference(foreign, unknown), `${method} ${path}`).toBeUndefined();
          expect(foreign.text).not.toContain(CANARY);
          expect([404, 405]).toContain(foreign.status);
        }
      }
    }
  });

  it('of the web app answers customers the same bytes for an id of another account as for an unknown id', async () => {
    const carrying = ownRoutes.filter(({ path }) => Object.keys(UNKNOWN).some((name) => path.includes(name)));
    expect(carrying.length).toBeGreaterThanOrEqual(12);
    const body = {
      overlap: 'now',
      reason: 'It is mine.',
      owner: true,
      answer: 'Mine.',
      vote: NOBODY,
      hash: '',
      rule: null,
    };
    for (const { path, methods } of carrying) {
      const [parameter] = /:\w+/.exec(path)!;
      for (const method of methods) {
        const given = method === 'GET' || method === 'HEAD' ? undefined : body;
        for (const which of ['production', 'sandbox']) {
          const at = (id: string) => `${path.replace(parameter, id)}?environment=${which}&rule=none`;
          const unknown = await customer.call(method, at(UNKNOWN[parameter]!), given);
          expect([404, 405]).toContain(unknown.status);
          for (const id of FOREIGN[parameter]!) {
            const foreign = await customer.call(method, at(id), given);
            expect(difference(foreign, unknown), `${method} ${path}`).toBeUndefined();
          }
        }
      }
    }
    for (const path of [
      '',
      '/jobs',
      '/keys',
      '/team',
      '/chats',
      '/deliveries',
      '/webhook-endpoints',
      '/brands',
      '/disagreements',
      '/ledger',
    ]) {
      for (const query of ['', '?environment=sandbox', '?tier=machine', `?account=${CANARY}-victim`]) {
        const { status, text } = await customer.call('GET', `/api/account${path}${query}`);
        expect([status, text.includes(CANARY)], `${path}${query}`).toEqual([200, false]);
      }
    }
  });

  it('refuses keys of the other environment', async () => {
    for (const { path, methods } of routes.filter(({ path }) => /\/(tapi|chats)\b/.test(path))) {
      const wrong = path.startsWith('/sandbox') ? victim.production : victim.sandbox;
      for (const method of methods) {
        const answer = await wrong(
          method,
          withIds(path, (name) => FOREIGN[name]![0]!),
        );
        expect(answer.status, `${method} ${path}`).toBe(401);
        expect(answer.text).not.toContain(CANARY);
      }
    }
  });

  it('has its responses compared by a function that detects a different text, header or status', () => {
    const unknown: Answer = { status: 404, headers: new Headers({ date: '1' }), body: {}, text: 'Not found' };
    expect(difference({ ...unknown, headers: new Headers({ date: '2' }) }, unknown)).toBeUndefined();
    expect(difference({ ...unknown, text: 'Not yours' }, unknown)).toBeDefined();
    expect(difference({ ...unknown, status: 403 }, unknown)).toBeDefined();
    expect(difference({ ...unknown, headers: new Headers({ 'x-hint': '1' }) }, unknown)).toBeDefined();
  });
});

describe('one environment of an account', () => {
  it('does not show the jobs of the other environment', async () => {
    await victim.production('POST', HUMAN, job('only-production'));
    const foreign = await victim.sandbox('GET', `/sandbox${HUMAN}only-production/`);
    const unknown = await victim.sandbox('GET', `/sandbox${HUMAN}nobody-has-this/`);
    expect(foreign.status).toBe(404);
    expect(difference(foreign, unknown)).toBeUndefined();
  });
});

describe('the lists of jobs', () => {
  it.each([
    '',
    '?limit=1000',
    '?limit=0',
    `?uid=${CANARY}-human`,
    `?uid=${CANARY}-machine`,
    '?status=completed',
    '?source_language=en&target_language=es',
    '?order_by=-created&created__gte=2000-01-01',
    '?after=',
    `?uid__startswith=${CANARY}`,
    '?uid__contains=uma',
    `?uid__contains=${CANARY}`,
    '?uid__endswith=-machine',
    '?offset=0&account_id=%25&username=canary-victim&environment=sandbox',
  ])('never show entries of another account: %s', async (query) => {
    for (const { call, prefix } of environmentsOf(stranger)) {
      for (const path of [HUMAN, MACHINE]) {
        const { status, body, text } = await call('GET', `${prefix}${path}${query}`);
        expect(status).toBe(200);
        const links = [body.meta.next, body.meta.previous].join();
        expect(text.replace(links, '')).not.toContain(CANARY);
        const uids = body.objects.map(({ uid }: { uid: string }) => uid);
        expect(uids).toEqual(path === MACHINE && !query.includes('uid') ? ['own'] : []);
        expect(body.meta.total_count).toBe(uids.length);
      }
    }
  });

  it('treat a uid of another account in `after` like an unknown uid', async () => {
    for (const { call, prefix } of environmentsOf(stranger)) {
      const after = (uid: string) => call('GET', `${prefix}${MACHINE}?after=${uid}`);
      expect(difference(await after(`${CANARY}-machine`), await after('nobody-has-this'))).toBeUndefined();
    }
  });

  it('show an account its own jobs', async () => {
    const { body } = await victim.production('GET', HUMAN);
    expect(body.objects.map(({ uid }: { uid: string }) => uid)).toContain(`${CANARY}-human`);
  });
});

describe('a request that creates a job', () => {
  it('with a uid of another account creates the caller’s own job and reveals nothing', async () => {
    const before = await victim.production('GET', `${HUMAN}${CANARY}-human/`);
    const made = await stranger.production('POST', HUMAN, { ...job(`${CANARY}-human`), text: 'Mine.' });
    expect(made.status).toBe(201);
    expect(made.body.client).toBe('stranger');
    const after = await victim.production('GET', `${HUMAN}${CANARY}-human/`);
    expect(after.body).toEqual(before.body);
    expect((await stranger.production('GET', `${HUMAN}${CANARY}-human/`)).body.text).toBe('Mine.');
  });
});
