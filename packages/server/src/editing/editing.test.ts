/** Tests of editing over HTTP, from the customer's request to the delivery. */
import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { accountNamed } from '../access/accounts.ts';
import { saveBrand } from '../brands/brands.ts';
import {
  claimTask,
  confirm,
  confirmAll,
  editNext,
  emptyEditing,
  HUMAN,
  orderEdit,
  pathOf,
  save,
} from '../testing/editors.ts';
import {
  createClient,
  createPerson,
  type Receiver,
  startReceiver,
  startTestServer,
  type TestPerson,
  type TestServer,
  waitForStatus,
} from '../testing/harness.ts';

let server: TestServer;
let receiver: Receiver;
let owner: pg.Client;
let call: ReturnType<typeof createClient>;
let ann: TestPerson;
let bob: TestPerson;
let operator: TestPerson;

beforeAll(async () => {
  receiver = await startReceiver();
  server = await startTestServer({
    settings: { DRAGOMAN_TASK_WORDS: '12', DRAGOMAN_EDITOR_TASKS: '3', DRAGOMAN_EDIT_PAY: '3.5' },
  });
  owner = await server.connectOwner();
  call = createClient(server.url, (await server.createAccount({ balanceCents: 100_000 })).production_key);
  ann = await createPerson(server, { role: 'editor', languages: ['en:es+review'], name: 'Ann' });
  bob = await createPerson(server, { role: 'editor', languages: ['en:es+review'], name: 'Bob' });
  operator = await createPerson(server, { role: 'operator' });
  await owner.query('update users set review_share = 0');
});
afterAll(async () => {
  await server.stop();
  await receiver.close();
});

const done = (uid: string) => waitForStatus(call, `${HUMAN}${uid}/`);

