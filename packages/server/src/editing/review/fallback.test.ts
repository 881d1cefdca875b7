/** Tests of the fallback `machine` for jobs past their deadline. Confirmed targets are always delivered. */
import { createFake, type FakeEngine } from '@dragoman/engines/fake';
import type pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { accountNamed } from '../../access/accounts.ts';
import { saveBrand } from '../../brands/brands.ts';
import { findDiscrepancies } from '../../ledger/verify-store.ts';
import {
  claimTask,
  confirm,
  expireClaims,
  expireDeadline,
  HUMAN,
  orderEdit,
  pathOf,
  save,
} from '../../testing/editors.ts';
import {
  createClient,
  createPerson,
  type Receiver,
  startReceiver,
  startTestServer,
  type TestPerson,
  type TestServer,
  until,
  waitForStatus,
} from '../../testing/harness.ts';
import { expectSoundLedger } from '../../testing/ledger.ts';

let server: TestServer;
let engine: FakeEngine;
let receiver: Receiver;
let owner: pg.Client;
let call: ReturnType<typeof createClient>;
let ann: TestPerson;
let rita: TestPerson;
let operator: TestPerson;

beforeAll(async () => {
  receiver = await startReceiver();
  server = await startTestServer({
    engine: () => {
      engine = createFake();
      return engine;
    },
    settings: {
      DRAGOMAN_TASK_WORDS: '4',
      DRAGOMAN_TASK_RESERVED: '4',
      DRAGOMAN_PRICE_HUMAN: '3',
      DRAGOMAN_METRICS_TOKEN: 'secret',
    },
  });
  owner = await server.connectOwner();
  ann = await createPerson(server, { role: 'editor', languages: ['en:es+review'], name: 'Ann' });
  rita = await createPerson(server, { role: 'editor', languages: ['en:es+review'], name: 'Rita' });
  operator = await createPerson(server, { role: 'operator' });
});
// Each test has its own customer, so that the translation memory of one test provides no drafts for the next
// test.
beforeEach(async () => {
  const account = await server.createAccount({ balanceCents: 100_000 });
  const { ref } = await accountNamed(server.database, account.username);
  const brand = { externalId: 'fb', name: 'fb', default: undefined, languages: new Map() };
  await saveBrand(server.database, 'command', ref, { ...brand, fallback: 'machine', votes: 'off' }, false);
  call = createClient(server.url, account.production_key);
});
afterAll(async () => {
  await server.stop();
  await receiver.close();
});

const SOURCE = 'The house is big.\nThe door is red.\n';
const FIRST = [{ text: 'La casa es grande.' }];
const SECOND = [{ text: 'La puerta es roja.' }];
/** The price of two segments of four words each. */
const PRICE = 24;

const read = async (uid: string) => (await call('GET', `${HUMAN}${uid}/`)).body;
const done = (uid: string) =>
  until(async () => ((await read(uid)).status === 'completed' ? read(uid) : undefined));
const order = (fields: object = {}) => orderEdit(call, SOURCE, { brand: 'fb', ...fields });
const NAMED = `job_id = (select job_id from jobs where uid = $1)`;

async function passDeadline(uid: string): Promise<void> {
  const { rows } = await owner.query('select part, job_id from jobs where uid = $1', [uid]);
  await expireDeadline(owner, rows[0]);
}

async function hoursLeft(uid: string): Promise<number> {
  const { rows } = await owner.query(
    `select extract(epoch from deadline_at - now())::float8 / 3600 as hours, due_at = deadline_at as due
       from edited_jobs where ${NAMED}`,
    [uid],
  );
  expect(rows[0].due).toBe(true);
  return rows[0].hours;
}

/** Waits until a job past its deadline has been postponed. @returns the seconds until it is due again */
const putOff = (uid: string) =>
  until(async () => {
    const { rows } = await owner.query(
      `select extract(epoch from due_at - now())::float8 as seconds from edited_jobs where ${NAMED}`,
      [uid],
    );
    return rows[0].seconds > 31 && (rows[0].seconds as number);
  });

const transfers = async (uid: string) =>
  (await owner.query(`select kind from transfers where ${NAMED} order by transfer_id`, [uid])).rows.map(
    ({ kind }) => kind,
  );
const sound = () => expectSoundLedger(server.database);

