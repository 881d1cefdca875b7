/**
 * Tests of votes: a confirmed text is filled into the waiting segments of other jobs, and into no other
 * segments.
 */
import { beforeEach, describe, expect, it } from 'vitest';
import { removeBrand } from '../../brands/brands.ts';
import {
  claimTask,
  confirm,
  confirmAll,
  emptyEditing,
  HUMAN,
  orderEdit,
  pathOf,
  save,
  startEditing,
  votesSettled,
} from '../../testing/editors.ts';
import { createClient, type TestPerson, waitForStatus } from '../../testing/harness.ts';

const TOKEN = 'a token for the metrics';

const { server, owner, keys, account, call, ann, bob, cy, operator, customer, brand } = await startEditing({
  DRAGOMAN_EDITOR_TASKS: '4',
  DRAGOMAN_TASK_WORDS: '12',
  DRAGOMAN_METRICS_TOKEN: TOKEN,
  DRAGOMAN_SANDBOX_HOLD: '0',
});
const { username } = keys;
await brand('drafts');
await brand('confirms', { votes: 'confirm' });
await brand('keeps', { votes: 'off' });
beforeEach(() => emptyEditing(owner));

interface Segment {
  draft: { text: string }[];
  route: string;
  notes: string[];
  status: string | null;
  target: { text: string }[] | null;
  vote: string | null;
  revision: number | null;
}

async function segmentsOf(uid: string): Promise<Segment[]> {
  const { rows } = await owner.query(
    `select s.draft, s.route, s.notes, e.status, e.target, e.revision, f.vote_id as vote
       from segments s join jobs j using (part, account_id, job_id)
       left join edits e using (part, account_id, job_id, position)
       left join fills f using (part, account_id, job_id, position)
      where j.uid = $1 order by s.position`,
    [uid],
  );
  return rows;
}

async function taskOf(uid: string, index = 0): Promise<string> {
  const { rows } = await owner.query(
    `select t.task_id from tasks t join jobs j using (part, account_id, job_id) where j.uid = $1 order by first_position`,
    [uid],
  );
  return rows[index].task_id;
}

/** Claims a task of a job and confirms its segment at `position` with a text. */
async function vote(person: TestPerson, uid: string, text: string, position = 0, index = 0) {
  const task = await claimTask(person, await taskOf(uid, index));
  const segment = task.segments.find((one: { position: number }) => one.position === position);
  const saved = await confirm(person, task, segment, { target: [{ text }] });
  expect(saved.status, saved.text).toBe(200);
  await votesSettled(owner);
  return task;
}

let texts = 0;
/** Returns a sentence that no other test uses. */
const sentence = () =>
  `The house of ${'abcdefghij'[texts % 10]}${'klmnopqrst'[Math.floor(texts++ / 10)]} is big.`;