describe('an edited job', () => {
  it('is drafted, edited, submitted and delivered to its customer', async () => {
    const uid = await orderEdit(call, 'The house is big.\nThe garden is small.\n', {
      callback_url: `${receiver.url}/first`,
      instructions: 'Be kind.',
    });
    const queue = (await ann.call('GET', '/api/editing/queue')).body;
    expect(queue).toMatchObject({ pairs: [{ waiting: 1 }], held: [], paused_until: null });
    expect(queue.open[0]).toMatchObject({
      kind: 'edit',
      words: 8,
      segments: 2,
      confirmed: 0,
      urgency: 'normal',
      returned: false,
      uid,
      excerpt: 'The house is big. The garden is small.',
      expected_minutes: 1,
      pay: 28,
    });
    const task = await claimTask(ann);
    expect(task).toMatchObject({
      kind: 'edit',
      status: 'claimed',
      job: { uid, format: 'text', instructions: [{ from: 'job', text: 'Be kind.' }], revision: 1 },
    });
    expect(task.segments.map(({ status, mine, origin }: never) => ({ status, mine, origin }))).toEqual([
      { status: 'open', mine: true, origin: 'machine' },
      { status: 'open', mine: true, origin: 'machine' },
    ]);
    const [first, second] = task.segments;
    const target = [{ text: 'La casa es grande.' }];
    const saved = await save(ann, task, first, { target, active_ms: 1500 });
    expect(saved.body.segment).toMatchObject({ status: 'draft', revision: 1, target });
    const refused = await ann.call('POST', pathOf(task, '/submit'), { token: task.lease.token });
    expect(refused).toMatchObject({
      status: 409,
      body: { error: { code: 'unconfirmed', positions: [0, 1] } },
    });
    const confirmed = await confirm(ann, task, { ...first, revision: 1 }, { target, active_ms: 500 });
    expect(confirmed.body.segment).toMatchObject({ status: 'confirmed', revision: 2, target });
    expect((await ann.call('GET', pathOf(task))).body.active_ms).toBe(2000);
    await confirm(ann, task, second, { target: [{ text: 'El jardín es pequeño.' }] });
    const preview = await ann.call('GET', pathOf(task, '/preview'));
    expect(preview.body.text).toBe('La casa es grande.\nEl jardín es pequeño.\n');
    expect((await call('GET', `${HUMAN}${uid}/`)).body).not.toHaveProperty('translated_text');
    const handed = await ann.call('POST', pathOf(task, '/submit'), { token: task.lease.token });
    expect(handed.body).toEqual({ task: task.task, status: 'submitted' });
    const again = await ann.call('POST', pathOf(task, '/submit'), { token: task.lease.token });
    expect(again.body.status).toBe('submitted');
    const body = await done(uid);
    expect(body.translated_text).toBe('La casa es grande.\nEl jardín es pequeño.\n');
    const callback = await receiver.next(({ path }) => path === '/first');
    expect(JSON.parse(callback.body)).toMatchObject({
      uid,
      status: 'completed',
      translated_text: body.translated_text,
    });
    const { rows } = await owner.query(
      `select active_ms::int, distance > 0 as changed, e.words from edits e join jobs j using (part, account_id, job_id)
        where j.uid = $1 order by position`,
      [uid],
    );
    expect(rows).toEqual([
      { active_ms: 2000, changed: true, words: 4 },
      { active_ms: 0, changed: true, words: 4 },
    ]);
    const { rows: transfers } = await owner.query(
      `select kind from transfers t join jobs j using (part, account_id, job_id) where uid = $1 order by kind`,
      [uid],
    );
    expect(transfers).toEqual([{ kind: 'capture' }, { kind: 'hold' }]);
    const { rows: events } = await owner.query(
      `select actor, to_status from job_events e join jobs j using (part, account_id, job_id) where uid = $1 order by event_id`,
      [uid],
    );
    expect(events).toEqual([
      { actor: 'machine', to_status: 'translating' },
      { actor: 'editor', to_status: 'completed' },
    ]);
  });

  it('is divided into tasks of consecutive segments and delivered after the last task is submitted', async () => {
    const uid = await orderEdit(
      call,
      'One is a short line here.\nTwo is a short line here.\nThree is a short line here.\nFour is a short line here.\n',
    );
    const tasks = (await ann.call('GET', '/api/editing/queue')).body.open;
    expect(tasks.map(({ words, segments }: never) => ({ words, segments }))).toEqual([
      { words: 12, segments: 2 },
      { words: 12, segments: 2 },
    ]);
    const first = await claimTask(ann);
    expect(first.segments.map(({ position, mine }: never) => [position, mine])).toEqual([
      [0, true],
      [1, true],
      [2, false],
      [3, false],
    ]);
    const second = await claimTask(bob);
    expect(second.task).not.toBe(first.task);
    expect((await save(ann, first, second.segments[2])).status).toBe(404);
    await confirmAll(ann, first);
    await ann.call('POST', pathOf(first, '/submit'), { token: first.lease.token });
    expect((await call('GET', `${HUMAN}${uid}/`)).body.status).toBe('translating');
    await confirmAll(bob, second);
    await bob.call('POST', pathOf(second, '/submit'), { token: second.lease.token });
    expect((await done(uid)).translated_text.split('\n')).toHaveLength(5);
  });

  it('is delivered unchanged when it has no translatable segment', async () => {
    // The job may be completed before a request sees it as `translating`.
    const job = { uid: 'no-sentence', text: '12 34\n', source_language: 'en', target_language: 'es' };
    expect((await call('POST', HUMAN, job)).status).toBe(201);
    expect((await done(job.uid)).translated_text).toBe('12 34\n');
  });

  it('loses its tasks when the customer cancels it, and its editor gets job_canceled', async () => {
    const uid = await orderEdit(call, 'This one will be taken back.\n');
    const task = await claimTask(ann);
    expect((await call('DELETE', `${HUMAN}${uid}/`)).status).toBe(200);
    for (const answer of [
      await save(ann, task, task.segments[0]),
      await ann.call('POST', pathOf(task, '/heartbeat'), { token: task.lease.token }),
      await ann.call('POST', pathOf(task, '/submit'), { token: task.lease.token }),
      await ann.call('GET', pathOf(task)),
    ]) {
      expect(answer).toMatchObject({ status: 409, body: { error: { code: 'job_canceled' } } });
    }
    const queue = (await ann.call('GET', '/api/editing/queue')).body;
    expect(queue).toMatchObject({ open: [], held: [], pairs: [] });
  });

  it('has each confirmed target copied to segments with the same source that no editor has edited', async () => {
    await orderEdit(call, 'Press it now.\nWait.\nPress it now.\nPress it now.\n');
    const task = await claimTask(ann);
    const [first, , third] = task.segments;
    expect(third.repeats).toBe(0);
    const target = [{ text: 'Pulse el botón ahora.' }];
    const saved = await confirm(ann, task, first, { target });
    expect(saved.body.filled).toMatchObject([
      { position: 2, status: 'confirmed', filled: true, target },
      { position: 3, filled: true, target },
    ]);
    const own = [{ text: 'Apriete el botón ahora.' }];
    await confirm(ann, task, { ...third, revision: 1 }, { target: own });
    const other = [{ text: 'Pulsa el botón ahora.' }];
    const after = await confirm(ann, task, { ...first, revision: 1 }, { target: other });
    expect(after.body.filled.map(({ position }: never) => position)).toEqual([3]);
    await confirmAll(ann, task);
    await ann.call('POST', pathOf(task, '/submit'), { token: task.lease.token });
    await editNext(ann).catch(() => {});
  });
});

