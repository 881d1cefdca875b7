/**
 * Checks that every operation of the web app that changes data writes an audit entry. Exceptions are listed
 * here with their reasons. The test fails for an operation that is neither tested nor exempt.
 */
import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { accountNamed } from '../access/accounts.ts';
import { proposeTerm } from '../brands/proposals.ts';
import { describeApp } from '../roles/app.ts';
import { disagree, editNext, orderEdit } from '../testing/editors.ts';
import {
  type Answer,
  createClient,
  createPerson,
  type Receiver,
  startReceiver,
  startTestServer,
  type TestPerson,
  type TestServer,
  waitForStatus,
} from '../testing/harness.ts';
import { authenticatorOf, setUpSecondFactor } from '../testing/second-factor.ts';

const EDITED = 'work of an editor, which is recorded in the tables of editing';
const OWN = 'changes only the own profile or session';
const IN_HISTORY = 'part of the history of the job, chat or delivery';

const UNAUDITED: Record<string, string> = {
  claimTask: EDITED,
  saveSegment: EDITED,
  joinSegments: EDITED,
  separateSegments: EDITED,
  splitSegment: EDITED,
  unsplitSegment: EDITED,
  heartbeat: EDITED,
  releaseTask: EDITED,
  submitTask: EDITED,
  approveTask: EDITED,
  skipTask: EDITED,
  reportTask: EDITED,
  returnTask: EDITED,
  markIssue: EDITED,
  unmarkIssue: EDITED,
  addComment: EDITED,
  markSeen: EDITED,
  markUnsure: EDITED,
  askCustomer: EDITED,
  withdrawQuery: EDITED,
  proposeTerm: EDITED,
  withdrawTerm: EDITED,
  signIn: OWN,
  signOut: OWN,
  endOtherSessions: OWN,
  endSession: OWN,
  changeMe: OWN,
  cancelOwnJob: IN_HISTORY,
  acceptMyJob: IN_HISTORY,
  rejectMyJob: IN_HISTORY,
  beginSecondFactor: 'has no effect until it is confirmed',
  requestPasswordReset: 'anybody may call it; the link has an entry, which password-reset.test.ts checks',
  requestSandbox: 'the request itself is stored',
  sendDocument: 'the job itself is stored; a job of an API key gets no entry either',
  quoteDocument: 'changes nothing',
  previewBrand: 'changes nothing',
  tryPatterns: 'changes nothing',
  testEngine: 'changes nothing',
  compareEngines: 'changes nothing',
  endComparison:
    'deletes what its page shows; operators may delete it, and it is deleted after minutes in any case',
};

let server: TestServer;
let receiver: Receiver;
let owner: pg.Client;
let operator: TestPerson;
let customer: TestPerson;
let editor: TestPerson;
let rival: TestPerson;
let call: ReturnType<typeof createClient>;
let who: string;
beforeAll(async () => {
  receiver = await startReceiver();
  server = await startTestServer({ settings: { DRAGOMAN_SANDBOX_REQUESTS: 'operator' } });
  owner = await server.connectOwner();
  operator = await createPerson(server, { role: 'operator' });
  editor = await createPerson(server, { role: 'editor', languages: ['en:es'] });
  rival = await createPerson(server, { role: 'editor', languages: ['en:es'] });
  const account = await server.createAccount({ balanceCents: 10_000 });
  customer = await createPerson(server, { role: 'customer', account });
  call = createClient(server.url, account.production_key);
  who = `/api/console/accounts/${account.username}`;
  await owner.query('update users set review_share = 0');
});
afterAll(async () => {
  await server.stop();
  await receiver.close();
});

const operate = (method: string, path: string, body?: unknown, headers = {}) =>
  operator.call(method, path, body, headers);
const ask = (method: string, path: string, body?: unknown) => customer.call(method, path, body);

const another = async (): Promise<string> => (await createPerson(server, { role: 'editor' })).userId;
const mate = async (): Promise<string> =>
  (await createPerson(server, { role: 'customer', account: customer.account! })).userId;
async function suspended(): Promise<string> {
  const { username } = await server.createAccount();
  await operate('POST', `/api/console/accounts/${username}/suspend`);
  return username;
}
async function disabled(user: string): Promise<string> {
  await operate('POST', `/api/console/people/${user}/disable`);
  return user;
}
const jobOf = async (uid: string): Promise<string> =>
  (await owner.query('select job_id from jobs where uid = $1', [uid])).rows[0].job_id;