describe('a confirmed text', () => {
  it('becomes the draft of every segment with the same reading that no editor has edited or holds', async () => {
    const source = sentence();
    const uids = await Promise.all([1, 2, 3].map(() => orderEdit(call, source)));
    const many = await orderEdit(call, `Something else.\n${source}\n`);
    const before = await segmentsOf(uids[1]!);
    await vote(ann, uids[0]!, 'La casa es grande.');
    for (const uid of [uids[1]!, uids[2]!]) {
      expect(await segmentsOf(uid)).toMatchObject([
        { draft: [{ text: 'La casa es grande.' }], route: 'memory:vote', notes: [], status: null },
      ]);
    }
    const [other, same] = await segmentsOf(many);
    expect(same).toMatchObject({ route: 'memory:vote' });
    expect(other!.vote).toBeNull();
    expect(before[0]!.route).not.toBe('memory:vote');
    const task = await claimTask(bob, await taskOf(uids[1]!));
    expect(task.segments[0]).toMatchObject({
      origin: 'memory',
      route: 'memory:vote',
      status: 'open',
      draft: [{ text: 'La casa es grande.' }],
    });
  });

  it('reaches a job that is drafted later', async () => {
    const source = sentence();
    await vote(ann, await orderEdit(call, source), 'La casa es grande.');
    const later = await orderEdit(call, source);
    await votesSettled(owner);
    expect(await segmentsOf(later)).toMatchObject([{ route: 'memory:vote' }]);
  });

  it('is offered to an editor who holds a segment with the same reading, and shown with the editors who agree', async () => {
    const source = sentence();
    const [from, waits, held] = await Promise.all([1, 2, 3].map(() => orderEdit(call, source)));
    const task = await claimTask(bob, await taskOf(held!));
    expect(task.segments[0]).not.toHaveProperty('vote');
    await vote(ann, from!, 'La casa es grande.');
    const common = { target: [{ text: 'La casa es grande.' }], agree: 1, by: ['Ann'] };
    const next = (await bob.call('GET', pathOf(task))).body.segments[0];
    expect(next.vote).toMatchObject({ ...common, state: 'next' });
    expect(next.vote).not.toHaveProperty('former');
    expect(next.draft).toEqual(task.segments[0].draft);
    const open = await cy.call('GET', pathOf({ task: await taskOf(waits!) }));
    expect(open.body.segments[0]).toMatchObject({ route: 'memory:vote' });
    expect(open.body.segments[0]).not.toHaveProperty('vote');
    const filled = await claimTask(cy, await taskOf(waits!));
    const former = task.segments[0].draft;
    expect(filled.segments[0].vote).toMatchObject({ ...common, state: 'filled', former });
  });

  it('adds its words to those from other jobs on the job’s page, until an editor changes the segment', async () => {
    const source = sentence();
    const [from, to] = await Promise.all([1, 2].map(() => orderEdit(call, source)));
    async function wordsOf(uid: string) {
      const { body } = await customer.call('GET', `/api/account/jobs/${uid}`);
      const job = (await owner.query('select job_id from jobs where uid = $1', [uid])).rows[0].job_id;
      const shown = await operator.call('GET', `/api/console/accounts/${username}/jobs/${job}`);
      expect(shown.body.edited_words).toEqual(body.edited_words);
      return body.edited_words;
    }
    await vote(ann, from!, 'La casa es grande.');
    expect(await wordsOf(from!)).toEqual({ opened: 6, voted: 0 });
    expect(await wordsOf(to!)).toEqual({ opened: 0, voted: 6 });
    const task = await claimTask(bob, await taskOf(to!));
    expect((await confirm(bob, task, task.segments[0])).status).toBe(200);
    expect(await wordsOf(to!)).toEqual({ opened: 6, voted: 6 });
    const now = { ...task.segments[0], revision: 1 };
    const target = [{ text: 'Esta casa es grande.' }];
    expect((await confirm(bob, task, now, { target })).status).toBe(200);
    expect(await wordsOf(to!)).toEqual({ opened: 6, voted: 0 });
  });

  it('does not change a claimed task until the claim ends, and never an edited segment', async () => {
    const source = sentence();
    const [from, held, edited] = await Promise.all([1, 2, 3].map(() => orderEdit(call, source)));
    const [untouched, touched] = [
      await claimTask(bob, await taskOf(held!)),
      await claimTask(bob, await taskOf(edited!)),
    ];
    await save(bob, touched, touched.segments[0], { target: [{ text: 'Mi texto.' }] });
    await vote(ann, from!, 'La casa es grande.');
    expect((await segmentsOf(held!))[0]!.vote).toBeNull();
    for (const { task, lease } of [untouched, touched]) {
      await bob.call('POST', pathOf({ task }, '/release'), { token: lease.token });
    }
    await votesSettled(owner);
    expect(await segmentsOf(held!)).toMatchObject([{ route: 'memory:vote' }]);
    expect(await segmentsOf(edited!)).toMatchObject([
      { vote: null, status: 'draft', target: [{ text: 'Mi texto.' }] },
    ]);
  });

  it('does not reach segments with another brand, tone, language pair or other codes', async () => {
    const source = sentence();
    const others = await Promise.all([
      orderEdit(call, source, { brand: 'drafts' }),
      orderEdit(call, source, { tone: 'Formal' }),
      orderEdit(call, source, { source_language: 'es', target_language: 'en' }),
      orderEdit(call, `<p>${source.replace('big', '<b>big</b>')}</p>`, { text_format: 'html' }),
    ]);
    await vote(ann, await orderEdit(call, source), 'La casa es grande.');
    for (const uid of others) expect((await segmentsOf(uid))[0]!.vote).toBeNull();
  });

  it('does not reach jobs of another account or of the sandbox', async () => {
    const source = sentence();
    const other = await server.createAccount({ balanceCents: 1_000 });
    const uid = await orderEdit(createClient(server.url, other.production_key), source);
    const fields = { uid: 'in-the-sandbox', text: source, source_language: 'en', target_language: 'es' };
    const sandbox = createClient(server.url, keys.sandbox_key);
    expect((await sandbox('POST', `/sandbox${HUMAN}`, fields)).status).toBe(201);
    await vote(ann, await orderEdit(call, source), 'La casa es grande.');
    expect((await segmentsOf(uid))[0]!.vote).toBeNull();
    // The sandbox has no editors, so its jobs have no segments that wait.
    const path = `/sandbox${HUMAN}${fields.uid}/`;
    await waitForStatus(sandbox, path);
    expect(await segmentsOf(fields.uid)).toEqual([]);
    expect((await sandbox('GET', path)).body.translated_text).not.toContain('La casa es grande.');
  });

  it('gets the code numbers of the segment that it fills', async () => {
    const source = sentence().replace('big', '<b>big</b>');
    const html = { text_format: 'html' };
    const from = await orderEdit(call, `<p>${source}</p>`, html);
    const to = await orderEdit(call, `<p><i>One</i> <u>two</u> three.</p><p>${source}</p>`, html);
    const task = await claimTask(ann, await taskOf(from));
    const [segment] = task.segments;
    const codes = segment.source.filter((piece: object) => !('text' in piece));
    const target = [{ text: 'Es ' }, codes[0], { text: 'grande' }, codes[1], { text: '.' }];
    expect((await confirm(ann, task, segment, { target })).status).toBe(200);
    await votesSettled(owner);
    const filled = (await segmentsOf(to)).at(-1)!;
    const { rows } = await owner.query(
      `select s.source from segments s join jobs j using (part, account_id, job_id) where uid = $1 order by position desc`,
      [to],
    );
    const own = rows[0].source.filter((piece: object) => !('text' in piece));
    expect(filled.draft).toEqual([{ text: 'Es ' }, own[0], { text: 'grande' }, own[1], { text: '.' }]);
  });

  it('keeps the address of the segment that it fills, and is confirmed when two editors agree', async () => {
    const addresses = ['https://a.example/1', 'https://b.example/2', 'www.c.example'];
    const uids = await Promise.all(
      addresses.map((address) => orderEdit(call, `See ${address}.`, { brand: 'confirms' })),
    );
    for (const [index, person] of [ann, bob].entries()) {
      const task = await claimTask(person, await taskOf(uids[index]!));
      const [segment] = task.segments;
      const address = segment.source.find((piece: object) => 'keep' in piece);
      const target = [{ text: 'Consulte ' }, address, { text: '.' }];
      expect((await confirm(person, task, segment, { target })).status).toBe(200);
      await votesSettled(owner);
    }
    const [filled] = await segmentsOf(uids[2]!);
    expect(filled).toMatchObject({ status: 'confirmed', route: 'memory:vote' });
    expect(filled!.target!.map(({ text }) => text).join('')).toBe('Consulte www.c.example.');
  });

  it('does not replace a translation that the customer supplied', async () => {
    const source = sentence();
    const own = await orderEdit(call, source, { target_text: 'Mi propia casa es grande.' });
    const before = await segmentsOf(own);
    await vote(ann, await orderEdit(call, source), 'La casa es grande.');
    expect(await segmentsOf(own)).toEqual(before);
    const task = await claimTask(bob, await taskOf(own));
    expect(task.segments[0]).toMatchObject({ origin: 'supplied', vote: { state: 'offered', by: ['Ann'] } });
  });

  it('does not reach jobs of a brand whose votes are switched off', async () => {
    const source = sentence();
    const [from, to] = await Promise.all([1, 2].map(() => orderEdit(call, source, { brand: 'keeps' })));
    await vote(ann, from!, 'La casa es grande.');
    expect((await segmentsOf(to!))[0]!.vote).toBeNull();
  });

  it('does not reach jobs of a brand that was removed after its votes were switched off', async () => {
    const source = sentence();
    await brand('removed', { votes: 'off' });
    const [from, to] = await Promise.all([1, 2].map(() => orderEdit(call, source, { brand: 'removed' })));
    await vote(ann, from!, 'La casa es grande.');
    await removeBrand(server.database, 'command', account, 'removed');
    const task = await claimTask(bob, await taskOf(to!));
    expect(task.segments[0]).not.toHaveProperty('vote');
    await bob.call('POST', pathOf(task, '/release'), { token: task.lease.token });
    await votesSettled(owner);
    expect((await segmentsOf(to!))[0]!.vote).toBeNull();
  });

  it('is not filled in when it contains a forbidden term', async () => {
    const term = {
      source: 'house',
      target: 'casa',
      forbidden: true,
      caseSensitive: false,
      doNotTranslate: false,
    };
    const languages = new Map([['es', { tone: undefined, instructions: undefined, terms: [term] }]]);
    const source = sentence();
    await brand('later');
    const [from, to] = await Promise.all([1, 2].map(() => orderEdit(call, source, { brand: 'later' })));
    await brand('later', { languages });
    await vote(ann, from!, 'La casa es grande.');
    expect((await segmentsOf(to!))[0]!.vote).toBeNull();
    const headers = { authorization: `Bearer ${TOKEN}` };
    const metrics = await fetch(`${server.url}/metrics`, { headers });
    expect(await metrics.text()).toMatch(/dragoman_vote_refusals_total\{why="checks"\} [1-9]/);
  });

  it('does not reach a job under review', async () => {
    await owner.query('update users set review_share = 100 where user_id = $1', [bob.userId]);
    const source = sentence();
    const [from, reviewed] = await Promise.all([1, 2].map(() => orderEdit(call, source)));
    const task = await claimTask(bob, await taskOf(reviewed!));
    await confirmAll(bob, task);
    await bob.call('POST', pathOf(task, '/submit'), { token: task.lease.token });
    await owner.query('update users set review_share = 0');
    const before = await segmentsOf(reviewed!);
    await vote(ann, from!, 'La casa es otra.');
    expect(await segmentsOf(reviewed!)).toEqual(before);
  });
});

