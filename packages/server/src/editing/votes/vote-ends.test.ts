/** Tests of votes that end: by retention, with a memory entry, and by saves, also late ones. */
import { randomInt } from 'node:crypto';
import { beforeEach, expect, it } from 'vitest';
import { deleteJobTexts } from '../../retention/store.ts';
import {
  claimTask,
  confirm,
  emptyEditing,
  HUMAN,
  orderEdit,
  overtake,
  pathOf,
  save,
  startEditing,
  votesSettled,
} from '../../testing/editors.ts';
import { type TestPerson, until, waitForStatus } from '../../testing/harness.ts';
import { READING_CONTEXTS } from './readings.ts';
import { elect } from './vote-rules.ts';
import { listAllVotes, type VoteRow } from './votes-store.ts';

const LAST_ID = 'ffffffff-ffff-ffff-ffff-ffffffffffff';
const TEXT = 'La casa es grande.';
const MACHINE = '/tapi/v2/mt_translation/';

const { server, owner, account, call, customer, ann, bob, cy, brand } = await startEditing({
  DRAGOMAN_EDITOR_TASKS: '4',
});
await brand('confirms', { votes: 'confirm' });
beforeEach(() => emptyEditing(owner));

let texts = 0;
/** Creates jobs with the same sentence, which no other test uses. @returns their uids */
function orderSame(count: number, fields: object = {}): Promise<string[]> {
  const source = `The house number ${++texts} is big.`;
  return Promise.all(Array.from({ length: count }, () => orderEdit(call, source, fields)));
}

/** Returns the task, draft, edit and fill of the only segment of a job. */
async function segmentOf(uid: string) {
  const { rows } = await owner.query(
    `select t.task_id, s.draft, s.route, e.status, e.target, f.vote_id
       from segments s join jobs j using (part, account_id, job_id)
       join tasks t using (part, account_id, job_id)
       left join edits e using (part, account_id, job_id, position)
       left join fills f using (part, account_id, job_id, position)
      where j.uid = $1`,
    [uid],
  );
  expect(rows).toHaveLength(1);
  return rows[0];
}

const claim = async (person: TestPerson, uid: string) =>
  claimTask(person, (await segmentOf(uid)).task_id as string);
const release = async (person: TestPerson, task: { task: string; lease: { token: string } }) => {
  await person.call('POST', pathOf(task, '/release'), { token: task.lease.token });
  await votesSettled(owner);
};

/** Claims the task of a job and confirms its segment. */
async function vote(person: TestPerson, uid: string) {
  const task = await claim(person, uid);
  const saved = await confirm(person, task, task.segments[0], { target: [{ text: TEXT }] });
  expect(saved.status, saved.text).toBe(200);
  await votesSettled(owner);
  return { ...task, segment: saved.body.segment };
}

async function deliver(person: TestPerson, uid: string): Promise<void> {
  const { task_id: task } = await segmentOf(uid);
  const { body } = await person.call('GET', pathOf({ task }));
  const submitted = await person.call('POST', pathOf({ task }, '/submit'), { token: body.lease.token });
  expect(submitted.status, submitted.text).toBe(200);
  await waitForStatus(call, `${HUMAN}${uid}/`);
}

/** Deletes the texts of all finished jobs, as retention does. */
async function expire(jobs: number): Promise<void> {
  const deleted = await server.database.transaction((transaction) =>
    deleteJobTexts(transaction, account, LAST_ID, 0, 100),
  );
  expect(deleted).toBe(jobs);
}

it('the statement says how many words editors confirmed and how many votes took, also after the texts are deleted', async () => {
  const [one, two, taken] = (await orderSame(3, { brand: 'confirms' })) as [string, string, string];
  const wordsOf = async (uid: string) => {
    const { edited_words: shown, words } = (await customer.call('GET', `/api/account/jobs/${uid}`)).body;
    const { entries } = (await customer.call('GET', '/api/account/ledger')).body;
    const entry = entries.find((each: { uid: string }) => each.uid === uid);
    const { text: csv } = await customer.call('GET', '/api/account/ledger.csv');
    const line = csv.split('\n').find((each) => each.includes(`,capture,${uid},`));
    return { shown, charged: entry.edited_words, csv: line?.split(',').slice(-2).map(Number), words };
  };
  await vote(ann, one);
  await vote(bob, two);
  const { words } = await wordsOf(one);
  // Nothing is charged before the delivery.
  const open = { charged: null, csv: undefined, words };
  expect(await wordsOf(one)).toEqual({ ...open, shown: { opened: words, voted: 0 } });
  expect(await wordsOf(taken)).toEqual({ ...open, shown: { opened: 0, voted: words } });
  await deliver(ann, one);
  await claim(cy, taken);
  await deliver(cy, taken);
  const confirmed = { opened: words, voted: 0 };
  const voted = { opened: 0, voted: words };
  const expectKept = async () => {
    expect(await wordsOf(one)).toEqual({ shown: confirmed, charged: confirmed, csv: [words, 0], words });
    expect(await wordsOf(taken)).toEqual({ shown: voted, charged: voted, csv: [0, words], words });
  };
  await expectKept();
  await expire(2);
  await expectKept();
});