const taskOf = async (): Promise<string> => {
  const uid = await orderEdit(call, 'One house.\n');
  const { rows } = await owner.query('select task_id from tasks where job_id = $1', [await jobOf(uid)]);
  return rows[0].task_id;
};
async function delivered(): Promise<string> {
  const { body } = await call('POST', '/api/v1/test-event/', { url: `${receiver.url}/` });
  await waitForStatus(call, `/api/v1/deliveries/${body.id}/`, 'delivered');
  return body.id;
}
const ENDPOINTS = '/api/account/webhook-endpoints';
let endpoints = 0;
const endpoint = () =>
  ask('POST', ENDPOINTS, { environment: 'sandbox', url: `https://example.com/${++endpoints}` });
let requestsMade = 0;
async function requestedSandbox(): Promise<string> {
  const email = `request-${++requestsMade}@example.com`;
  await operator.call('POST', '/api/sandbox-requests', { name: 'Ada', email });
  const { requests } = (await operate('GET', '/api/console/sandbox-requests?status=open')).body;
  return requests.find((one: { email: string }) => one.email === email).request_id;
}
let brands = 0;
/** Creates the draft of a brand. @returns its path */
async function begun(): Promise<string> {
  const external_id = `brand-${++brands}`;
  await operate('POST', `${who}/brands`, { external_id });
  return `${who}/brands/${external_id}`;
}
/** Proposes a term for a published brand. @returns the id of the proposal */
async function proposed(source: string): Promise<string> {
  await operate('POST', `${await begun()}/publish`, { revision: 1, anyway: true });
  const { ref } = await accountNamed(server.database, customer.account!.username);
  const job = { jobId: NOBODY, brand: `brand-${brands}`, targetLanguage: 'es' };
  const term = { source, target: 'puerta', note: undefined };
  return (await proposeTerm(server.database, ref, job, { userId: editor.userId, name: '' }, term)).proposal!
    .id;
}
const NOBODY = '00000000-0000-7000-8000-000000000000';
const TERM = { source: 'house', target: 'casa' };
const PAIR = { source_language: 'en', target_language: 'es' };
const ROUTE = { source_language: 'cy', target_language: 'br', tier: 'human', engines: ['apertium'] };
const TMX = `<?xml version="1.0"?><tmx version="1.4"><header/><body><tu><tuv xml:lang="en"><seg>House.</seg></tuv><tuv xml:lang="es"><seg>Casa.</seg></tuv></tu></body></tmx>`;
async function remembered(): Promise<string> {
  await ask('POST', '/api/account/memory/import', { from: 'en', to: 'es', tmx: TMX });
  return (await ask('GET', '/api/account/memory?state=all')).body.entries[0].memory_id;
}
async function voted(): Promise<string> {
  await orderEdit(call, 'A vote for one house.\n');
  await editNext(editor);
  return (await operate('GET', `${who}/votes?filling=false`)).body.votes[0].vote;
}
let disputes = 0;
/** Has two editors disagree. @returns the path of the rule, and one of the texts */
async function disputed(): Promise<{
  path: string;
  text: { vote: string; hash: string; rule: null };
}> {
  const source = `House number ${++disputes} of two editors.`;
  const list = '/api/account/disagreements';
  const { disagreement, texts } = await disagree(call, [editor, rival], customer, list, source);
  return {
    path: `/disagreements/${disagreement}/rule`,
    text: { vote: texts[0]!.vote, hash: texts[0]!.hash, rule: null },
  };
}
async function setPrice(): Promise<Answer> {
  return operate('POST', '/api/console/prices', { ...PAIR, tier: 'human', cents_per_word: 3 });
}
async function toTouch(path: string): Promise<string> {
  const id = await remembered();
  await ask('POST', `/api/account/memory/${id}/restore`);
  if (path === 'restore') await ask('POST', `/api/account/memory/${id}/withdraw`);
  return id;
}