/** Confirms one segment in the next task and releases or submits the task. */
async function confirmNext(person: TestPerson, target: object, then: 'release' | 'submit') {
  const task = await claimTask(person);
  const segment = task.segments.find(({ mine }: { mine: boolean }) => mine);
  const saved = await confirm(person, task, segment, { target });
  expect(saved.status, saved.text).toBe(200);
  const left = await person.call('POST', pathOf(task, `/${then}`), { token: task.lease.token });
  expect(left.status, left.text).toBe(200);
  return task;
}

/** Submits both tasks and claims the review. */
async function inReview(fields: object = {}) {
  const uid = await order(fields);
  await confirmNext(ann, FIRST, 'submit');
  await confirmNext(ann, SECOND, 'submit');
  return { uid, review: await claimTask(rita) };
}

type Review = Awaited<ReturnType<typeof inReview>>['review'];

async function sendBack(review: Review): Promise<void> {
  const { token } = review.lease;
  const mark = { token, position: 0, category: 'style', severity: 'minor' };
  expect((await rita.call('POST', pathOf(review, '/issues'), mark)).status).toBe(201);
  const back = await rita.call('POST', pathOf(review, '/return'), { token, note: 'A comma.' });
  expect(back.status, back.text).toBe(200);
}

describe('an unconfirmed segment that contains nothing to translate', () => {
  it('does not make the result a fallback when all other segments are confirmed: the job is charged', async () => {
    const kept = 'Привет, как дела? Это довольно длинное предложение на русском языке.';
    const uid = await orderEdit(call, `${SOURCE}${kept}\n`, { brand: 'fb' });
    await confirmNext(ann, FIRST, 'submit');
    await confirmNext(ann, SECOND, 'release');
    await passDeadline(uid);
    const body = await done(uid);
    expect(body).toMatchObject({
      translated_text: `La casa es grande.\nLa puerta es roja.\n${kept}\n`,
      price: PRICE,
    });
    expect(body).not.toHaveProperty('fallback');
    expect(await transfers(uid)).toEqual(['hold', 'capture']);
    await sound();
  });
});

describe('a job that a reviewer returns to its editors', () => {
  it('gets a new deadline if its deadline has passed, and its corrected targets are delivered', async () => {
    const { uid, review } = await inReview();
    await passDeadline(uid);
    await sendBack(review);
    expect(await hoursLeft(uid)).toBeCloseTo(4, 1);
    expect(await read(uid)).toMatchObject({ status: 'translating' });
    const [listed] = (await ann.call('GET', '/api/editing/queue')).body.open;
    expect(Date.parse(listed.deadline)).toBeGreaterThan(Date.now());
    await confirmNext(ann, [{ text: 'La casa, es grande.' }], 'submit');
    const last = await claimTask(rita);
    await rita.call('POST', pathOf(last, '/approve'), { token: last.lease.token });
    const body = await done(uid);
    expect(body).toMatchObject({
      translated_text: 'La casa, es grande.\nLa puerta es roja.\n',
      price: PRICE,
    });
    expect(body).not.toHaveProperty('fallback');
    expect(await transfers(uid)).toEqual(['hold', 'capture']);
    await sound();
  });

  it('gets a new deadline if its deadline is a minute away, but keeps a deadline that is hours away', async () => {
    const { uid, review } = await inReview();
    await owner.query(
      `update edited_jobs set deadline_at = now() + interval '1 min', due_at = now() + interval '1 min' where ${NAMED}`,
      [uid],
    );
    await sendBack(review);
    expect(await hoursLeft(uid)).toBeCloseTo(4, 1);
    const more = await inReview();
    await sendBack(more.review);
    expect(await hoursLeft(more.uid)).toBeGreaterThan(20);
    for (const one of [uid, more.uid]) expect((await call('DELETE', `${HUMAN}${one}/`)).status).toBe(200);
  });

  it('is delivered and charged at the new deadline if nobody corrects it, and can then be rejected', async () => {
    const { uid, review } = await inReview({ callback_url: `${receiver.url}/returned` });
    await sendBack(review);
    await passDeadline(uid);
    const body = await done(uid);
    expect(body).toMatchObject({ translated_text: 'La casa es grande.\nLa puerta es roja.\n', price: PRICE });
    expect(body).not.toHaveProperty('fallback');
    const callback = await receiver.next(({ path }) => path === '/returned');
    expect(JSON.parse(callback.body)).toMatchObject({ price: PRICE, translated_text: body.translated_text });
    expect(await transfers(uid)).toEqual(['hold', 'capture']);
    await sound();
    const rejected = await call('POST', `${HUMAN}${uid}/reject/`, { reason: 'A comma is missing.' });
    expect(rejected.status, rejected.text).toBe(200);

    // An edit that was not submitted does not change the delivered result.
    const task = await claimTask(ann);
    const draft = await save(ann, task, task.segments[0], { target: [{ text: 'Otra cosa.' }] });
    expect(draft.status, draft.text).toBe(200);
    await ann.call('POST', pathOf(task, '/release'), { token: task.lease.token });
    await passDeadline(uid);
    await order().then(async (other) => {
      // Waits until a second late job is delivered: then the fallback has also processed this test's job.
      await passDeadline(other);
      await done(other);
    });
    expect(await read(uid)).toMatchObject({ status: 'rejected', translated_text: body.translated_text });
    await owner.query(
      `update tasks set status = 'canceled', reserved_for = null, reserved_until = null where ${NAMED}`,
      [uid],
    );
  });
});