it('expired votes leave the segments that they filled or confirmed unchanged', async () => {
  const [one, two, waits] = (await orderSame(3, { brand: 'confirms' })) as [string, string, string];
  await vote(ann, one);
  await vote(bob, two);
  const confirmed = await segmentOf(waits);
  expect(confirmed).toMatchObject({ status: 'confirmed', route: 'memory:vote' });
  for (const [person, uid] of [
    [ann, one],
    [bob, two],
  ] as const) {
    await deliver(person, uid);
    await expire(1);
    // The end of the claim makes the background work examine the job again.
    await release(cy, await claim(cy, waits));
    expect(await segmentOf(waits)).toEqual(confirmed);
  }
});

it('withdrawing the last vote for a text restores the former draft, also if an expired vote filled the segment', async () => {
  const [one, two, waits] = (await orderSame(3)) as [string, string, string];
  const before = await segmentOf(waits);
  await vote(ann, one);
  const task = await vote(bob, two);
  expect(await segmentOf(waits)).toMatchObject({ route: 'memory:vote' });
  await deliver(ann, one);
  await expire(1);
  await release(cy, await claim(cy, waits));
  expect(await segmentOf(waits)).toMatchObject({ route: 'memory:vote' });
  expect((await save(bob, task, task.segment, { target: [{ text: 'No.' }] })).status).toBe(200);
  await votesSettled(owner);
  expect(await segmentOf(waits)).toEqual(before);
});

it('withdrawing a memory entry withdraws the votes for its text', async () => {
  const [one, waits] = (await orderSame(2)) as [string, string];
  const before = await segmentOf(waits);
  await vote(ann, one);
  await deliver(ann, one);
  expect(await segmentOf(waits)).toMatchObject({ route: 'memory:vote' });
  const { entries } = (await customer.call('GET', '/api/account/memory')).body;
  const entry = entries.find(({ source }: { source: string }) => source.includes(` ${texts} `));
  const withdrawn = await customer.call('POST', `/api/account/memory/${entry.memory_id}/withdraw`, {});
  expect(withdrawn.status, withdrawn.text).toBe(200);
  await votesSettled(owner);
  expect(await segmentOf(waits)).toEqual(before);
});

it('withdrawing a memory entry does not withdraw votes for another text', async () => {
  const [one, two, waits] = (await orderSame(3)) as [string, string, string];
  await vote(ann, one);
  await deliver(ann, one);
  expect((await call('POST', `${HUMAN}${one}/reject/`, { reason: 'No.' })).status).toBe(200);
  const task = await claim(ann, one);
  const saved = await confirm(ann, task, task.segments[0], { target: [{ text: 'La casa es alta.' }] });
  expect(saved.status, saved.text).toBe(200);
  await deliver(ann, one);
  await vote(bob, two);
  expect((await segmentOf(waits)).draft).toEqual([{ text: 'La casa es alta.' }]);
  const { entries } = (await customer.call('GET', '/api/account/memory')).body;
  const entry = entries.find(({ target }: { target: string }) => target === 'La casa es alta.');
  const withdrawn = await customer.call('POST', `/api/account/memory/${entry.memory_id}/withdraw`, {});
  expect(withdrawn.status, withdrawn.text).toBe(200);
  await votesSettled(owner);
  expect(await segmentOf(waits)).toMatchObject({ route: 'memory:vote', draft: [{ text: TEXT }] });
});

it('a save withdraws a vote whose text a worker is still writing into other segments', async () => {
  const [one, waits] = (await orderSame(2)) as [string, string];
  const before = await segmentOf(waits);
  const task = await claim(ann, one);
  const target = [{ text: TEXT }];
  let segment = task.segments[0];
  await overtake(
    server.connection,
    waits,
    async () => {
      const saved = await confirm(ann, task, segment, { target });
      segment = saved.body.segment;
      return saved;
    },
    () => save(ann, task, segment, { target }),
  );
  expect(await segmentOf(waits)).toEqual(before);
});

it('a save after the end of the claim withdraws the vote of a confirmed segment', async () => {
  const [one, waits] = (await orderSame(2)) as [string, string];
  const before = await segmentOf(waits);
  const task = await vote(ann, one);
  await release(ann, task);
  expect(await segmentOf(waits)).toMatchObject({ route: 'memory:vote' });
  const late = await save(ann, task, task.segment, { target: [{ text: 'No, no.' }] });
  expect(late.body.error).toMatchObject({ code: 'stale_lease', kept: 'draft' });
  await votesSettled(owner);
  expect(await segmentOf(waits)).toEqual(before);
});