/** The expected audit action of each operation, and a function that runs the operation. */
const AUDITED: Record<string, [action: string, run: () => Promise<Answer>]> = {
  openSandboxLink: [
    'key.made',
    async () => {
      const { link } = (
        await operate('POST', `/api/console/sandbox-requests/${await requestedSandbox()}/grant`)
      ).body;
      return operator.call('POST', `/api/sandbox-requests/${link.split('/').at(-1)}`);
    },
  ],
  acceptInvitation: [
    'person.accepted',
    async () => {
      const email = 'accepts@example.com';
      const { link } = (await operate('POST', '/api/console/people', { email, role: 'editor' })).body;
      const password = 'a password of theirs';
      const visitor = await createPerson(server, { role: 'editor' });
      return visitor.call('POST', `/api/invitations/${link.split('/').at(-1)}`, { password });
    },
  ],
  confirmSecondFactor: [
    'person.second_factor',
    async () => {
      const { call: own, password } = await createPerson(server, { role: 'editor' });
      const { secret } = (await own('POST', '/api/me/second-factor', { current_password: password })).body;
      return own('POST', '/api/me/second-factor/confirm', { code: authenticatorOf(secret).code() });
    },
  ],
  renewRecoveryCodes: [
    'person.recovery_codes',
    async () => {
      const person = await createPerson(server, { role: 'editor' });
      const { code } = await setUpSecondFactor(server, person);
      return person.call('POST', '/api/me/second-factor/recovery-codes', { code: code() });
    },
  ],
  disableSecondFactor: [
    'person.second_factor',
    async () => {
      const person = await createPerson(server, { role: 'editor' });
      const { code } = await setUpSecondFactor(server, person);
      return person.call('POST', '/api/me/second-factor/disable', { code: code() });
    },
  ],
  resetSecondFactor: [
    'person.second_factor',
    async () => {
      const person = await createPerson(server, { role: 'editor' });
      await setUpSecondFactor(server, person);
      return operate('POST', `/api/console/people/${person.userId}/second-factor/reset`);
    },
  ],
  changePassword: [
    'person.password',
    async () => {
      const { call: own, password } = await createPerson(server, { role: 'editor' });
      return own('POST', '/api/me/password', { current_password: password, password: 'another long one' });
    },
  ],
  releaseTaskOfAnother: [
    'task.released',
    async () => operate('POST', `/api/console/tasks/${await taskOf()}/release`),
  ],
  setPriority: [
    'task.prioritised',
    async () => operate('POST', `/api/console/tasks/${await taskOf()}/priority`, { priority: 1 }),
  ],
  reassignTask: [
    'task.reassigned',
    async () => operate('POST', `/api/console/tasks/${await taskOf()}/reassign`, { user: editor.userId }),
  ],
  makeOwnKey: ['key.made', () => ask('POST', '/api/account/keys', { name: 'x', environment: 'sandbox' })],
  setOwnOrigins: [
    'origins.changed',
    () => ask('PUT', '/api/account/origins', { origins: ['https://app.example.com'] }),
  ],
  rollOwnKey: [
    'key.rolled',
    async () => {
      const { key_id } = (await ask('POST', '/api/account/keys', { name: 'x', environment: 'sandbox' })).body;
      return ask('POST', `/api/account/keys/${key_id}/roll`, { overlap: 'now' });
    },
  ],
  revokeOwnKey: [
    'key.revoked',
    async () => {
      const { key_id } = (await ask('POST', '/api/account/keys', { name: 'x', environment: 'sandbox' })).body;
      return ask('POST', `/api/account/keys/${key_id}/revoke`, {});
    },
  ],
  rollOwnWebhookSecret: [
    'webhook_secret.rolled',
    () => ask('POST', '/api/account/webhook-secrets/sandbox/roll', { overlap: 'now' }),
  ],
  createOwnWebhookEndpoint: ['endpoint.created', () => endpoint()],
  changeOwnWebhookEndpoint: [
    'endpoint.disabled',
    async () => ask('PATCH', `${ENDPOINTS}/${(await endpoint()).body.id}`, { status: 'disabled' }),
  ],
  deleteOwnWebhookEndpoint: [
    'endpoint.deleted',
    async () => ask('DELETE', `${ENDPOINTS}/${(await endpoint()).body.id}`),
  ],
  rollOwnWebhookEndpointSecret: [
    'webhook_secret.rolled',
    async () => ask('POST', `${ENDPOINTS}/${(await endpoint()).body.id}/roll`, { overlap: 'now' }),
  ],
  inviteToTeam: ['person.link', () => ask('POST', '/api/account/team', { email: 'mate@example.com' })],
  linkForTeam: ['person.link', async () => ask('POST', `/api/account/team/${await mate()}/link`)],
  disableInTeam: ['person.disabled', async () => ask('POST', `/api/account/team/${await mate()}/disable`)],
  enableInTeam: [
    'person.enabled',
    async () => ask('POST', `/api/account/team/${await disabled(await mate())}/enable`),
  ],
  setOwnerInTeam: [
    'person.owner',
    async () => ask('POST', `/api/account/team/${await mate()}/owner`, { owner: true }),
  ],
  changeRetention: [
    'account.keeping',
    () => ask('PUT', '/api/account/retention', { attempts: 30, events: null, texts: null }),
  ],
  exportOwnAccount: ['account.exported', () => ask('POST', '/api/account/export')],
  eraseOwnAccount: [
    'account.erasing',
    async () => {
      const { call: own, account } = await createPerson(server, { role: 'customer' });
      return own('POST', '/api/account/erase', { username: account!.username });
    },
  ],
  testCallbackUrl: [
    'callback.tested',
    () => ask('POST', '/api/account/deliveries/test', { url: `${receiver.url}/` }),
  ],
  replayOwnDelivery: [
    'delivery.replayed',
    async () => ask('POST', `/api/account/deliveries/${await delivered()}/replay`),
  ],
  replayOwnDeliveries: [
    'deliveries.replayed',
    async () => {
      await owner.query(`update deliveries set status = 'dead' where delivery_id = $1`, [await delivered()]);
      return ask('POST', '/api/account/deliveries/replay', {
        environment: 'production',
        since: '2020-01-01',
      });
    },
  ],
  invitePerson: [
    'person.link',
    () => operate('POST', '/api/console/people', { email: 'new@example.com', role: 'editor' }),
  ],
  changePerson: [
    'person.review_share',
    async () => operate('PATCH', `/api/console/people/${await another()}`, { review_share: 10 }),
  ],
  linkForPerson: ['person.link', async () => operate('POST', `/api/console/people/${await another()}/link`)],
  suspendAccount: [
    'account.suspended',
    async () => operate('POST', `/api/console/accounts/${(await server.createAccount()).username}/suspend`),
  ],
  resumeAccount: [
    'account.resumed',
    async () => operate('POST', `/api/console/accounts/${await suspended()}/resume`),
  ],
  disablePerson: [
    'person.disabled',
    async () => operate('POST', `/api/console/people/${await another()}/disable`),
  ],
  enablePerson: [
    'person.enabled',
    async () => operate('POST', `/api/console/people/${await disabled(await another())}/enable`),
  ],
  grantSandbox: [
    'sandbox.granted',
    async () => operate('POST', `/api/console/sandbox-requests/${await requestedSandbox()}/grant`),
  ],
  refuseSandbox: [
    'sandbox.refused',
    async () => operate('POST', `/api/console/sandbox-requests/${await requestedSandbox()}/refuse`),
  ],
  createAccount: ['account.created', () => operate('POST', '/api/console/accounts', { username: 'made' })],
  changeAccount: [
    'account.changed',
    async () => {
      const { version } = (await operate('GET', who)).body;
      return operate('PATCH', who, { version, credit_limit: 5 });
    },
  ],
  makeAccountKey: ['key.made', () => operate('POST', `${who}/keys`, { name: 'x', environment: 'sandbox' })],
  revokeAccountKey: [
    'key.revoked',
    async () => {
      const { key_id } = (await operate('POST', `${who}/keys`, { name: 'x', environment: 'sandbox' })).body;
      return operate('DELETE', `${who}/keys/${key_id}`);
    },
  ],
  moveMoney: [
    'money.top_up',
    () =>
      operate(
        'POST',
        `${who}/transfers`,
        { kind: 'top_up', environment: 'production', cents: 5, memo: 'a present' },
        { 'idempotency-key': 'once' },
      ),
  ],
  setPrice: ['price.set', setPrice],
  endPrice: [
    'price.ended',
    async () => {
      await setPrice();
      return operate('POST', '/api/console/prices/end', { ...PAIR, tier: 'human' });
    },
  ],
  beginBrand: ['brand.begun', () => operate('POST', `${who}/brands`, { external_id: 'begun' })],
  removeBrand: ['brand.removed', async () => operate('DELETE', await begun())],
  changeBrandDraft: [
    'brand.draft_changed',
    async () => operate('PATCH', `${await begun()}/draft`, { revision: 1, name: 'Other' }),
  ],
  discardBrandDraft: ['brand.draft_discarded', async () => operate('DELETE', `${await begun()}/draft`)],
  publishBrand: [
    'brand.published',
    async () => operate('POST', `${await begun()}/publish`, { revision: 1, anyway: true }),
  ],
  editTerms: [
    'brand.draft_changed',
    async () => operate('POST', `${await begun()}/terms`, { revision: 1, language: 'es', put: [TERM] }),
  ],
  importTerms: [
    'brand.draft_changed',
    async () =>
      operate('POST', `${await begun()}/import`, {
        revision: 1,
        language: 'es',
        mode: 'merge',
        dry_run: false,
        text: 'source,target\nhouse,casa\n',
      }),
  ],
  answerOwnQuery: [
    'query.answered',
    async () => {
      const other = await createPerson(server, { role: 'editor', languages: ['en:es'] });
      const { task } = (await other.call('POST', '/api/editing/claims', { task: await taskOf() })).body;
      const asked = { token: task.lease.token, position: 0, question: 'Which house?' };
      const { body } = await other.call('POST', `/api/editing/tasks/${task.task}/queries`, asked);
      return ask('POST', `/api/account/queries/${body.query}/answer`, { answer: 'The red one.' });
    },
  ],
  takeProposal: [
    'term.taken',
    async () => ask('POST', `/api/account/proposals/${await proposed('door')}/take`),
  ],
  declineProposal: [
    'term.declined',
    async () => ask('POST', `/api/account/proposals/${await proposed('gate')}/decline`),
  ],
  switchPair: ['pair.disabled', () => operate('PUT', '/api/console/pairs/en/cy', { enabled: false })],
  setRoute: ['route.set', () => operate('PUT', '/api/console/routes', ROUTE)],
  removeRoute: [
    'route.removed',
    async () => {
      await operate('PUT', '/api/console/routes', ROUTE);
      return operate('DELETE', '/api/console/routes', ROUTE);
    },
  ],
  cancelConsoleJob: [
    'job.canceled',
    async () => operate('POST', `${who}/jobs/${await jobOf(await orderEdit(call, 'A job.\n'))}/cancel`),
  ],
  redraftConsoleJob: [
    'job.redrafted',
    async () =>
      operate('POST', `${who}/jobs/${await jobOf(await orderEdit(call, 'Once more.\n'))}/redraft`, {}),
  ],
  retryConsoleJob: [
    'job.retried',
    async () => {
      const job = await jobOf(await orderEdit(call, 'A job that waits.\n'));
      await owner.query(
        `update jobs set status = 'new', due_at = now() + interval '1 day', lease_token = null where job_id = $1`,
        [job],
      );
      return operate('POST', `${who}/jobs/${job}/retry`);
    },
  ],
  replayAccountDeliveries: [
    'deliveries.replayed',
    async () => {
      await owner.query(`update deliveries set status = 'dead' where delivery_id = $1`, [await delivered()]);
      return operate('POST', '/api/console/deliveries/replay', {
        account: customer.account!.username,
        environment: 'production',
        since: '2020-01-01',
      });
    },
  ],
  replayAccountDelivery: [
    'delivery.replayed',
    async () => operate('POST', `/api/console/deliveries/${await delivered()}/replay`),
  ],
  importOwnMemory: [
    'memory.imported',
    () => ask('POST', '/api/account/memory/import', { from: 'en', to: 'es', tmx: TMX }),
  ],
  withdrawOwnMemory: [
    'memory.withdrawn',
    async () => ask('POST', `/api/account/memory/${await toTouch('withdraw')}/withdraw`),
  ],
  restoreOwnMemory: [
    'memory.restored',
    async () => ask('POST', `/api/account/memory/${await toTouch('restore')}/restore`),
  ],
  importAccountMemory: [
    'memory.imported',
    () => operate('POST', `${who}/memory/import`, { from: 'en', to: 'es', tmx: TMX }),
  ],
  withdrawAccountMemory: [
    'memory.withdrawn',
    async () => operate('POST', `${who}/memory/${await toTouch('withdraw')}/withdraw`),
  ],
  undoAccountVote: ['vote.undone', async () => operate('POST', `${who}/votes/${await voted()}/undo`)],
  makeAccountRule: [
    'rule.made',
    async () => {
      const { path, text } = await disputed();
      return operate('PUT', `${who}${path}`, text);
    },
  ],
  endAccountRule: [
    'rule.ended',
    async () => {
      const { path, text } = await disputed();
      await operate('PUT', `${who}${path}`, text);
      return operate('DELETE', `${who}${path}?rule=${text.hash}`);
    },
  ],
  makeOwnRule: [
    'rule.made',
    async () => {
      const { path, text } = await disputed();
      return ask('PUT', `/api/account${path}`, text);
    },
  ],
  endOwnRule: [
    'rule.ended',
    async () => {
      const { path, text } = await disputed();
      await ask('PUT', `/api/account${path}`, text);
      return ask('DELETE', `/api/account${path}?rule=${text.hash}`);
    },
  ],
  undoOwnVote: ['vote.undone', async () => ask('POST', `/api/account/votes/${await voted()}/undo`)],
  restoreAccountMemory: [
    'memory.restored',
    async () => operate('POST', `${who}/memory/${await toTouch('restore')}/restore`),
  ],
};

