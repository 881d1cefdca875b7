/** Tests of joined segments, from the editor's request to the delivery and the memory. */
import { describe, expect, it } from 'vitest';
import {
  claimJob,
  claimTask,
  confirm,
  confirmAll,
  expireClaims,
  HUMAN,
  orderEdit,
  pathOf,
  save,
  startEditing,
  votesSettled,
} from '../../testing/editors.ts';
import { until, waitForStatus } from '../../testing/harness.ts';

const { owner, call, customer, ann, bob, brand } = await startEditing({
  DRAGOMAN_EDITOR_TASKS: '40',
  DRAGOMAN_TASK_WORDS: '60',
});
await brand('late', { fallback: 'machine' });

interface Segment {
  position: number;
  revision: number;
  source: { text: string }[];
  target: { text: string }[] | null;
  draft: { text: string }[];
  status: string;
  joined_to?: number;
  codes: Record<string, string>;
}
type Claimed = Awaited<ReturnType<typeof claimTask>> & { uid: string };

async function claimNew(text: string, fields: object = {}, person = ann): Promise<Claimed> {
  const uid = await orderEdit(call, text, fields);
  return { ...(await claimJob(person, uid)), uid };
}

const segmentsOf = async (task: { task: string }, person = ann): Promise<Segment[]> =>
  (await person.call('GET', pathOf(task))).body.segments;

async function join(task: Claimed, position: number, fields: object = {}, person = ann) {
  const segments = await segmentsOf(task, person);
  const at = segments.findIndex((one) => one.position === position);
  return person.call('POST', pathOf(task, `/segments/${position}/join`), {
    token: task.lease.token,
    revision: segments[at]?.revision ?? 0,
    next_revision: segments[at + 1]?.revision ?? 0,
    ...fields,
  });
}

async function separate(task: Claimed, position: number, fields: object = {}) {
  const { revision } = (await segmentsOf(task)).find((one) => one.position === position)!;
  const body = { token: task.lease.token, revision, ...fields };
  return ann.call('POST', pathOf(task, `/segments/${position}/separate`), body);
}

const plain = (pieces: { text?: string }[] | null) => (pieces ?? []).map(({ text = '|' }) => text).join('');

async function deliver(task: Claimed, person = ann): Promise<string> {
  const submitted = await person.call('POST', pathOf(task, '/submit'), { token: task.lease.token });
  expect(submitted.status, submitted.text).toBe(200);
  return delivered(task.uid);
}

const passDeadline = (uid: string) =>
  owner.query(
    `update edited_jobs e set deadline_at = now(), due_at = now() from jobs j
      where j.part = e.part and j.job_id = e.job_id and j.uid = $1`,
    [uid],
  );

const delivered = (uid: string): Promise<string> =>
  until(async () => {
    const { body } = await call('GET', `${HUMAN}${uid}/`);
    return body.status === 'completed' ? body.translated_text : undefined;
  });

const HTML = '<p>The old dog sleeps. <b>The cat &amp; I eat.</b>  Fine.</p>\n<p>Bye &copy; all.</p>';

