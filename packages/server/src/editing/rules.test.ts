/** Tests of rules: a customer chooses one of several confirmed texts for a source. */
import type pg from 'pg';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { accountNamed } from '../access/accounts.ts';
import type { AccountRef } from '../base/account.ts';
import { saveBrand } from '../brands/brands.ts';
import { createConnection } from '../database/connections.ts';
import { deleteJobTexts } from '../retention/store.ts';
import { claimTask, confirm, emptyEditing, HUMAN, orderEdit, pathOf, save } from '../testing/editors.ts';
import {
  createClient,
  createPerson,
  startTestServer,
  type TestPerson,
  type TestServer,
  until,
} from '../testing/harness.ts';

const LAST_ID = 'ffffffff-ffff-ffff-ffff-ffffffffffff';
const VOTES = '/api/account/votes';
const [HOUSE, HOME] = ['La casa es grande.', 'El hogar es grande.'];

let server: TestServer;
let owner: pg.Client;
let call: ReturnType<typeof createClient>;
let account: AccountRef;
let customer: TestPerson;
let ann: TestPerson;
let bob: TestPerson;

beforeAll(async () => {
  server = await startTestServer({ settings: { DRAGOMAN_EDITOR_TASKS: '9' } });
  owner = createConnection(server.connection);
  await owner.connect();
  const created = await server.createAccount({ balanceCents: 1_000_000 });
  account = (await accountNamed(server.database, created.username)).ref;
  call = createClient(server.url, created.production_key);
  customer = await createPerson(server, { role: 'customer', account: created });
  ann = await createPerson(server, { role: 'editor', languages: ['en:es'] });
  bob = await createPerson(server, { role: 'editor', languages: ['en:es'] });
  await owner.query('update users set review_share = 0');
  for (const votes of ['draft', 'confirm', 'off'] as const) {
    const brand = { externalId: votes, name: votes, default: undefined, languages: new Map() };
    await saveBrand(
      server.database,
      'command',
      account,
      votes === 'draft' ? brand : { ...brand, votes },
      false,
    );
  }
});
beforeEach(() => emptyEditing(owner));
afterAll(async () => {
  await owner.end();
  await server.stop();
});

/** Returns what the only segment of a job holds. */
async function segmentOf(uid: string) {
  const { rows } = await owner.query(
    `select t.task_id, s.draft, s.route, e.status, e.target
       from segments s join jobs j using (part, account_id, job_id)
       join tasks t using (part, account_id, job_id)
       left join edits e using (part, account_id, job_id, position)
      where j.uid = $1`,
    [uid],
  );
  expect(rows).toHaveLength(1);
  return rows[0];
}

const settled = () =>
  until(async () => (await owner.query('select from propagations limit 1')).rowCount === 0);

async function claimed(person: TestPerson, uid: string) {
  const { task_id } = await segmentOf(uid);
  return claimTask(person, task_id);
}

/** Has an editor confirm a text in a new job. @returns the uid and its task */
async function confirmed(person: TestPerson, source: string, text: string, fields: object = {}) {
  const uid = await orderEdit(call, source, fields);
  const task = await claimed(person, uid);
  const saved = await confirm(person, task, task.segments[0], { target: [{ text }] });
  expect(saved.status, saved.text).toBe(200);
  return { uid, task };
}

/** Has an editor confirm a text in a new job and waits for its delivery. @returns the uid */
async function delivered(
  person: TestPerson,
  source: string,
  text: string,
  fields: object = {},
): Promise<string> {
  const { uid, task } = await confirmed(person, source, text, fields);
  await person.call('POST', pathOf(task, '/submit'), { token: task.lease.token });
  await until(async () => (await call('GET', `${HUMAN}${uid}/`)).body.status === 'completed');
  await settled();
  return uid;
}

interface Listed {
  vote: string;
  uid: string;
  source: string;
  target: string;
  ruled_at: string | null;
}

/** Returns the texts of a source that are listed as disputed. */
async function disputed(source: string): Promise<Listed[]> {
  const { body } = await customer.call('GET', `${VOTES}?disputed=true`);
  return body.votes.filter((one: Listed) => one.source === source);
}

async function setRule({ vote }: { vote: string }, rule: boolean): Promise<void> {
  const answer = await customer.call('PUT', `${VOTES}/${vote}/rule`, { rule });
  expect(answer.status, answer.text).toBe(200);
  expect(answer.body).toEqual({ rule });
  await settled();
}

it('a rule replaces the elected text in waiting segments, and later votes do not change it', async () => {
  const source = 'The house on the hill is big.';
  await delivered(ann, source, HOUSE);
  expect(await disputed(source)).toEqual([]);
  await delivered(bob, source, HOME);
  const waits = await orderEdit(call, source);
  const formal = await orderEdit(call, source, { tone: 'Formal' });
  await settled();
  const machine = (await segmentOf(formal)).draft;
  expect(await segmentOf(waits)).toMatchObject({ draft: [{ text: HOUSE }], route: 'memory:vote' });

  const listed = await disputed(source);
  expect(listed).toMatchObject([
    { target: HOUSE, ruled_at: null },
    { target: HOME, ruled_at: null },
  ]);
  const home = listed.find(({ target }) => target === HOME)!;
  await setRule(home, true);
  expect(await segmentOf(waits)).toMatchObject({
    draft: [{ text: HOME }],
    route: 'memory:vote',
    status: null,
  });
  // Another tone has readings of its own.
  expect((await segmentOf(formal)).draft).toEqual(machine);

  await delivered(ann, source, HOUSE);
  await delivered(bob, source, HOUSE);
  expect(await segmentOf(waits)).toMatchObject({ draft: [{ text: HOME }] });
  const later = await orderEdit(call, source);
  await settled();
  expect(await segmentOf(later)).toMatchObject({ draft: [{ text: HOME }], route: 'memory:vote' });
  expect(await disputed(source)).toMatchObject([
    { target: HOUSE, ruled_at: null },
    { target: HOME, vote: home.vote, ruled_at: expect.any(String) },
  ]);

  await setRule(home, true);
  await setRule(home, false);
  await setRule(home, false);
  expect(await segmentOf(waits)).toMatchObject({ draft: [{ text: HOUSE }] });
  const { rows } = await owner.query(
    `select action from audit where action like 'vote.%' and subject = $1 order by audit_id`,
    [home.vote],
  );
  expect(rows).toEqual([{ action: 'vote.ruled' }, { action: 'vote.rule_ended' }]);
});