describe('a job that the fallback delivers', () => {
  it('contains the last confirmed targets, even if they were changed later, and is free of charge', async () => {
    const uid = await order({ callback_url: `${receiver.url}/free` });
    const task = await claimTask(ann);
    const [segment] = task.segments;
    await confirm(ann, task, segment, { target: [{ text: 'La casa es gorda.' }] });
    await confirm(ann, task, { ...segment, revision: 1 }, { target: FIRST });
    const unfinished = await save(ann, task, { ...segment, revision: 2 }, { target: [{ text: 'La ca' }] });
    expect(unfinished.status, unfinished.text).toBe(200);
    await ann.call('POST', pathOf(task, '/release'), { token: task.lease.token });
    await passDeadline(uid);
    const body = await done(uid);
    const text = 'La casa es grande.\nTHE DOOR IS RED.\n';
    expect(body).toMatchObject({ translated_text: text, fallback: 'machine', price: 0 });
    const callback = await receiver.next(({ path }) => path === '/free');
    expect(JSON.parse(callback.body)).toMatchObject({ translated_text: text, fallback: 'machine', price: 0 });
    const list = await call('GET', `${HUMAN}?uid=${uid}`);
    expect(list.body.objects).toMatchObject([{ uid, price: 0 }]);
    expect(await transfers(uid)).toEqual(['hold', 'void']);
    await sound();
  });

  it('is charged when every segment is confirmed, even if the tasks are not submitted', async () => {
    const uid = await order();
    await confirmNext(ann, FIRST, 'release');
    // The queue would offer the same task first again. After skipping this task, the editor gets the other
    // task.
    const task = await claimTask(ann);
    const mine = task.segments.find(({ mine }: { mine: boolean }) => mine);
    const other = (await call('GET', `${HUMAN}${uid}/`)).body;
    expect(other.status).toBe('translating');
    if (mine.position === 0) await ann.call('POST', pathOf(task, '/submit'), { token: task.lease.token });
    await confirmNext(ann, SECOND, 'release');
    await passDeadline(uid);
    const body = await done(uid);
    expect(body).toMatchObject({ translated_text: 'La casa es grande.\nLa puerta es roja.\n', price: PRICE });
    expect(body).not.toHaveProperty('fallback');
    expect(await transfers(uid)).toEqual(['hold', 'capture']);
    await sound();
  });

  it('does not contain an unconfirmed change of a reviewer', async () => {
    const { uid, review } = await inReview();
    const saved = await save(rita, review, review.segments[0], { target: [{ text: 'La ca' }] });
    expect(saved.status, saved.text).toBe(200);
    await rita.call('POST', pathOf(review, '/release'), { token: review.lease.token });
    await passDeadline(uid);
    expect((await done(uid)).translated_text).toBe('La casa es grande.\nLa puerta es roja.\n');
    await sound();
  });

  it('is reported by ledger verification when its charge does not match its outcome', async () => {
    const uid = await order();
    await passDeadline(uid);
    await done(uid);
    await sound();
    const rules = async (sql: string) => {
      await owner.query('begin');
      await owner.query(sql, [uid]);
      const found = await findDiscrepancies({
        query: async ({ text }, values) => (await owner.query(text, values as unknown[])).rows as never,
      });
      await owner.query('rollback');
      return found.filter(({ rule }) => rule === 'end').map(({ detail }) => detail);
    };
    expect(
      await rules(
        `update transfers set kind = 'capture', credit = 'revenue' where kind = 'void' and ${NAMED}`,
      ),
    ).toEqual([`status completed, fell back, price ${PRICE}, ended by capture`]);
    expect(await rules(`update jobs set fell_back = false where uid = $1`)).toEqual([
      `status completed, price ${PRICE}, ended by void`,
    ]);
  });
});