describe('joined segments', () => {
  it('are edited, confirmed and delivered as one, and the memory learns them as one', async () => {
    const task = await claimNew(HTML, { text_format: 'html' });
    expect(task.segments).toHaveLength(4);
    await save(ann, task, task.segments[1], { target: [{ text: 'El gato y yo comemos.' }] });
    const joined = await join(task, 0);
    expect(joined.status, joined.text).toBe(200);
    const [one] = joined.body.segments;
    expect(joined.body.segments).toHaveLength(1);
    expect(one).toMatchObject({ position: 0, joined_to: 1, status: 'draft', revision: 1, mine: true });
    expect(plain(one.source)).toBe('The old dog sleeps. |The cat & I eat.|');
    expect(plain(one.target)).toMatch(/^.+ \|El gato y yo comemos\.\|$/);
    expect(one.codes).toEqual({ open1: '<b>', close1: '</b>' });
    expect((await segmentsOf(task)).map(({ position }) => position)).toEqual([0, 2, 3]);

    // The checks and the codes are those of the joined source.
    const [open, close] = [{ open: 1 }, { close: 1 }];
    const without = await save(ann, task, one, { status: 'confirmed', target: [{ text: 'Comemos.' }] });
    expect(without.body.error.code).toBe('checks_failed');
    const target = [open, { text: 'El gato y yo' }, close, { text: ' comemos y el perro viejo duerme.' }];
    const saved = await confirm(ann, task, one, { target });
    expect(saved.status, saved.text).toBe(200);
    expect(saved.body.segment).toMatchObject({ status: 'confirmed', joined_to: 1, target });
    // Another tab saves a segment that was joined to the previous one. Its text goes to the history of that segment.
    const apart = await save(ann, task, { ...task.segments[1], revision: 2 }, { status: 'confirmed' });
    expect(apart).toMatchObject({
      status: 409,
      body: { error: { code: 'conflict', segment: { position: 0, joined_to: 1, status: 'confirmed' } } },
    });
    const { body: past } = await ann.call('GET', pathOf(task, '/segments/0/history'));
    expect(past.entries[0]).toMatchObject({ kind: 'left', target: task.segments[1].draft });
    const preview = (await ann.call('GET', pathOf(task, '/preview'))).body;
    expect(preview.text).toContain(`<!--${preview.mark} 0--><b>El gato`);
    expect(preview.text).not.toContain(`${preview.mark} 1-->`);

    const { body: queue } = await ann.call('GET', '/api/editing/queue');
    expect(queue.held.find(({ uid }: Claimed) => uid === task.uid)).toMatchObject({
      segments: 3,
      confirmed: 1,
      words: task.words,
    });
    for (const segment of task.segments.slice(2))
      await confirm(ann, task, segment, { target: segment.source });
    expect(await deliver(task)).toBe(
      '<p><b>El gato y yo</b> comemos y el perro viejo duerme.  Fine.</p>\n<p>Bye &copy; all.</p>',
    );
    const { rows } = await owner.query(
      `select m.source, l.position from memory m join memory_lessons l using (part, account_id, memory_id)
         join jobs j using (part, account_id, job_id) where j.uid = $1 order by l.position`,
      [task.uid],
    );
    expect(rows.map(({ source, position }) => [position, plain(source)])).toEqual([
      [0, 'The old dog sleeps. |The cat & I eat.|'],
      [2, 'Fine.'],
      [3, 'Bye © all.'],
    ]);
  });

  it('neither vote nor fill repeats, and withdraw the votes of their halves', async () => {
    const sources = 'Red birds sing. Blue birds fly.';
    const waiting = await orderEdit(call, 'Red birds sing.\nBlue birds fly.\n');
    const task = await claimNew(`${sources}\nRed birds sing.\n`);
    const votes = async () =>
      (
        await owner.query(
          `select position, withdrawn_at is not null as withdrawn from votes join jobs using (part, account_id, job_id)
            where uid = $1 order by position`,
          [task.uid],
        )
      ).rows;
    const targets = async () =>
      (
        await owner.query(
          `select s.draft, s.route from segments s join jobs using (part, account_id, job_id)
            where uid = $1 order by position`,
          [waiting],
        )
      ).rows;
    await votesSettled(owner);
    const before = await targets();
    await confirm(ann, task, task.segments[0], { target: [{ text: 'Los rojos cantan.' }] });
    await votesSettled(owner);
    expect(plain((await targets())[0].draft)).toBe('Los rojos cantan.');
    expect((await join(task, 0)).status).toBe(200);
    await votesSettled(owner);
    expect(await votes()).toEqual([{ position: 0, withdrawn: true }]);
    expect(await targets()).toEqual(before);
    const [joined, repeat] = await segmentsOf(task);
    const saved = await confirm(ann, task, joined!, { target: [{ text: 'Vuelan y cantan.' }] });
    expect(saved.body.filled).toEqual([]);
    await votesSettled(owner);
    expect(await targets()).toEqual(before);
    expect((await segmentsOf(task))[1]).toEqual(repeat);
    expect((await votes()).filter(({ withdrawn }) => !withdrawn)).toEqual([]);
  });

  it('get their own texts again when they are separated', async () => {
    const task = await claimNew('The sun is hot. The moon is cold. Stars shine.\n');
    await confirm(ann, task, task.segments[1], { target: [{ text: 'La luna es fría.' }] });
    const before = await segmentsOf(task);
    await ann.call('POST', pathOf(task, '/comments'), { text: 'Cold?', position: 1 });
    await ann.call('PUT', pathOf(task, '/segments/1/unsure'), { token: task.lease.token, unsure: true });
    await join(task, 0);
    const [all] = (await join(task, 0)).body.segments;
    expect(all).toMatchObject({ position: 0, joined_to: 2, comments: 1, unsure: true });
    expect(plain(all.source)).toBe('The sun is hot. The moon is cold. Stars shine.');
    expect(plain(all.target)).toContain(' La luna es fría. ');
    const apart = await separate(task, 0);
    expect(apart.status, apart.text).toBe(200);
    const text = ({ position, source, target, draft }: Segment) => [position, source, target ?? draft, draft];
    expect(apart.body.segments.map(text)).toEqual(before.map(text));
    expect(apart.body.segments.map(({ status }: Segment) => status)).toEqual(['draft', 'draft', 'draft']);
    expect((await separate(task, 0)).body.error.code).toBe('conflict');

    // A changed text stays whole, in the first segment.
    const [joined] = (await join(task, 0)).body.segments;
    await save(ann, task, joined, { target: [{ text: 'Sol caliente, luna fría.' }] });
    const { segments } = (await separate(task, 0)).body;
    expect(segments.map(({ target }: Segment) => plain(target))).toEqual(['Sol caliente, luna fría.', '']);
    const unsubmitted = await ann.call('POST', pathOf(task, '/submit'), { token: task.lease.token });
    expect(unsubmitted.body.error).toMatchObject({ code: 'unconfirmed', positions: [0, 1, 2] });
    // A job with an unsure segment would be reviewed.
    const sure = { token: task.lease.token, unsure: false };
    expect((await ann.call('PUT', pathOf(task, '/segments/0/unsure'), sure)).status).toBe(200);
    const texts = ['Sol caliente.', 'Luna fría.', 'Brillan.'];
    for (const [index, segment] of (await segmentsOf(task)).entries()) {
      await confirm(ann, task, segment, { target: [{ text: texts[index]! }] });
    }
    expect(await deliver(task)).toBe('Sol caliente. Luna fría. Brillan.\n');
  });

  it('stay joined when the task is released and another editor claims it', async () => {
    const task = await claimNew('Open the door. Close it.\n');
    await join(task, 0);
    expect((await ann.call('POST', pathOf(task, '/release'), { token: task.lease.token })).status).toBe(200);
    const again = { ...(await claimTask(bob, task.task)), uid: task.uid };
    expect(again.segments).toMatchObject([{ position: 0, joined_to: 1 }]);
    await confirmAll(bob, again);
    expect(await deliver(again, bob)).toMatch(/^.+\n$/);
  });

  const separated: [string, (task: Claimed) => Promise<unknown>][] = [
    [
      'at once',
      async (task) => {
        await join(task, 0);
        await separate(task, 0);
      },
    ],
    [
      'twice',
      async (task) => {
        for (let time = 0; time < 2; time++) {
          await join(task, 0);
          await separate(task, 0);
        }
      },
    ],
    [
      'after their joined text was confirmed',
      async (task) => {
        const [joined] = (await join(task, 0)).body.segments;
        await confirm(ann, task, joined, { target: [{ text: 'Suben y bajan juntos.' }] });
        await separate(task, 0);
      },
    ],
    [
      'after a joined segment was joined with an earlier one',
      async (task) => {
        await join(task, 1);
        await join(task, 0);
        await separate(task, 0);
      },
    ],
  ];
  it.each(separated)('keep the confirmed text of each when they are separated %s', async (_, act) => {
    const task = await claimNew('Birds go up. Fish go down. Cats stay.\n', { brand: 'late' });
    const texts = ['Aves suben.', 'Peces bajan.', 'Gatos se quedan.'];
    for (const [index, segment] of task.segments.entries()) {
      await confirm(ann, task, segment, { target: [{ text: texts[index]! }] });
    }
    await act(task);
    expect((await segmentsOf(task)).map(({ position }) => position)).toEqual([0, 1, 2]);
    const { body } = await ann.call('GET', pathOf(task, '/segments/0/history'));
    expect(body.entries.map(({ by }: { by: string }) => by)).toContain('Ann');
    await ann.call('POST', pathOf(task, '/release'), { token: task.lease.token });
    await passDeadline(task.uid);
    expect(await delivered(task.uid)).toBe(`${texts.join(' ')}\n`);
    expect((await call('GET', `${HUMAN}${task.uid}/`)).body).not.toHaveProperty('fallback');
  });

  it('keep the late text of a part in the history of the joined segment', async () => {
    const task = await claimNew('The bell rings. The dog barks. We wake.\n');
    await expireClaims(owner, { task: task.task });
    const next = { ...(await claimTask(bob, task.task)), uid: task.uid };
    const [joined] = (await join(next, 0, {}, bob)).body.segments;
    // The revision of the late text is the one that the joined segment has now.
    const late = { ...task.segments[1], revision: joined.revision };
    const saved = await save(ann, task, late, { target: [{ text: 'Ladra el perro.' }] });
    expect(saved.body.error).toMatchObject({ code: 'stale_lease', kept: 'history' });
    const { body } = await bob.call('GET', pathOf(next, '/segments/0/history'));
    expect(body.entries).toMatchObject([{ kind: 'left', by: 'Ann', target: [{ text: 'Ladra el perro.' }] }]);
    expect((await segmentsOf(next, bob))[0]).toMatchObject({ target: joined.target });

    await bob.call('POST', pathOf(next, '/release'), { token: next.lease.token });
    const later = await save(ann, task, late, { target: [{ text: 'Ladra otra vez.' }] });
    expect(later.body.error).toMatchObject({ code: 'stale_lease', kept: 'history' });
    const again = await claimTask(bob, task.task);
    expect(again.segments[0]).toMatchObject({ joined_to: 1, target: joined.target });
  });

  it('stay joined, with their confirmed text, when an upgrade is canceled and repeated', async () => {
    const machine = '/tapi/v2/mt_translation/';
    const uid = 'joined-upgrade';
    const text = 'The kettle boils. The toast burns. Breakfast is late.';
    await call('POST', machine, { uid, text, source_language: 'en', target_language: 'es' });
    const isNow = (path: string, status: string) => waitForStatus(call, `${path}${uid}/`, status);
    const upgrade = async (): Promise<Claimed> => {
      await isNow(machine, 'completed');
      const body = { status: 'upgrade', properties: { brand: 'late' } };
      expect((await call('PATCH', `${machine}${uid}/`, body)).status).toBe(202);
      await isNow(HUMAN, 'translating');
      return { ...(await claimJob(ann, uid)), uid };
    };
    const first = await upgrade();
    const [, , third] = first.segments;
    await confirm(ann, first, third, { target: [{ text: 'Desayunamos tarde.' }] });
    const [joined] = (await join(first, 0)).body.segments;
    await confirm(ann, first, joined, { target: [{ text: 'Hierve el agua y se quema el pan.' }] });
    expect((await call('DELETE', `${HUMAN}${uid}/`)).status).toBe(200);

    const second = await upgrade();
    expect(second.segments).toMatchObject([
      { position: 0, joined_to: 1, status: 'confirmed' },
      { position: 2, status: 'confirmed' },
    ]);
    await ann.call('POST', pathOf(second, '/release'), { token: second.lease.token });
    await passDeadline(uid);
    expect(await delivered(uid)).toBe('Hierve el agua y se quema el pan. Desayunamos tarde.');
    expect((await call('GET', `${HUMAN}${uid}/`)).body).not.toHaveProperty('fallback');
  });

  it('are delivered at the deadline with the texts that were confirmed before the join', async () => {
    const task = await claimNew('Wash the cup. Dry the cup.\n', { brand: 'late' });
    const texts = ['Lava la taza.', 'Seca la taza.'];
    for (const [index, segment] of task.segments.entries()) {
      await confirm(ann, task, segment, { target: [{ text: texts[index]! }] });
    }
    const [joined] = (await join(task, 0)).body.segments;
    await save(ann, task, joined, { target: [{ text: 'Lava y' }] });
    await ann.call('POST', pathOf(task, '/release'), { token: task.lease.token });
    await passDeadline(task.uid);
    expect(await delivered(task.uid)).toBe('Lava la taza. Seca la taza.\n');
    expect((await call('GET', `${HUMAN}${task.uid}/`)).body).not.toHaveProperty('fallback');
  });
});

