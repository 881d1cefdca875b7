/** Tests of split segments, from the editor's request to the delivery and the memory. */
import { describe, expect, it } from 'vitest';
import {
  claimJob,
  claimTask,
  confirm,
  confirmAll,
  HUMAN,
  orderEdit,
  pathOf,
  save,
  startEditing,
} from '../../testing/editors.ts';
import { until } from '../../testing/harness.ts';

const { owner, call, ann, bob } = await startEditing({ DRAGOMAN_EDITOR_TASKS: '40' });

type Piece = { text?: string; cut?: number };
interface Segment {
  position: number;
  revision: number;
  source: Piece[];
  target: Piece[] | null;
  draft: Piece[];
  status: string;
}
type Claimed = Awaited<ReturnType<typeof claimTask>> & { uid: string };

async function claimNew(text: string, fields: object = {}, person = ann): Promise<Claimed> {
  const uid = await orderEdit(call, text, fields);
  return { ...(await claimJob(person, uid)), uid };
}

const segmentsOf = async (task: { task: string }, person = ann): Promise<Segment[]> =>
  (await person.call('GET', pathOf(task))).body.segments;

const revisionOf = async (task: Claimed, position: number) =>
  (await segmentsOf(task)).find((one) => one.position === position)?.revision ?? 0;

async function split(task: Claimed, position: number, at: number, fields: object = {}) {
  const body = { token: task.lease.token, revision: await revisionOf(task, position), at, ...fields };
  return ann.call('POST', pathOf(task, `/segments/${position}/split`), body);
}

async function unsplit(task: Claimed, position: number, fields: object = {}) {
  const body = { token: task.lease.token, revision: await revisionOf(task, position), ...fields };
  return ann.call('POST', pathOf(task, `/segments/${position}/unsplit`), body);
}

const plain = (pieces: Piece[] | null) =>
  (pieces ?? []).map(({ text, cut }) => text ?? (cut ? `✂${cut}` : '|')).join('');

async function deliver(task: Claimed): Promise<string> {
  const submitted = await ann.call('POST', pathOf(task, '/submit'), { token: task.lease.token });
  expect(submitted.status, submitted.text).toBe(200);
  return delivered(task.uid);
}

const delivered = (uid: string): Promise<string> =>
  until(async () => {
    const { body } = await call('GET', `${HUMAN}${uid}/`);
    return body.status === 'completed' ? body.translated_text : undefined;
  });

const [red, blue] = ['Red birds sing at noon;', 'blue birds fly by night.'];