describe('an editor who opens a task', () => {
  it('gets the supplied target as the draft', async () => {
    await orderEdit(call, 'The house is big.\nThe door.\n', {
      target_text: 'La casa es grande.\nLa puerta.\n',
    });
    const task = await claimTask(ann);
    expect(task.segments).toMatchObject([
      { origin: 'supplied', draft: [{ text: 'La casa es grande.' }], status: 'open' },
      { origin: 'supplied', draft: [{ text: 'La puerta.' }] },
    ]);
    await confirmAll(ann, task);
    await ann.call('POST', pathOf(task, '/submit'), { token: task.lease.token });
  });

  it('gets the machine translation of an upgraded job, with the instructions of the upgrade', async () => {
    const uid = 'upgraded';
    const machine = '/tapi/v2/mt_translation/';
    const languages = { source_language: 'en', target_language: 'es' };
    await call('POST', machine, { uid, text: 'The tower is high.\n', ...languages });
    await waitForStatus(call, `${machine}${uid}/`);
    const properties = { tone: 'Formal', instructions: 'Be brief.' };
    expect((await call('PATCH', `${machine}${uid}/`, { status: 'upgrade', properties })).status).toBe(202);
    await waitForStatus(call, `${HUMAN}${uid}/`, 'translating');
    const task = await claimTask(ann);
    expect(task.job).toMatchObject({
      uid,
      tone: 'Formal',
      instructions: [{ from: 'job', text: 'Be brief.' }],
    });
    expect(task.segments).toMatchObject([{ origin: 'machine', status: 'open' }]);
    await confirmAll(ann, task);
    await ann.call('POST', pathOf(task, '/submit'), { token: task.lease.token });
    await done(uid);
  });

  it('gets the tone, instructions and terms of the brand, and memory matches', async () => {
    const account = await server.createAccount({ balanceCents: 100_000 });
    const { ref } = await accountNamed(server.database, account.username);
    const terms = [
      { source: 'house', target: 'casa', caseSensitive: false, forbidden: false, doNotTranslate: false },
    ];
    const languages = new Map([['es', { tone: 'Informal' as const, instructions: 'Smile.', terms }]]);
    await saveBrand(
      server.database,
      'command',
      ref,
      { externalId: 'acme', name: 'Acme', default: true, languages },
      false,
    );
    const theirs = createClient(server.url, account.production_key);
    const first = await orderEdit(theirs, 'The house is very big.\n');
    const task = await claimTask(ann);
    expect(task.job).toMatchObject({
      brand: 'Acme',
      tone: 'Informal',
      instructions: [{ from: 'brand', text: 'Smile.' }],
    });
    expect(task.terms).toMatchObject([{ source: 'house', target: 'casa' }]);
    const target = [{ text: 'La casa es muy grande.' }];
    await confirm(ann, task, task.segments[0], { target });
    await ann.call('POST', pathOf(task, '/submit'), { token: task.lease.token });
    await waitForStatus(theirs, `${HUMAN}${first}/`);

    await orderEdit(theirs, 'The house is very big.\nThe house is very old.\nThe door.\n');
    const next = await claimTask(bob);
    expect(next.segments[0]).toMatchObject({ origin: 'memory', draft: target });
    const suggested = (await bob.call('GET', pathOf(next, '/segments/1/matches'))).body;
    expect(suggested.matches).toMatchObject([{ kind: 'fuzzy', target, brand: 'acme' }]);
    expect(suggested.terms).toMatchObject([{ source: 'house' }]);
    expect((await bob.call('GET', pathOf(next, '/segments/2/matches'))).body.terms).toEqual([]);
    const found = (await bob.call('GET', pathOf(next, '/concordance?q=casa'))).body;
    expect(found.entries).toMatchObject([{ target: 'La casa es muy grande.' }]);
    expect((await bob.call('GET', pathOf(next, '/concordance?q='))).status).toBe(400);
    await bob.call('POST', pathOf(next, '/release'), { token: next.lease.token });
  });
});

