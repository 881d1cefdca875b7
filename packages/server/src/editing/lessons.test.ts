/**
 * Tests of what a job teaches, over HTTP: nothing if it was canceled, otherwise its texts under the brand and in the tone
 * with which it was translated.
 */
import type pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { accountNamed } from '../access/accounts.ts';
import type { AccountRef } from '../base/account.ts';
import { removeBrand, saveBrand } from '../brands/brands.ts';
import {
  claimJob,
  confirm,
  expireDeadline,
  HUMAN,
  orderEdit,
  pathOf,
  votesSettled,
} from '../testing/editors.ts';
import {
  createClient,
  createPerson,
  startTestServer,
  type TestPerson,
  type TestServer,
  until,
  waitForStatus,
} from '../testing/harness.ts';

const MACHINE = '/tapi/v2/mt_translation/';
const TEXT = 'The river is deep.';
const DRAFT = 'THE RIVER IS DEEP.';
const TARGET = 'El río es hondo, señor.';

let server: TestServer;
let owner: pg.Client;
let call: ReturnType<typeof createClient>;
let username: string;
let ref: AccountRef;
let ann: TestPerson;

beforeAll(async () => {
  server = await startTestServer({ settings: { DRAGOMAN_EDITOR_TASKS: '40' } });
  owner = await server.connectOwner();
  ann = await createPerson(server, { role: 'editor', languages: ['en:es'] });
  await owner.query('update users set review_share = 0');
});
beforeEach(async () => {
  const account = await server.createAccount({ balanceCents: 100_000 });
  username = account.username;
  ({ ref } = await accountNamed(server.database, username));
  call = createClient(server.url, account.production_key);
  await brand('late');
});
afterAll(() => server.stop());

async function brand(externalId: string, tone?: 'Formal' | 'Informal'): Promise<void> {
  const languages = new Map(tone === undefined ? [] : [['es', { tone, instructions: undefined, terms: [] }]]);
  const file = { externalId, name: externalId, default: false, languages };
  await saveBrand(server.database, 'command', ref, { ...file, fallback: 'machine' }, false);
}

async function confirmIn(uid: string) {
  const task = await claimJob(ann, uid);
  const saved = await confirm(ann, task, task.segments[0], { target: [{ text: TARGET }] });
  expect(saved.status, saved.text).toBe(200);
  return task;
}

async function segmentOf(uid: string) {
  await votesSettled(owner);
  const { rows } = await owner.query(
    `select s.draft->0->>'text' as draft, s.route from segments s join jobs j using (part, account_id, job_id)
      where j.uid = $1 and j.account_id = $2`,
    [uid, ref.accountId],
  );
  return rows[0];
}

const completed = (path: string) => waitForStatus(call, path);

let jobs = 0;
async function machine(fields: object): Promise<string> {
  const uid = `machine-${++jobs}`;
  const body = { uid, text: TEXT, source_language: 'en', target_language: 'es', ...fields };
  expect((await call('POST', MACHINE, body)).status).toBe(201);
  return (await completed(`${MACHINE}${uid}/`)).translated_text;
}

describe('a canceled job', () => {
  it('teaches no other job', async () => {
    const before = await orderEdit(call, TEXT, { uid: 'before', brand: 'late' });
    const uid = await orderEdit(call, TEXT, { uid: 'canceled', brand: 'late' });
    await confirmIn(uid);
    expect(await segmentOf(before)).toEqual({ draft: TARGET, route: 'memory:vote' });
    expect((await call('DELETE', `${HUMAN}${uid}/`)).status).toBe(200);
    expect(await segmentOf(before)).toMatchObject({ draft: DRAFT });
    await orderEdit(call, TEXT, { uid: 'after', brand: 'late' });
    expect(await segmentOf('after')).toMatchObject({ draft: DRAFT });
    for (const late of ['before', 'after']) {
      const { rows } = await owner.query('select part, job_id from jobs where uid = $1 and account_id = $2', [
        late,
        ref.accountId,
      ]);
      await expireDeadline(owner, rows[0]);
      const body = await completed(`${HUMAN}${late}/`);
      expect(body).toMatchObject({ translated_text: DRAFT, fallback: 'machine', price: 0 });
    }
  });

  it('teaches no other job when it was an upgrade, and shows its text when it is upgraded again', async () => {
    const uid = 'upgraded';
    const body = { uid, text: TEXT, source_language: 'en', target_language: 'es' };
    expect((await call('POST', MACHINE, body)).status).toBe(201);
    await completed(`${MACHINE}${uid}/`);
    const upgrade = { status: 'upgrade', properties: { brand: 'late' } };
    const isOpen = async () => (await call('GET', `${HUMAN}${uid}/`)).body.status === 'translating';
    expect((await call('PATCH', `${MACHINE}${uid}/`, upgrade)).status).toBe(202);
    await until(isOpen);
    await confirmIn(uid);
    expect((await call('DELETE', `${HUMAN}${uid}/`)).status).toBe(200);
    await orderEdit(call, TEXT, { uid: 'after', brand: 'late' });
    expect(await segmentOf('after')).toMatchObject({ draft: DRAFT });
    expect((await call('PATCH', `${MACHINE}${uid}/`, upgrade)).status).toBe(202);
    await until(isOpen);
    const [segment] = (await claimJob(ann, uid)).segments;
    expect(segment).toMatchObject({ status: 'confirmed', target: [{ text: TARGET }] });
  });
});