describe('a machine job that is upgraded, canceled and upgraded again', () => {
  it('keeps confirmed targets and reopens its tasks', async () => {
    const uid = 'twice';
    const path = `/tapi/v2/mt_translation/${uid}/`;
    const languages = { source_language: 'en', target_language: 'es' };
    await call('POST', '/tapi/v2/mt_translation/', { uid, text: SOURCE, ...languages });
    await waitForStatus(call, path);
    const upgrade = async (properties: object | null) => {
      const answer = await call('PATCH', path, { status: 'upgrade', properties });
      expect(answer.status, answer.text).toBe(202);
      await until(async () => (await read(uid)).status === 'translating');
    };
    await upgrade(null);
    const held = await claimTask(ann);
    await confirm(ann, held, held.segments[0], { target: FIRST });
    expect((await call('DELETE', `${HUMAN}${uid}/`)).status).toBe(200);
    const late = await save(ann, held, { ...held.segments[0], revision: 1 }, { target: SECOND });
    expect(late.body.error.code).toBe('job_canceled');
    expect((await ann.call('GET', '/api/editing/queue')).body).toMatchObject({ open: [], held: [] });
    const machine = 'THE HOUSE IS BIG.\nTHE DOOR IS RED.\n';
    expect((await call('GET', path)).body).toMatchObject({ status: 'completed', translated_text: machine });

    await upgrade({ brand: 'fb' });
    const again = await claimTask(ann);
    expect(again.segments[0]).toMatchObject({ status: 'confirmed', target: FIRST });
    expect(again.segments[1]).toMatchObject({ status: 'open', target: null });
    await ann.call('POST', pathOf(again, '/release'), { token: again.lease.token });
    await passDeadline(uid);
    const text = 'La casa es grande.\nTHE DOOR IS RED.\n';
    expect(await done(uid)).toMatchObject({ translated_text: text, fallback: 'machine', price: 0 });
    expect(await transfers(uid)).toEqual(['hold', 'void', 'hold', 'void']);
    await sound();
  });

  it('loses the edits of segments when the text is now divided differently', async () => {
    const uid = 'recut';
    const path = `/tapi/v2/mt_translation/${uid}/`;
    const languages = { source_language: 'en', target_language: 'es' };
    await call('POST', '/tapi/v2/mt_translation/', { uid, text: SOURCE, ...languages });
    await waitForStatus(call, path);
    for (const time of [1, 2]) {
      expect((await call('PATCH', path, { status: 'upgrade', properties: { brand: 'fb' } })).status).toBe(
        202,
      );
      await until(async () => (await read(uid)).status === 'translating');
      if (time === 2) break;
      await confirmNext(ann, FIRST, 'release');
      expect((await call('DELETE', `${HUMAN}${uid}/`)).status).toBe(200);
      // Simulates an earlier version of the program that divided the text differently.
      await owner.query(
        `update segments set source = '[{"text": "The house"}]' where ${NAMED} and position = 0`,
        [uid],
      );
    }
    await passDeadline(uid);
    expect((await done(uid)).translated_text).toBe('THE HOUSE IS BIG.\nTHE DOOR IS RED.\n');
    await sound();
  });
});