it('a rule confirms segments only where the brand allows it, and the end of the rule takes that back', async () => {
  const source = 'The house at the lake is big.';
  const waiting = new Map<string, string>();
  for (const brand of ['draft', 'confirm', 'off']) {
    await delivered(ann, source, HOUSE, { brand });
    await delivered(bob, source, HOME, { brand });
    waiting.set(brand, await orderEdit(call, source, { brand }));
  }
  await settled();
  const statesOf = async () => {
    const states = ['draft', 'confirm', 'off'].map(async (brand) => segmentOf(waiting.get(brand)!));
    return (await Promise.all(states)).map(({ draft, status }) => [draft[0].text, status]);
  };
  const before = await statesOf();
  const homes = (await disputed(source)).filter(({ target }) => target === HOME);
  expect(homes).toHaveLength(3);
  for (const one of homes) await setRule(one, true);
  expect(await statesOf()).toEqual([[HOME, null], [HOME, 'confirmed'], before[2]]);
  for (const one of homes) await setRule(one, false);
  expect(await statesOf()).toEqual(before);
});

it('a rule leaves edited segments alone, stays when its job is rejected, and follows the latest choice', async () => {
  const source = 'The house in the wood is big.';
  await delivered(ann, source, HOUSE);
  const ofHome = await delivered(bob, source, HOME);
  const [waits, edited] = [await orderEdit(call, source), await orderEdit(call, source)];
  const task = await claimed(ann, edited);
  const own = [{ text: 'Mi casa es grande.' }];
  expect((await save(ann, task, task.segments[0], { target: own })).status).toBe(200);
  await ann.call('POST', pathOf(task, '/release'), { token: task.lease.token });

  const [house, home] = await disputed(source);
  await setRule(home!, true);
  expect(await segmentOf(edited)).toMatchObject({ status: 'draft', target: own });
  const rejected = await customer.call('POST', `/api/account/jobs/${ofHome}/reject`, { reason: 'Not this.' });
  expect(rejected.status, rejected.text).toBeLessThan(300);
  await settled();
  expect(await segmentOf(waits)).toMatchObject({ draft: [{ text: HOME }] });
  const again = await claimed(bob, ofHome);
  const changed = { ...again.segments[0], draft: again.segments[0].target };
  expect((await confirm(bob, again, changed, { target: [{ text: HOUSE }] })).status).toBe(200);
  await settled();
  expect(await segmentOf(waits)).toMatchObject({ draft: [{ text: HOME }] });

  await setRule(house!, true);
  expect(await segmentOf(waits)).toMatchObject({ draft: [{ text: HOUSE }] });
  expect(await disputed(source)).toMatchObject([
    { target: HOUSE, ruled_at: expect.any(String) },
    { target: HOME, ruled_at: null },
  ]);
});

it('a rule ends when its text is taken back or deleted', async () => {
  const [source, other] = ['The house of stone is big.', 'The house of wood is big.'];
  for (const one of [source, other]) {
    await delivered(ann, one, HOUSE);
    await delivered(bob, one, HOME);
  }
  const waits = await orderEdit(call, source);
  await settled();
  const [, home] = await disputed(source);
  await setRule(home!, true);
  expect((await customer.call('POST', `${VOTES}/${home!.vote}/undo`)).status).toBe(200);
  await settled();
  expect(await segmentOf(waits)).toMatchObject({ draft: [{ text: HOUSE }] });
  expect(await disputed(source)).toEqual([]);
  expect((await customer.call('PUT', `${VOTES}/${home!.vote}/rule`, { rule: true })).status).toBe(404);

  const [, expiring] = await disputed(other);
  await setRule(expiring!, true);
  await server.database.transaction((transaction) => deleteJobTexts(transaction, account, LAST_ID, 0, 100));
  expect(await disputed(other)).toEqual([]);
});

it('only a text of a delivered job of the account becomes a rule', async () => {
  const source = 'The house by the sea is big.';
  const { uid } = await confirmed(ann, source, HOUSE);
  const { rows } = await owner.query(
    'select v.vote_id as vote from votes v join jobs j using (part, account_id, job_id) where j.uid = $1',
    [uid],
  );
  const path = `${VOTES}/${rows[0].vote}/rule`;
  expect((await customer.call('PUT', path, { rule: true })).status).toBe(404);
  const stranger = await createPerson(server, { role: 'customer' });
  await delivered(bob, source, HOME);
  const { votes } = (await customer.call('GET', `${VOTES}?filling=false`)).body;
  const home = votes.find((one: Listed) => one.source === source);
  // The other text is not delivered, so the customer does not see a disagreement.
  expect(await disputed(source)).toEqual([]);
  expect((await stranger.call('PUT', `${VOTES}/${home.vote}/rule`, { rule: true })).status).toBe(404);
  expect((await customer.call('PUT', `${VOTES}/${home.vote}/rule`, {})).status).toBe(400);
  await setRule(home, true);
  expect(await disputed(source)).toMatchObject([{ target: HOME, ruled_at: expect.any(String) }]);
});