describe('a confirmed text in its own job', () => {
  /** Creates a job with three tasks, each of which begins with the same source, at the positions 0, 2 and 4. */
  const orderThree = (source: string, fields = {}) =>
    orderEdit(call, [source, sentence(), source, sentence(), source].join('\n'), fields);
  const first = async (person: TestPerson, task: { task: string }) =>
    (await person.call('GET', pathOf(task))).body.segments.find(({ mine }: { mine: boolean }) => mine);

  it.each([
    ['the editor changes the segment to a draft', 'draft'],
    ['an operator undoes it', 'undo'],
  ])('reaches held and waiting tasks like those of other jobs, until %s', async (_, end) => {
    const uid = await orderThree(sentence());
    const before = await segmentsOf(uid);
    const price = async () => (await call('GET', `${HUMAN}${uid}/`)).body.price;
    const paid = await price();
    const held = await claimTask(bob, await taskOf(uid, 1));
    const own = await vote(ann, uid, 'La casa es grande.');
    const common = { target: [{ text: 'La casa es grande.' }], agree: 1, by: ['Ann'] };
    expect((await first(bob, held)).vote).toMatchObject({ ...common, state: 'next' });
    expect((await segmentsOf(uid))[4]).toMatchObject({ route: 'memory:vote', status: null });
    const later = await claimTask(cy, await taskOf(uid, 2));
    const former = before[4]!.draft;
    expect((await first(cy, later)).vote).toMatchObject({ ...common, state: 'filled', former });

    const other = { ...common, target: [{ text: 'Es una casa grande.' }], state: 'next' };
    const now = { ...own.segments[0], revision: 1 };
    expect((await confirm(ann, own, now, { target: other.target })).status).toBe(200);
    await votesSettled(owner);
    expect((await first(bob, held)).vote).toMatchObject(other);
    expect((await first(cy, later)).vote).toMatchObject(other);
    // Bob refuses the text: the draft is saved as his.
    expect((await save(bob, held, await first(bob, held))).status).toBe(200);
    await cy.call('POST', pathOf(later, '/release'), { token: later.lease.token });
    await votesSettled(owner);
    expect(await segmentsOf(uid)).toMatchObject({
      2: { vote: null, status: 'draft', target: before[2]!.draft },
      4: { draft: other.target, route: 'memory:vote', status: null },
    });
    const job = await customer.call('GET', `/api/account/jobs/${uid}`);
    expect(job.body.edited_words).toEqual({ opened: 6, voted: 0 });

    const votes = `/api/console/accounts/${username}/votes`;
    const named = { uid, target: 'Es una casa grande.', segments: 0 };
    const [listed] = (await operator.call('GET', `${votes}?filling=false`)).body.votes;
    expect(listed).toMatchObject(named);
    expect((await operator.call('GET', votes)).body.votes).not.toContainEqual(listed);
    if (end === 'draft') await save(ann, own, { ...now, revision: 2 });
    else
      expect((await operator.call('POST', `${votes}/${listed.vote}/undo`)).body).toEqual({
        restored: 1,
        kept: [],
      });
    await votesSettled(owner);
    expect((await segmentsOf(uid))[4]).toEqual(before[4]);
    expect(await price()).toBe(paid);
  });

  const term = {
    source: 'house',
    target: 'vivienda',
    forbidden: false,
    caseSensitive: false,
    doNotTranslate: false,
  };
  it.each<[string, object]>([
    ['the brand does not use votes', { brand: 'keeps' }],
    ['the customer supplied the drafts', { target_text: 'Una.\nDos.\nUna.\nTres.\nUna.' }],
    ['the checks refuse the text', { brand: 'terms' }],
  ])('is copied into open tasks, but not into claimed ones, if %s', async (_, fields) => {
    await brand('terms', {
      languages: new Map([['es', { tone: undefined, instructions: undefined, terms: [term] }]]),
    });
    const uid = await orderThree(sentence(), fields);
    await claimTask(bob, await taskOf(uid, 1));
    for (const text of ['La casa es grande.', 'La casa es inmensa.']) {
      const target = [{ text }];
      await vote(ann, uid, text);
      expect(await segmentsOf(uid)).toMatchObject({ 2: { target: null }, 4: { status: 'draft', target } });
    }
  });

  it('is copied into open tasks if engines leave the sentence as it is', async () => {
    const kept = 'Будинок дуже великий.';
    const uid = await orderEdit(call, [kept, sentence(), sentence(), sentence(), kept].join('\n'));
    await vote(ann, uid, 'La casa es grande.');
    expect(await segmentsOf(uid)).toMatchObject({
      4: { status: 'draft', target: [{ text: 'La casa es grande.' }] },
    });
  });

  it.each(['before', 'after'])('stays, whatever editors of other jobs confirm %s it', async (order) => {
    const source = sentence();
    const uid = await orderThree(source);
    const others = [
      await orderEdit(call, source),
      await orderEdit(call, `${source}\n${sentence()}\n${source}`),
    ];
    const disagree = async () => {
      await vote(cy, others[0]!, 'Otra casa.');
      await vote(cy, others[1]!, 'Otra casa.', 2, 1);
    };
    if (order === 'before') await disagree();
    await vote(ann, uid, 'La casa es grande.');
    if (order === 'after') await disagree();
    const draft = [{ text: 'La casa es grande.' }];
    expect(await segmentsOf(uid)).toMatchObject({ 2: { draft, status: null }, 4: { draft, status: null } });
  });

  it('counts words of other jobs when their vote has the text that the own one is withdrawn from', async () => {
    const source = sentence();
    const uid = await orderThree(source);
    const own = await vote(ann, uid, 'La casa es grande.');
    await vote(bob, await orderEdit(call, source), 'La casa es grande.');
    const words = async () =>
      (await customer.call('GET', `/api/account/jobs/${uid}`)).body.edited_words.voted;
    expect(await words()).toBe(0);
    await save(ann, own, { ...own.segments[0], revision: 1 });
    await votesSettled(owner);
    expect(await segmentsOf(uid)).toMatchObject({
      4: { route: 'memory:vote', draft: [{ text: 'La casa es grande.' }] },
    });
    expect(await words()).toBe(12);
  });

  it('stays the text of each editor when two confirm the source at the same moment, and fills waiting tasks', async () => {
    const uid = await orderThree(sentence());
    const texts = [[{ text: 'La casa es grande.' }], [{ text: 'La casa es inmensa.' }]];
    const tasks = [await claimTask(ann, await taskOf(uid)), await claimTask(bob, await taskOf(uid, 1))];
    const saved = await Promise.all(
      [ann, bob].map(async (person, index) =>
        confirm(person, tasks[index], await first(person, tasks[index]), { target: texts[index] }),
      ),
    );
    expect(saved.map(({ status, body }) => [status, body.filled])).toEqual([
      [200, []],
      [200, []],
    ]);
    await votesSettled(owner);
    const [one, , two, , waits] = await segmentsOf(uid);
    expect([one!.target, two!.target]).toEqual(texts);
    // The first segment of a text is a place of its own, so the votes of both places differ.
    expect(waits).toMatchObject({ draft: texts[1], route: 'memory:vote', status: null });
  });
});