describe('a late job with a segment that has neither draft nor target', () => {
  const XLIFF = `<?xml version="1.0"?>
<xliff version="1.2" xmlns="urn:oasis:names:tc:xliff:document:1.2"><file source-language="en" target-language="es" datatype="plaintext" original="a"><body>
<trans-unit id="1"><source>The house is big.</source></trans-unit>
<trans-unit id="2"><source>The door is red.</source></trans-unit>
</body></file></xliff>`;
  const supplied = XLIFF.replace(
    'The house is big.</source>',
    'The house is big.</source><target>La casa es grande.</target>',
  );

  async function late(): Promise<string> {
    const uid = await orderEdit(call, XLIFF, { brand: 'fb', text_format: 'xliff', target_text: supplied });
    await passDeadline(uid);
    return uid;
  }
  /** Claims the task of the second segment. */
  async function claimSecond() {
    const { open } = (await ann.call('GET', '/api/editing/queue')).body;
    for (const { task } of open) {
      const { body } = await ann.call('GET', pathOf({ task }));
      if (body.segments.some(({ mine, draft }: { mine: boolean; draft: unknown }) => mine && draft === null))
        return claimTask(ann, task);
    }
    throw new Error('no task without a draft');
  }
  const expectFallback = async (uid: string) => {
    const body = await done(uid);
    expect(body).toMatchObject({ fallback: 'machine', price: 0 });
    expect(body.translated_text).toContain('<target>La casa es grande.</target>');
    expect(body.translated_text).toContain('<target>La puerta es roja.</target>');
    await sound();
  };
  async function supply() {
    const task = await claimSecond();
    const segment = task.segments.find(({ mine }: { mine: boolean }) => mine);
    const saved = await confirm(ann, task, segment, { target: SECOND });
    expect(saved.status, saved.text).toBe(200);
    return task;
  }

  it('is postponed by an hour, and delivered when its editor releases the task', async () => {
    const uid = await late();
    expect(await putOff(uid)).toBeGreaterThan(3_000);
    const task = await supply();
    await ann.call('POST', pathOf(task, '/release'), { token: task.lease.token });
    await expectFallback(uid);
  });

  it('is delivered when the claim on its task expires', async () => {
    const uid = await late();
    await putOff(uid);
    const task = await supply();
    await expireClaims(owner, { task: task.task });
    await expectFallback(uid);
  });

  it('is delivered when its editor submits the task, and when an operator puts the task back into the queue', async () => {
    for (const end of ['submit', 'free'] as const) {
      const uid = await late();
      await putOff(uid);
      const task = await supply();
      const answer =
        end === 'submit'
          ? await ann.call('POST', pathOf(task, '/submit'), { token: task.lease.token })
          : await operator.call('POST', `/api/console/tasks/${task.task}/release`);
      expect(answer.status, answer.text).toBe(200);
      await expectFallback(uid);
    }
  });

  it('is delivered with its source text if it is short enough', async () => {
    engine.failOn('poison', 'garbled');
    const lines = Array.from({ length: 11 }, (_, line) => (line === 4 ? 'A poison.' : `The house ${line}.`));
    const uid = await orderEdit(call, lines.join('\n'), {
      brand: 'fb',
      callback_url: `${receiver.url}/short`,
    });
    engine.failOn(null);
    await passDeadline(uid);
    const body = await done(uid);
    expect(body).toMatchObject({ fallback: 'machine', price: 0, untranslated: 1 });
    expect(body.translated_text).toBe(
      lines.map((one) => (one === 'A poison.' ? one : one.toUpperCase())).join('\n'),
    );
    const callback = await receiver.next(({ path }) => path === '/short');
    expect(JSON.parse(callback.body)).toMatchObject({
      untranslated: 1,
      translated_text: body.translated_text,
    });
    const metrics = await fetch(`${server.url}/metrics`, { headers: { authorization: 'Bearer secret' } });
    expect(await metrics.text()).toMatch(
      /^dragoman_untranslated_segments_total\{of="job",reason="garbled"\} 1$/m,
    );
    await sound();
  });

  it('is delivered after an operator requested a redraft', async () => {
    const uid = await late();
    await putOff(uid);
    const { rows } = await owner.query(
      `select job_id, username from jobs join accounts using (part, account_id) where uid = $1`,
      [uid],
    );
    const path = `/api/console/accounts/${rows[0].username}/jobs/${rows[0].job_id}/redraft`;
    const answer = await operator.call('POST', path, {});
    expect(answer.status, answer.text).toBe(200);
    const body = await done(uid);
    expect(body).toMatchObject({ fallback: 'machine', price: 0 });
    expect(body.translated_text).toContain('<target>THE DOOR IS RED.</target>');
  });
});