describe('a split segment', () => {
  it('is confirmed and delivered as one, and the memory learns it and its parts', async () => {
    const task = await claimNew(`${red} ${blue}\nRain falls.\n`);
    expect(task.segments).toHaveLength(2);
    await save(ann, task, task.segments[0], { target: [{ text: 'Los rojos cantan. Los azules vuelan.' }] });
    const answer = await split(task, 0, red!.length);
    expect(answer.status, answer.text).toBe(200);
    const [segment] = answer.body.segments;
    expect(segment).toMatchObject({ position: 0, status: 'draft', revision: 2 });
    expect(plain(segment.source)).toBe(`${red} ✂1${blue}`);
    expect(plain(segment.target)).toBe('Los rojos cantan. ✂1Los azules vuelan.');
    expect((await segmentsOf(task)).map(({ position }) => position)).toEqual([0, 1]);

    // Without a space before the cut, the delivered text gets one.
    const target = [
      { text: 'Cantan los rojos a mediodía;' },
      { cut: 1 },
      { text: 'vuelan los azules de noche.' },
    ];
    const saved = await confirm(ann, task, segment, { target });
    expect(saved.status, saved.text).toBe(200);
    expect(plain(saved.body.segment.target)).toBe(
      'Cantan los rojos a mediodía; ✂1vuelan los azules de noche.',
    );
    const preview = (await ann.call('GET', pathOf(task, '/preview'))).body;
    expect(preview.text).toMatch(/^Cantan los rojos a mediodía; vuelan los azules de noche\.\n/);
    const { body: queue } = await ann.call('GET', '/api/editing/queue');
    expect(queue.held.find(({ uid }: Claimed) => uid === task.uid)).toMatchObject({
      segments: 2,
      confirmed: 1,
      words: task.words,
    });
    await confirm(ann, task, task.segments[1], { target: [{ text: 'Llueve.' }] });
    expect(await deliver(task)).toBe('Cantan los rojos a mediodía; vuelan los azules de noche.\nLlueve.\n');

    const { rows } = await owner.query(
      `select l.position, m.source, m.target from memory m join memory_lessons l using (part, account_id, memory_id)
         join jobs j using (part, account_id, job_id) where j.uid = $1 order by l.position, length(m.source::text)`,
      [task.uid],
    );
    expect(rows.map(({ position, source, target }) => [position, plain(source), plain(target)])).toEqual([
      [0, red, 'Cantan los rojos a mediodía;'],
      [0, blue, 'vuelan los azules de noche.'],
      [0, `${red} ${blue}`, 'Cantan los rojos a mediodía; vuelan los azules de noche.'],
      [1, 'Rain falls.', 'Llueve.'],
    ]);
    const counted = await owner.query(
      `select sum(edits.words)::integer as words from edits join jobs using (part, account_id, job_id) where uid = $1`,
      [task.uid],
    );
    expect(counted.rows).toEqual([{ words: task.words }]);

    // The same part of another text has a match.
    const other = await claimNew(`Green birds rest all day, and ${blue}\n`);
    const matchesOf = async () =>
      (await ann.call('GET', pathOf(other, '/segments/0/matches'))).body.matches.filter(
        ({ score }: { score: number }) => score === 100,
      );
    expect(await matchesOf()).toEqual([]);
    await split(other, 0, 'Green birds rest all day, and '.length);
    expect(await matchesOf()).toMatchObject([{ part: 2, target: [{ text: 'vuelan los azules de noche.' }] }]);
  });

  it('casts its vote and fills repeats with the whole text', async () => {
    const waiting = await orderEdit(call, 'Old dogs bark; old cats sleep.\n');
    const task = await claimNew(
      'Old dogs bark; old cats sleep.\nWet grass.\nOld dogs bark; old cats sleep.\n',
    );
    await split(task, 0, 'Old dogs bark;'.length);
    const [segment] = await segmentsOf(task);
    const target = [{ text: 'Ladran; ' }, { cut: 1 }, { text: 'duermen.' }];
    const saved = await confirm(ann, task, segment!, { target });
    expect(saved.status, saved.text).toBe(200);
    expect(saved.body.filled).toMatchObject([{ position: 2, target: [{ text: 'Ladran; duermen.' }] }]);
    await until(async () => {
      const { rows } = await owner.query(
        `select s.draft from segments s join jobs using (part, account_id, job_id) where uid = $1`,
        [waiting],
      );
      return plain(rows[0].draft) === 'Ladran; duermen.' ? true : undefined;
    });
    // A split needs a new confirmation, so the vote ends.
    await split(task, 0, 4);
    const { rows } = await owner.query(
      `select withdrawn_at is not null as withdrawn from votes join jobs using (part, account_id, job_id)
        where uid = $1 and position = 0`,
      [task.uid],
    );
    expect(rows).toEqual([{ withdrawn: true }]);
  });

  it('has its former text, byte for byte, when its parts are joined', async () => {
    const html = '<p>The <b>old dog</b> sleeps&nbsp;well;  the {{cat}} eats <i>a lot</i>.</p>';
    const task = await claimNew(html, { text_format: 'html' });
    const stored = async () =>
      (
        await owner.query(
          `select s.source, s.draft, e.target, s.cuts from segments s join jobs using (part, account_id, job_id)
             left join edits e using (part, account_id, job_id, position) where uid = $1`,
          [task.uid],
        )
      ).rows;
    await save(ann, task, task.segments[0], { target: task.segments[0].draft });
    const before = await stored();
    const text = (task.segments[0].source as Piece[]).map((piece) => piece.text ?? '').join('');
    const at = text.indexOf(';') + 1;
    expect((await split(task, 0, at)).status).toBe(200);
    expect((await split(task, 0, text.indexOf('eats'))).status).toBe(200);
    const [segment] = await segmentsOf(task);
    expect(plain(segment!.source)).toMatch(/; ?✂1.*✂2eats/);
    expect((await stored()).map(({ cuts, ...row }) => ({ ...row, cuts: null }))).toEqual(before);
    const whole = await unsplit(task, 0);
    expect(whole.status, whole.text).toBe(200);
    expect(whole.body.segments).toMatchObject([{ position: 0, status: 'draft' }]);
    expect(await stored()).toEqual(before);
    expect((await unsplit(task, 0)).body.error.code).toBe('conflict');
    // The document is copied unchanged if the translation is the source, whether the segment is split or not.
    await split(task, 0, at);
    const [again] = await segmentsOf(task);
    const saved = await confirm(ann, task, again!, { target: again!.source });
    expect(saved.status, saved.text).toBe(200);
    expect(await deliver(task)).toBe(html);
  });

  it('keeps its cuts when a client does not know them, and its text when cuts are lost', async () => {
    const task = await claimNew('Sing a song; dance a dance.\n');
    await split(task, 0, 'Sing a song;'.length);
    const [segment] = await segmentsOf(task);
    const short = await save(ann, task, segment!, { target: [{ text: 'Canta.' }] });
    expect(plain(short.body.segment.target)).toMatch(/^Canta\.✂1$|^Can.*✂1.*$/);
    expect(plain(short.body.segment.target).replace('✂1', '')).toBe('Canta.');
    const swapped = await save(ann, task, short.body.segment, {
      target: [{ cut: 1 }, { text: 'Baila y canta.' }, { cut: 1 }, { cut: 7 }],
    });
    expect(swapped.status, swapped.text).toBe(200);
    expect(plain(swapped.body.segment.target)).toBe('✂1Baila y canta.');
    await confirmAll(ann, task);
    expect(await deliver(task)).toBe('Baila y canta.\n');
    const { rows } = await owner.query(
      'select count(*)::integer as lessons from memory_lessons join jobs using (part, account_id, job_id) where uid = $1',
      [task.uid],
    );
    expect(rows).toEqual([{ lessons: 1 }]);
  });

  it('teaches no part whose tags are in another part of the target', async () => {
    const task = await claimNew('<p>Take the <b>bus</b>; walk on.</p>', { text_format: 'html' });
    await split(task, 0, 'Take the bus;'.length);
    const [segment] = await segmentsOf(task);
    const target = [
      { text: 'Toma el bus; ' },
      { cut: 1 },
      { open: 1 },
      { text: 'camina' },
      { close: 1 },
      { text: '.' },
    ];
    const codes = (segment!.source as { open?: number }[]).find((piece) => piece.open !== undefined)!.open!;
    const numbered = target.map((piece) =>
      'open' in piece ? { open: codes } : 'close' in piece ? { close: codes } : piece,
    );
    const saved = await confirm(ann, task, segment!, { target: numbered });
    expect(saved.status, saved.text).toBe(200);
    expect(await deliver(task)).toBe('<p>Toma el bus; <b>camina</b>.</p>');
    const { rows } = await owner.query(
      'select count(*)::integer as lessons from memory_lessons join jobs using (part, account_id, job_id) where uid = $1',
      [task.uid],
    );
    expect(rows).toEqual([{ lessons: 1 }]);
  });
});