describe('an upgraded job', () => {
  it('has the translation that the customer has as its draft, whatever the memory learned since', async () => {
    const uid = 'owned';
    const text = `<p>${TEXT} <b>It flows</b> south.</p>\n<p>It flows.</p>`;
    const html = { text_format: 'html', source_language: 'en', target_language: 'es' };
    expect((await call('POST', MACHINE, { uid, text, ...html })).status).toBe(201);
    const { translated_text: result } = await completed(`${MACHINE}${uid}/`);
    expect(result).toContain(DRAFT);
    const taught = await orderEdit(call, TEXT, { uid: 'taught' });
    const task = await confirmIn(taught);
    await ann.call('POST', pathOf(task, '/submit'), { token: task.lease.token });
    await completed(`${HUMAN}${taught}/`);
    expect(await machine({})).toBe(TARGET);

    const upgrade = { status: 'upgrade', properties: { brand: 'late' } };
    const { body: created } = await call('PATCH', `${MACHINE}${uid}/`, upgrade);
    expect(created).not.toHaveProperty('discounts');
    await waitForStatus(call, `${HUMAN}${uid}/`, 'translating');
    const held = await claimJob(ann, uid);
    expect(held.segments[0]).toMatchObject({ origin: 'machine', draft: [{ text: DRAFT }] });
    await ann.call('POST', pathOf(held, '/release'), { token: held.lease.token });
    const { rows } = await owner.query('select part, job_id from jobs where uid = $1 and account_id = $2', [
      uid,
      ref.accountId,
    ]);
    await expireDeadline(owner, rows[0]);
    const delivered = await completed(`${HUMAN}${uid}/`);
    expect(delivered).toMatchObject({ translated_text: result, fallback: 'machine', price: 0 });
  });
});

describe('a job whose brand changes before its delivery', () => {
  const deliver = async (task: { task: string; lease: { token: string } }, uid: string) => {
    await ann.call('POST', pathOf(task, '/submit'), { token: task.lease.token });
    return completed(`${HUMAN}${uid}/`);
  };

  it('is shown and learned in the tone with which it was translated', async () => {
    await brand('house', 'Formal');
    const uid = await orderEdit(call, TEXT, { uid: 'formal', brand: 'house' });
    const task = await confirmIn(uid);
    await brand('house', 'Informal');
    await until(async () => {
      const { rows } = await owner.query('select tone from brand_languages where account_id = $1', [
        ref.accountId,
      ]);
      return rows[0].tone === 'Informal';
    });
    expect((await ann.call('GET', pathOf(task))).body.job).toMatchObject({ tone: 'Formal' });
    await deliver(task, uid);
    expect(await machine({ brand: 'house', tone: 'Informal' })).toBe(DRAFT);
    expect(await machine({ brand: 'house', tone: 'Formal' })).toBe(TARGET);

    // Its corrected text votes in that tone, too.
    expect((await call('POST', `${HUMAN}${uid}/reject/`, { reason: 'Too long.' })).status).toBe(200);
    await orderEdit(call, TEXT, { uid: 'waits', brand: 'house', tone: 'Informal' });
    const drafted = await segmentOf('waits');
    const again = await claimJob(ann, uid);
    const [segment] = again.segments;
    await confirm(ann, again, { ...segment, draft: [{ text: 'El río es hondo.' }] });
    expect(await segmentOf('waits')).toEqual(drafted);
  });

  it('teaches no other brand when its brand was removed', async () => {
    await brand('house');
    const uid = await orderEdit(call, TEXT, { uid: 'removed', brand: 'house' });
    const task = await confirmIn(uid);
    await removeBrand(server.database, 'command', ref, 'house');
    await deliver(task, uid);
    expect(await machine({ brand: 'late' })).toBe(DRAFT);
    expect(await machine({})).toBe(DRAFT);
    // The brand may be made again, and then has its texts.
    await brand('house');
    expect(await machine({ brand: 'house' })).toBe(TARGET);
  });
});