describe('a join', () => {
  it('is refused with the reason where segments cannot be joined', async () => {
    const refusal = async (task: Claimed, position = 0) => {
      const refused = await join(task, position);
      expect(refused.status, refused.text).toBe(409);
      expect(refused.body.error).toMatchObject({ code: 'not_joinable' });
      return refused.body.error.reason;
    };
    const lines = await claimNew('A tree grows.\nA leaf falls. A twig breaks.\n');
    expect(await refusal(lines)).toBe('paragraph');
    expect(await refusal(lines, 2)).toBe('paragraph');
    const asked = { token: lines.lease.token, position: 2, question: 'Which twig?' };
    await ann.call('POST', pathOf(lines, '/queries'), asked);
    expect(await refusal(lines, 1)).toBe('asked');
    const srt = '1\n00:00:01,000 --> 00:00:03,000\nHello there. Good day.\n';
    expect(await refusal(await claimNew(srt, { text_format: 'srt' }))).toBe('subtitles');
    const mrk = (id: number, text: string) => `<mrk mtype="seg" mid="${id}">${text}</mrk>`;
    const xliff = `<xliff version="1.2"><file original="f" source-language="en" target-language="es" datatype="plaintext"><body><trans-unit id="1"><source>One day. Two days.</source><seg-source>${mrk(1, 'One day.')} ${mrk(2, 'Two days.')}</seg-source></trans-unit></body></file></xliff>`;
    expect(await refusal(await claimNew(xliff, { text_format: 'xliff' }))).toBe('customer');
    const sentence = `Rain ${'falls '.repeat(40).trim()}.`;
    const cut = await claimNew(`${sentence} ${sentence} ${sentence}\n`);
    // Each task has at most 60 words.
    expect(await refusal(cut)).toBe('paragraph');
  });

  it('is refused in a review, and if a segment has changed', async () => {
    const task = await claimNew('Snow melts. Ice breaks.\n');
    await save(ann, task, task.segments[1], { target: [{ text: 'El hielo.' }] });
    const stale = await join(task, 0, { next_revision: 0 });
    expect(stale.body.error).toMatchObject({ code: 'conflict', segment: { position: 0, revision: 0 } });
    expect(await segmentsOf(task)).toHaveLength(2);
    const wrong = await join(task, 0, { token: '00000000-0000-4000-8000-000000000000' });
    expect(wrong.body.error.code).toBe('stale_lease');
    expect((await join(task, 7)).status).toBe(404);
    expect((await join(task, 0)).status).toBe(200);
    await owner.query('update users set review_share = 100 where user_id = $1', [ann.userId]);
    await confirmAll(ann, task);
    await ann.call('POST', pathOf(task, '/submit'), { token: task.lease.token });
    await owner.query('update users set review_share = 0');
    const { body } = await bob.call('GET', '/api/editing/queue');
    const review = body.open.find((one: { uid: string }) => one.uid === task.uid);
    const claimed = { ...(await claimTask(bob, review.task)), uid: task.uid };
    expect(claimed).toMatchObject({ kind: 'review', segments: [{ joined_to: 1, seen: 'unseen' }] });
    const { token } = claimed.lease;
    for (const [name, more] of [
      ['join', { next_revision: 0 }],
      ['separate', {}],
    ] as const) {
      const path = pathOf(claimed, `/segments/0/${name}`);
      expect((await bob.call('POST', path, { token, revision: 2, ...more })).status).toBe(404);
    }
    expect((await bob.call('POST', pathOf(claimed, '/approve'), { token })).status).toBe(200);
    expect(await delivered(task.uid)).toMatch(/\n$/);
  });

  it('keeps the answers of the customer in sight', async () => {
    const task = await claimNew('Take the bus. Get off there.\n');
    const asked = { token: task.lease.token, position: 1, question: 'Where?' };
    const { query } = (await ann.call('POST', pathOf(task, '/queries'), asked)).body;
    await customer.call('POST', `/api/account/queries/${query}/answer`, { answer: 'At the market.' });
    expect((await join(task, 0)).status).toBe(200);
    const { body } = await ann.call('GET', pathOf(task));
    expect(body.queries).toMatchObject([{ position: 0, answer: 'At the market.' }]);
  });
});