it('a save after the end of the claim does not replace a text that another editor saved after the fill was undone', async () => {
  const [one, two, waits] = (await orderSame(3, { brand: 'confirms' })) as [string, string, string];
  const first = await vote(ann, one);
  await vote(bob, two);
  const seen = await claim(cy, waits);
  expect(seen.segments[0]).toMatchObject({ status: 'confirmed' });
  await release(cy, seen);
  // Ann's save withdraws her vote and undoes the fill. Bob then saves the first edit of the segment.
  const saved = await save(ann, first, first.segment, { target: [{ text: 'No.' }] });
  expect(saved.status, saved.text).toBe(200);
  await votesSettled(owner);
  expect(await segmentOf(waits)).toMatchObject({ status: null });
  const bobs = await claim(bob, waits);
  const target = [{ text: 'El texto de Bob.' }];
  expect((await save(bob, bobs, bobs.segments[0], { target })).status).toBe(200);
  await release(bob, bobs);
  const late = await save(cy, seen, seen.segments[0], { target: [{ text: 'Tarde.' }] });
  expect(late.body.error).toMatchObject({ code: 'stale_lease', kept: 'history' });
  expect(await segmentOf(waits)).toMatchObject({ status: 'draft', target });
});

it('the votes that the background work reads decide as all votes would, and do not repeat an editor with a text', async () => {
  const [uid] = await orderSame(1);
  const editors = [ann, bob, cy].map(({ userId }) => userId);
  const given = Array.from({ length: 800 }, (_, index) => ({
    position: index + 1,
    reading: `reading ${randomInt(10)}`,
    context: READING_CONTEXTS[randomInt(3)],
    editor_id: editors[randomInt(3)],
    reviewed: randomInt(4) === 0,
    text: `text ${randomInt(3)}`,
    second: randomInt(6),
    withdrawn: randomInt(3) === 0,
  }));
  const { rows } = await owner.query<VoteRow>(
    `with given as (
       select j.part, j.account_id, j.job_id, g.* from jobs j, jsonb_to_recordset($2) as g (position integer,
         reading text, context text, editor_id uuid, reviewed boolean, text text, second integer, withdrawn boolean)
        where j.uid = $1),
     copied as (
       insert into segments select (jsonb_populate_record(null::segments, to_jsonb(s) || jsonb_build_object(
         'position', g.position, 'segment_id', g.position::text))).*
         from segments s join given g using (part, account_id, job_id) where s.position = 0)
     insert into votes (part, account_id, vote_id, job_id, position, reading, context, editor_id, reviewed, target,
       target_hash, voted_at, withdrawn_at)
     select part, account_id, gen_random_uuid(), job_id, position, sha256(reading::bytea), context, editor_id, reviewed,
            '[]', sha256(text::bytea), timestamptz '2027-01-01' + second * interval '1 s',
            case when withdrawn then now() end
       from given
     returning vote_id, reading, context, editor_id, reviewed, target_hash, voted_at, withdrawn_at is not null as withdrawn`,
    [uid, JSON.stringify(given)],
  );
  const readings = [...new Map(rows.map(({ reading }) => [reading.toString('hex'), reading])).values()];
  const textOf = (one: VoteRow) => `${one.target_hash.toString('hex')} ${one.withdrawn}`;
  const groups = new Set(
    rows.map((one) => `${one.reading.toString('hex')} ${one.context} ${one.editor_id} ${textOf(one)}`),
  );
  const found = await listAllVotes(server.database, account, [...readings, ...readings], []);
  expect(found).toHaveLength(groups.size);
  for (const reading of readings) {
    const [all, read] = [rows, found].map((list) => list.filter((one) => one.reading.equals(reading)));
    expect(new Set(read!.map(textOf))).toEqual(new Set(all!.map(textOf)));
    for (const context of READING_CONTEXTS) {
      const [expected, elected] = [all!, read!].map((list) => {
        const one = elect(
          list.filter(({ withdrawn }) => !withdrawn),
          context,
        );
        return one && { ...one, vote: one.vote.vote_id };
      });
      expect(elected, JSON.stringify(all)).toEqual(expected);
    }
  }
  const ids = new Set(found.map((one) => one.vote_id));
  const { vote_id: older } = rows.find((one) => !ids.has(one.vote_id))!;
  const more = await listAllVotes(server.database, account, readings, [older]);
  expect(more.map((one) => one.vote_id).sort()).toEqual([...ids, older].sort());
});