describe('votes of several editors', () => {
  it('confirm waiting segments once two editors agree, if the brand’s setting is confirm', async () => {
    const source = sentence();
    const fields = { brand: 'confirms' };
    const [one, two, waits] = await Promise.all([1, 2, 3].map(() => orderEdit(call, source, fields)));
    await vote(ann, one!, 'La casa es grande.');
    expect(await segmentsOf(waits!)).toMatchObject([{ route: 'memory:vote', status: null }]);
    await vote(bob, two!, 'La casa es grande.');
    expect(await segmentsOf(waits!)).toMatchObject([
      { status: 'confirmed', target: [{ text: 'La casa es grande.' }] },
    ]);
    const task = await claimTask(ann, await taskOf(waits!));
    const submitted = await ann.call('POST', pathOf(task, '/submit'), { token: task.lease.token });
    expect(submitted.body.status).toBe('submitted');
  });

  it('leave drafts unconfirmed if the brand’s setting is draft, or if both votes are of one editor', async () => {
    const source = sentence();
    const drafts = await Promise.all([1, 2, 3].map(() => orderEdit(call, source, { brand: 'drafts' })));
    await vote(ann, drafts[0]!, 'La casa es grande.');
    await vote(bob, drafts[1]!, 'La casa es grande.');
    expect(await segmentsOf(drafts[2]!)).toMatchObject([{ route: 'memory:vote', status: null }]);
    const confirms = await Promise.all([1, 2, 3].map(() => orderEdit(call, source, { brand: 'confirms' })));
    await vote(ann, confirms[0]!, 'La casa es grande.');
    await vote(ann, confirms[1]!, 'La casa es grande.');
    expect(await segmentsOf(confirms[2]!)).toMatchObject([{ route: 'memory:vote', status: null }]);
  });

  it.each([
    ['confirm waiting segments', 'the same text', 'La casa es grande.'],
    ['put the earlier text into all waiting segments', 'different texts', 'La casa es inmensa.'],
  ])('%s when both are cast at the same moment, for %s', async (_, what, second) => {
    const source = sentence();
    const orders = [1, 2, 3, 4].map(() => orderEdit(call, source, { brand: 'confirms' }));
    const [one, two, ...waits] = await Promise.all(orders);
    const ofAnn = await claimTask(ann, await taskOf(one!));
    const ofBob = await claimTask(bob, await taskOf(two!));
    const saved = await Promise.all([
      confirm(ann, ofAnn, ofAnn.segments[0], { target: [{ text: 'La casa es grande.' }] }),
      confirm(bob, ofBob, ofBob.segments[0], { target: [{ text: second }] }),
    ]);
    expect(saved.map(({ status }) => status)).toEqual([200, 200]);
    await votesSettled(owner);
    // `elect` compares moments in milliseconds, and ids within one.
    const { rows } = await owner.query(
      `select v.target from votes v join jobs j using (part, account_id, job_id) where j.uid = any($1)
        order by date_trunc('milliseconds', v.voted_at), v.vote_id`,
      [[one, two]],
    );
    expect(rows).toHaveLength(2);
    const { target } = rows[0];
    for (const uid of waits) {
      expect(await segmentsOf(uid)).toMatchObject([
        what === 'the same text' ? { status: 'confirmed', target } : { status: null, draft: target },
      ]);
    }
  });

  it('fill a segment only from votes for its place in the text when the votes differ by place', async () => {
    const source = sentence();
    const [alone, other] = [await orderEdit(call, source), await orderEdit(call, `${source}\nBye.`)];
    const [waitsAlone, waitsFirst, waitsLater] = [
      await orderEdit(call, source),
      await orderEdit(call, `${source}\nThanks.`),
      await orderEdit(call, `Hello.\n${source}`),
    ];
    await vote(ann, alone, 'La casa es grande.');
    expect((await segmentsOf(waitsLater)).at(-1)).toMatchObject({ draft: [{ text: 'La casa es grande.' }] });
    await vote(bob, other, 'Qué casa tan grande.');
    expect(await segmentsOf(waitsAlone)).toMatchObject([{ draft: [{ text: 'La casa es grande.' }] }]);
    expect((await segmentsOf(waitsFirst))[0]).toMatchObject({ draft: [{ text: 'Qué casa tan grande.' }] });
    expect((await segmentsOf(waitsLater)).at(-1)).toMatchObject({ vote: null });
  });
});