const changing = async (): Promise<string[]> =>
  Object.values((await describeApp('web')).paths).flatMap((operations) =>
    Object.entries(operations).flatMap(([method, operation]) =>
      method === 'get' ? [] : [operation!.operationId],
    ),
  );

describe('the audit', () => {
  it('is tested for every operation that changes data', async () => {
    expect((await changing()).toSorted()).toEqual(
      [...Object.keys(AUDITED), ...Object.keys(UNAUDITED)].toSorted(),
    );
  });

  it.each(Object.entries(AUDITED))(
    'gets an entry when the operation %s is called',
    async (_, [action, run]) => {
      const answer = await run();
      expect(answer.status, answer.text).toBeLessThan(300);
      // Accounts are erased in the background, so the entry about the end of an erasure may come at any time.
      const { rows } = await owner.query(
        `select action, actor, name, detail from audit where action <> 'account.erased' order by audit_id desc limit 1`,
      );
      expect(rows[0].action).toBe(action);
      // Operations with a link have no session, so the audit names the program as their actor.
      expect(rows[0].actor).toBe(action === 'key.made' && answer.body?.webhook_secret ? 'program' : 'person');
      expect(JSON.stringify(rows[0])).not.toMatch(/dgm_|whsec_|One house|Casa\./);
    },
  );

  it('gets no entry when an operation changes nothing', async () => {
    const count = async () => (await owner.query('select count(*)::int as n from audit')).rows[0].n;
    const path = await begun();
    const before = await count();
    await operate('POST', `${path}/import`, {
      revision: 1,
      language: 'es',
      mode: 'merge',
      dry_run: true,
      text: 'source,target\nhouse,casa\n',
    });
    await operate('POST', '/api/console/prices', {
      ...PAIR,
      tier: 'human',
      cents_per_word: 3,
      dry_run: true,
    });
    await ask('POST', '/api/account/memory/import', { from: 'en', to: 'es', tmx: TMX, dry_run: true });
    await operate('POST', '/api/console/engines/fake/test', { ...PAIR, text: 'One house.' });
    await editNext(editor);
    expect(await count()).toBe(before);
  });

  it('gets only one entry when the same change is repeated', async () => {
    const since = (await owner.query('select audit_id as last from audit order by audit_id desc limit 1'))
      .rows[0].last;
    const user = await mate();
    for (const path of ['disable', 'disable', 'enable', 'enable']) {
      await ask('POST', `/api/account/team/${user}/${path}`);
    }
    for (const is of [true, true, false, false]) {
      await ask('POST', `/api/account/team/${user}/owner`, { owner: is });
    }
    const path = await begun();
    await operate('POST', `${path}/publish`, { revision: 1, anyway: true });
    await operate('PATCH', `${path}/draft`, { revision: 0, name: 'Other' });
    const { draft, published } = (await operate('GET', path)).body;
    await operate('PATCH', `${path}/draft`, { revision: draft.revision, name: published.name });
    await operate('POST', `${path}/publish`, { revision: draft.revision + 1, anyway: true });
    const leaving = await createPerson(server, { role: 'customer' });
    const { username } = leaving.account!;
    const erase = () => leaving.call('POST', '/api/account/erase', { username });
    await Promise.all([erase(), erase(), erase()]);
    const { rows } = await owner.query(
      `select action from audit where audit_id > $1 and action not in ('person.made', 'account.created') order by audit_id`,
      [since],
    );
    expect(rows.map(({ action }) => action).filter((action) => action !== 'account.erased')).toEqual([
      'person.disabled',
      'person.enabled',
      'person.owner',
      'person.owner',
      'brand.begun',
      'brand.published',
      'brand.draft_changed',
      'brand.draft_changed',
      'brand.draft_discarded',
      'account.erasing',
    ]);
  });
});