it('a canceled upgrade that is repeated starts from new drafts, which get the texts of the votes that count then', async () => {
  const source = `The garden number ${++texts} is big.`;
  const [one, two] = (await Promise.all(
    [1, 2].map(() => orderEdit(call, source, { brand: 'confirms' })),
  )) as [string, string];
  const uid = `upgraded-${texts}`;
  const languages = { source_language: 'en', target_language: 'es' };
  await call('POST', MACHINE, { uid, text: source, brand: 'confirms', ...languages });
  const statusOf = async (path: string) => (await call('GET', `${path}${uid}/`)).body.status;
  const upgrade = async () => {
    await until(async () => (await statusOf(MACHINE)) === 'completed');
    const asked = await call('PATCH', `${MACHINE}${uid}/`, { status: 'upgrade', properties: null });
    expect(asked.status, asked.text).toBe(202);
    await until(async () => (await statusOf(HUMAN)) === 'translating');
    await votesSettled(owner);
  };
  const cancel = async () => expect((await call('DELETE', `${HUMAN}${uid}/`)).status).toBe(200);
  const now = async () => {
    const { rows } = await owner.query(
      `select s.draft, s.route, e.status, f.vote_id is not null as filled
         from segments s join jobs j using (part, account_id, job_id)
         left join edits e using (part, account_id, job_id, position)
         left join fills f using (part, account_id, job_id, position) where j.uid = $1`,
      [uid],
    );
    return rows[0];
  };
  await upgrade();
  const before = await now();
  expect(before).toMatchObject({ status: null, filled: false });
  const first = await vote(ann, one);
  expect(await now()).toMatchObject({ route: 'memory:vote', draft: [{ text: TEXT }], status: null });
  await cancel();
  await upgrade();
  expect(await now()).toMatchObject({ route: 'memory:vote', draft: [{ text: TEXT }], status: null });
  const second = await vote(bob, two);
  expect(await now()).toMatchObject({ route: 'memory:vote', status: 'confirmed' });
  await cancel();
  for (const [person, task] of [
    [ann, first],
    [bob, second],
  ] as const) {
    expect((await save(person, task, task.segment, { target: [{ text: 'No.' }] })).status).toBe(200);
  }
  await votesSettled(owner);
  await upgrade();
  expect(await now()).toEqual(before);
});

it.each(['job', 'reading'])(
  'queued work for a %s is done once, however often it was queued',
  async (kind) => {
    const [first, uid] = await orderSame(2);
    const task = await vote(ann, first!);
    const later = (count: number) =>
      owner.query(
        `insert into propagations (part, account_id, ${kind === 'job' ? 'job_id' : 'reading'}, due_at)
       select part, account_id, ${kind === 'job' ? 'job_id' : 'reading'}, now() + interval '1 hour'
         from readings join jobs using (part, account_id, job_id), generate_series(1, $2) where uid = $1`,
        [uid, count],
      );
    await later(3);
    if (kind === 'job') await release(ann, await claim(ann, uid!));
    else await confirm(ann, task, task.segment, { target: [{ text: 'Una casa.' }] });
    await votesSettled(owner);
  },
);

/** Runs `work` while each new row of the queue was already claimed this often. `then` is SQL that runs for each row. */
async function withClaims(claims: number, then: string, work: () => Promise<unknown>): Promise<void> {
  // Otherwise Citus refuses triggers on its tables, and statements that name a shard. PostgreSQL ignores the settings.
  await owner.query('set citus.enable_unsafe_triggers = on');
  await owner.query(`
    create function claim_often() returns trigger security definer language plpgsql
      set citus.enable_manual_changes_to_shards = on as $$ begin
      if pg_trigger_depth() = 1 then new.attempts := ${claims}; ${then} end if;
      return new;
    end $$`);
  await owner.query(
    'create trigger claim_often before insert on propagations for each row execute function claim_often()',
  );
  try {
    await work();
  } finally {
    await owner.query('drop trigger claim_often on propagations');
    await owner.query('drop function claim_often()');
  }
}

it('work on votes that many workers did not survive is still done', async () => {
  const [first, second] = await orderSame(2);
  await withClaims(23, '', () => vote(ann, first!));
  expect(await segmentOf(second!)).toMatchObject({ draft: [{ text: TEXT }], route: 'memory:vote' });
});

it('work on votes that is given up does not take other work for the same reading with it', async () => {
  const [first, second] = await orderSame(2);
  // The other work is due later, so that no worker holds it when the first work is given up.
  // On Citus, the trigger is one of a shard.
  const again = `execute format('insert into %I (part, account_id, reading, due_at)
    values ($1, $2, $3, now() + interval ''1 second'')', tg_table_name)
    using new.part, new.account_id, new.reading;`;
  await withClaims(24, again, () => vote(ann, first!));
  expect(await segmentOf(second!)).toMatchObject({ draft: [{ text: TEXT }], route: 'memory:vote' });
});