describe('a vote is withdrawn', () => {
  it('when the editor changes the segment to a draft: filled segments get their former draft byte for byte', async () => {
    const source = sentence();
    const [from, to] = await Promise.all([1, 2].map(() => orderEdit(call, source)));
    const before = await segmentsOf(to!);
    const task = await vote(ann, from!, 'La casa es grande.');
    expect(await segmentsOf(to!)).not.toEqual(before);
    const saved = await save(ann, task, { ...task.segments[0], revision: 1 }, { target: [{ text: 'No.' }] });
    expect(saved.status).toBe(200);
    await votesSettled(owner);
    expect(await segmentsOf(to!)).toEqual(before);
  });

  it('when the customer rejects the job: segments that it confirmed become drafts again, edited segments stay', async () => {
    const source = sentence();
    const fields = { brand: 'confirms' };
    const [one, two, waits, edited] = await Promise.all(
      [1, 2, 3, 4].map(() => orderEdit(call, source, fields)),
    );
    const before = await segmentsOf(waits!);
    const first = await vote(ann, one!, 'La casa es grande.');
    await vote(bob, two!, 'La casa es grande.');
    expect((await segmentsOf(waits!))[0]!.status).toBe('confirmed');
    const task = await claimTask(cy, await taskOf(edited!));
    const theirs = await confirm(cy, task, task.segments[0], { target: [{ text: 'Otra.' }] });
    await votesSettled(owner);
    await ann.call('POST', pathOf(first, '/submit'), { token: first.lease.token });
    await waitForStatus(call, `${HUMAN}${one}/`);
    expect((await call('POST', `${HUMAN}${one}/reject/`, { reason: 'No.' })).status).toBe(200);
    await votesSettled(owner);
    // The rejection withdrew Ann's vote. Bob and Cy disagree, so the earlier text stays, but as a draft.
    expect(await segmentsOf(waits!)).toMatchObject([{ route: 'memory:vote', status: null }]);
    const bobs = (await bob.call('GET', '/api/editing/queue')).body.held[0];
    const held = await claimTask(bob, bobs.task);
    await save(bob, held, held.segments[0], { target: [{ text: 'No.' }] });
    await save(cy, task, theirs.body.segment, { target: [{ text: 'Otra.' }] });
    await votesSettled(owner);
    expect(await segmentsOf(waits!)).toEqual(before);
    expect(await segmentsOf(edited!)).toMatchObject([{ status: 'draft', target: [{ text: 'Otra.' }] }]);
  });

  it('when the customer rejects the job, until an editor confirms a text again: segments get that text', async () => {
    const source = sentence();
    const [from, other, waits] = await Promise.all(
      [1, 2, 3].map(() => orderEdit(call, source, { brand: 'confirms' })),
    );
    const task = await vote(ann, from!, 'La casa es grande.');
    await ann.call('POST', pathOf(task, '/submit'), { token: task.lease.token });
    await waitForStatus(call, `${HUMAN}${from}/`);
    expect((await segmentsOf(waits!))[0]!.draft).toEqual([{ text: 'La casa es grande.' }]);
    expect((await call('POST', `${HUMAN}${from}/reject/`, { reason: 'No.' })).status).toBe(200);
    await votesSettled(owner);
    expect(await segmentsOf(waits!)).toMatchObject([{ vote: null }]);
    await vote(ann, from!, 'La casa es enorme.');
    expect(await segmentsOf(waits!)).toMatchObject([
      { draft: [{ text: 'La casa es enorme.' }], status: null },
    ]);
    await vote(bob, other!, 'La casa es enorme.');
    expect(await segmentsOf(waits!)).toMatchObject([{ status: 'confirmed' }]);
  });

  it('when a reviewer marks an error in the segment and returns the task; votes of unmarked segments stay', async () => {
    await owner.query('update users set review_share = 100 where user_id = $1', [ann.userId]);
    const [one, two] = [sentence(), sentence()];
    const from = await orderEdit(call, `${one}\n${two}`);
    const [toOne, toTwo] = [await orderEdit(call, one), await orderEdit(call, two)];
    const before = await segmentsOf(toOne);
    const task = await vote(ann, from, 'La casa es grande.');
    const second = await confirm(ann, task, task.segments[1], { target: [{ text: 'La otra.' }] });
    expect(second.status, second.text).toBe(200);
    const review = async () => {
      await ann.call('POST', pathOf(task, '/submit'), { token: task.lease.token });
      const { rows } = await owner.query(
        `select task_id from tasks where kind = 'review' and status = 'open'`,
      );
      return claimTask(cy, rows[0].task_id);
    };
    const first = await review();
    const noted = { token: first.lease.token, note: 'Are you sure?' };
    expect((await cy.call('POST', pathOf(first, '/return'), noted)).status).toBe(200);
    await votesSettled(owner);
    for (const uid of [toOne, toTwo]) {
      expect(await segmentsOf(uid)).toMatchObject([{ route: 'memory:vote' }]);
    }
    // Ann submits the task without a change, and the next reviewer marks the first segment.
    Object.assign(task, await claimTask(ann, task.task));
    const again = await review();
    const { token } = again.lease;
    const mark = { token, position: 0, category: 'accuracy', severity: 'major' };
    expect((await cy.call('POST', pathOf(again, '/issues'), mark)).status).toBe(201);
    expect((await cy.call('POST', pathOf(again, '/return'), { token })).status).toBe(200);
    await owner.query('update users set review_share = 0');
    await votesSettled(owner);
    expect(await segmentsOf(toOne)).toEqual(before);
    expect(await segmentsOf(toTwo)).toMatchObject([{ route: 'memory:vote' }]);
  });
});