describe('the preview of an HTML document', () => {
  it('puts HTML comments with a random word around each segment, even if the segment was never saved', async () => {
    await emptyEditing(owner);
    await orderEdit(call, '<h1>The door.</h1><p>The house. <b>The garden.</b></p>', { text_format: 'html' });
    const task = await claimTask(ann);
    await save(ann, task, task.segments[1], { target: [{ text: 'Casa & jardín.' }] });
    const { body } = await ann.call('GET', pathOf(task, '/preview'));
    expect(body.mark).toMatch(/^[0-9a-f]{16}$/);
    const between = (position: number) =>
      body.text.split(`<!--${body.mark} ${position}-->`)[1].split(`<!--/${body.mark} ${position}-->`)[0];
    expect(between(0)).toBe(task.segments[0].draft[0].text);
    expect(between(1)).toBe('Casa &amp; jardín.');
    expect(between(2)).toBe(task.segments[2].draft[0].text);
    expect((await ann.call('GET', pathOf(task, '/preview'))).body.mark).not.toBe(body.mark);
    await ann.call('POST', pathOf(task, '/release'), { token: task.lease.token });
  });
});

describe('the queue', () => {
  it('shows the first words of each task, cut at a space', async () => {
    await emptyEditing(owner);
    await orderEdit(call, `${'A long sentence about {name} and the sea '.repeat(8).trim()}.\n`);
    await orderEdit(call, `${'字'.repeat(150)}.\n`, { uid: 'no-spaces' });
    const { open } = (await ann.call('GET', '/api/editing/queue')).body;
    const [first, second] = open.map(({ excerpt }: { excerpt: string }) => excerpt);
    expect(first).toMatch(/^A long sentence about \{name\} and the sea A long .*\S…$/);
    expect(first.length).toBeLessThanOrEqual(121);
    expect(second).toBe(`${'字'.repeat(120)}…`);
    const { body } = await operator.call('GET', '/api/console/tasks');
    expect(body.tasks[0]).not.toHaveProperty('excerpt');
  });
});

describe('an editing task', () => {
  it('is hidden from editors without its language pair and from customers', async () => {
    await emptyEditing(owner);
    await orderEdit(call, 'Not for everybody to read.\n');
    const other = await createPerson(server, { role: 'editor', languages: ['en:fr'] });
    const customer = await createPerson(server, { role: 'customer' });
    const [open] = (await ann.call('GET', '/api/editing/queue')).body.open;
    expect((await other.call('GET', '/api/editing/queue')).body).toMatchObject({ open: [], pairs: [] });
    expect((await other.call('GET', pathOf(open))).status).toBe(404);
    const refused = await other.call('POST', '/api/editing/claims', { task: open.task });
    expect(refused.status).toBe(404);
    expect((await other.call('POST', '/api/editing/claims', {})).body.error.code).toBe('nothing_waits');
    expect((await customer.call('GET', '/api/editing/queue')).status).toBe(404);
    expect((await ann.call('GET', '/api/console/tasks')).status).toBe(404);
    expect((await operator.call('GET', pathOf(open))).status).toBe(200);
    expect((await other.call('POST', pathOf(open, '/comments'), { text: 'x' })).status).toBe(404);
    await editNext(ann);
  });
});