describe('a split', () => {
  it('is refused with the reason where a segment cannot be split', async () => {
    const task = await claimNew('<p>A <b>tall tree</b> grows {{here}}. A leaf falls.</p>', {
      text_format: 'html',
    });
    const reasonOf = async (at: number) => {
      const refused = await split(task, 0, at);
      expect(refused.status, refused.text).toBe(409);
      expect(refused.body.error.code).toBe('not_splittable');
      return refused.body.error.reason;
    };
    expect(await reasonOf(0)).toBe('empty');
    expect(await reasonOf(9_999)).toBe('empty');
    expect(await reasonOf('A tall'.length)).toBe('tags');
    expect(await reasonOf('A tall tree grows {{h'.length)).toBe('tags');
    expect((await split(task, 0, 2)).status).toBe(200);
    expect(await reasonOf(2)).toBe('empty');
    const [first, second] = await segmentsOf(task);
    const body = { token: task.lease.token, revision: first!.revision, next_revision: second!.revision };
    const joined = await ann.call('POST', pathOf(task, '/segments/0/join'), body);
    expect(joined.body.error).toMatchObject({ code: 'not_joinable', reason: 'split' });
    await unsplit(task, 0);
    const { revision } = (await segmentsOf(task))[0]!;
    expect((await ann.call('POST', pathOf(task, '/segments/0/join'), { ...body, revision })).status).toBe(
      200,
    );
    expect(await reasonOf(2)).toBe('joined');

    const words = await claimNew('One two three four five six seven eight nine ten eleven.\n');
    for (const word of ['two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine', 'ten']) {
      const at = 'One two three four five six seven eight nine ten eleven.'.indexOf(word);
      expect((await split(words, 0, at)).status).toBe(200);
    }
    const many = await split(words, 0, 'One two three four five six seven eight nine ten '.length);
    expect(many.body.error).toMatchObject({ code: 'not_splittable', reason: 'many' });
    const [all] = await segmentsOf(words);
    expect(all!.target!.filter(({ cut }) => cut).map(({ cut }) => cut)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9]);
  });

  it('is allowed in subtitles and in segments of the customer', async () => {
    const srt = '1\n00:00:01,000 --> 00:00:03,000\nHello there, good day.\n';
    const subtitles = await claimNew(srt, { text_format: 'srt' });
    expect((await split(subtitles, 0, 'Hello there,'.length)).status).toBe(200);
    const [segment] = await segmentsOf(subtitles);
    await confirm(ann, subtitles, segment!, { target: segment!.source });
    expect(await deliver(subtitles)).toBe(srt);
  });

  it('is refused in a review, without the claim, and if the segment has changed', async () => {
    const task = await claimNew('Snow melts, ice breaks.\n');
    const at = 'Snow melts,'.length;
    const stale = await split(task, 0, at, { revision: 5 });
    expect(stale.body.error).toMatchObject({ code: 'conflict', segment: { position: 0, revision: 0 } });
    const wrong = await split(task, 0, at, { token: '00000000-0000-4000-8000-000000000000' });
    expect(wrong.body.error.code).toBe('stale_lease');
    expect((await split(task, 7, at)).status).toBe(404);
    expect((await split(task, 0, at)).status).toBe(200);
    await owner.query('update users set review_share = 100 where user_id = $1', [ann.userId]);
    await confirmAll(ann, task);
    await ann.call('POST', pathOf(task, '/submit'), { token: task.lease.token });
    await owner.query('update users set review_share = 0');
    const { body } = await bob.call('GET', '/api/editing/queue');
    const review = body.open.find((one: { uid: string }) => one.uid === task.uid);
    const claimed = { ...(await claimTask(bob, review.task)), uid: task.uid };
    expect(plain(claimed.segments[0].source)).toBe('Snow melts, ✂1ice breaks.');
    const { token } = claimed.lease;
    for (const [name, more] of [
      ['split', { at }],
      ['unsplit', {}],
    ] as const) {
      const path = pathOf(claimed, `/segments/0/${name}`);
      expect((await bob.call('POST', path, { token, revision: 2, ...more })).status).toBe(404);
    }
    expect((await bob.call('POST', pathOf(claimed, '/approve'), { token })).status).toBe(200);
    expect(await delivered(task.uid)).not.toContain('✂');
  });
});