it('a reviewer who approves a job confirms waiting segments with the same texts, if the brand’s setting is confirm', async () => {
  await owner.query('update users set review_share = 100 where user_id = $1', [ann.userId]);
  const source = sentence();
  const [from, to] = await Promise.all([1, 2].map(() => orderEdit(call, source, { brand: 'confirms' })));
  const task = await vote(ann, from!, 'La casa es grande.');
  await ann.call('POST', pathOf(task, '/submit'), { token: task.lease.token });
  await owner.query('update users set review_share = 0');
  expect(await segmentsOf(to!)).toMatchObject([{ status: null }]);
  const { rows } = await owner.query(`select task_id from tasks where kind = 'review'`);
  const review = await claimTask(cy, rows[0].task_id);
  const approved = await cy.call('POST', pathOf(review, '/approve'), { token: review.lease.token });
  expect(approved.status, approved.text).toBe(200);
  await votesSettled(owner);
  expect(await segmentsOf(to!)).toMatchObject([{ status: 'confirmed' }]);
});

it('customers see the votes of a job once it is delivered', async () => {
  const source = sentence();
  const [from] = await Promise.all([1, 2].map(() => orderEdit(call, source)));
  const task = await vote(ann, from!, 'La casa es grande.');
  const shown = async () => {
    const lists = ['?filling=false', ''].map((query) => customer.call('GET', `/api/account/votes${query}`));
    return (await Promise.all(lists)).map(({ body }) =>
      body.votes.filter(({ uid }: { uid: string }) => uid === from),
    );
  };
  expect(await shown()).toEqual([[], []]);
  await ann.call('POST', pathOf(task, '/submit'), { token: task.lease.token });
  await waitForStatus(call, `${HUMAN}${from}/`);
  const listed = [{ target: 'La casa es grande.', segments: 1 }];
  expect(await shown()).toMatchObject([listed, listed]);
});

describe('the undo of a vote', () => {
  const votesPath = '/api/console/accounts';

  it('gives untouched segments exactly their former draft, and lists the segments that keep the text because they were edited, held or delivered', async () => {
    const source = sentence();
    const uids = await Promise.all([1, 2, 3, 4, 5].map(() => orderEdit(call, source, { brand: 'confirms' })));
    const [from, waits, edited, held, delivered] = uids as [string, string, string, string, string];
    const before = await segmentsOf(waits);
    await vote(ann, from, 'La casa es grande.');
    const heldTask = await claimTask(cy, await taskOf(held));
    const editedTask = await claimTask(cy, await taskOf(edited));
    const target = [{ text: 'Una casa.' }];
    await save(cy, editedTask, editedTask.segments[0], { target });
    const last = await claimTask(bob, await taskOf(delivered));
    await confirm(bob, last, last.segments[0]);
    await bob.call('POST', pathOf(last, '/submit'), { token: last.lease.token });
    await waitForStatus(call, `${HUMAN}${delivered}/`);
    await votesSettled(owner);
    // Bob has confirmed the text of the vote, so two editors agree.
    expect(await segmentsOf(waits)).toMatchObject([{ status: 'confirmed' }]);
    const listed = (await operator.call('GET', `${votesPath}/${username}/votes`)).body.votes[0];
    expect(listed).toMatchObject({
      uid: from,
      target: 'La casa es grande.',
      editor: 'Ann',
      segments: 4,
      withdrawn_at: null,
    });
    const path = `${votesPath}/${username}/votes/${listed.vote}/undo`;
    const undone = await operator.call('POST', path);
    expect(undone.status, undone.text).toBe(200);
    expect(undone.body.restored).toBe(1);
    const byUid = (one: { uid: string }, two: { uid: string }) => (one.uid < two.uid ? -1 : 1);
    const kept = [
      { uid: edited, position: 0, why: 'edited' },
      { uid: held, position: 0, why: 'held' },
      { uid: delivered, position: 0, why: 'delivered' },
    ];
    expect(undone.body.kept.toSorted(byUid)).toEqual(kept.toSorted(byUid));
    expect(await segmentsOf(waits)).toEqual(before);
    await cy.call('POST', pathOf(heldTask, '/release'), { token: heldTask.lease.token });
    await votesSettled(owner);
    expect(await segmentsOf(held)).toEqual(before);
    const again = await operator.call('POST', path);
    expect(again.body).toMatchObject({ restored: 0, kept: expect.arrayContaining([kept[0], kept[2]]) });
  });

  it('is refused for an unknown vote and for other users', async () => {
    const path = `${votesPath}/${username}/votes/00000000-0000-7000-8000-000000000000/undo`;
    expect((await operator.call('POST', path)).status).toBe(404);
    expect((await ann.call('POST', path)).status).toBe(404);
  });
});
