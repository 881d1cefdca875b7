/**
 * Model-based test of editing: two editors save, confirm, join, separate, split, release, expire, submit and save late,
 * while the customer cancels and upgrades, the deadline passes, and the sessions of the database are killed in the middle of
 * the work that follows an action. After any sequence of actions:
 *
 * - What an editor confirmed is delivered. What was kept of a late save is in the history or is the segment's draft.
 * - The customer is charged if and only if every segment was confirmed. A canceled job gives nothing to other jobs.
 */
import { createFake } from '@dragoman/engines/fake';
import fc from 'fast-check';
import type { Client } from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { FULL } from '../../../../scripts/full.ts';
import { confirm, expireDeadline, HUMAN, orderEdit, pathOf, save } from '../testing/editors.ts';
import {
  type Answer,
  createPerson,
  startTestServer,
  type TestPerson,
  type TestServer,
} from '../testing/harness.ts';
import { expectSoundLedger } from '../testing/ledger.ts';
import { orderWalkedJob, type WalkedJob } from '../testing/walks.ts';

const SOURCES = ['The house is big.', 'The door is red.', 'The garden is green.', 'The gate is open.'];
const DRAFTS = SOURCES.map((text) => text.toUpperCase());
const [HUMAN_PRICE, MACHINE_PRICE] = [48, 16];

const EDITOR_STEPS = ['claim', 'confirm', 'draft', 'join', 'separate', 'split', 'release', 'finish'] as const;
const OTHER_STEPS = ['expire', 'deadline', 'cancel', 'upgrade'] as const;
/** The steps after which the customer may see something else. */
const SHOWN_STEPS: readonly string[] = ['release', 'finish', ...OTHER_STEPS];
interface Step {
  do: (typeof EDITOR_STEPS)[number] | (typeof OTHER_STEPS)[number];
  editor: number;
  position: number;
  /** Whether all sessions of the database are killed before the work in the background is done. */
  killed: boolean;
}
const step = (weight: number, ...names: Step['do'][]) => ({
  weight,
  arbitrary: fc.record({
    do: fc.constantFrom(...names),
    editor: fc.nat(1),
    position: fc.nat(SOURCES.length - 1),
    // Each kill costs up to a lease, so only an example has some.
    killed: fc.constant(false),
  }),
});
const walks = fc.record({
  upgraded: fc.boolean(),
  steps: fc.array(
    fc.oneof(
      step(5, 'claim'),
      step(10, 'confirm'),
      step(4, 'draft'),
      step(8, 'join', 'separate'),
      step(2, 'split'),
      step(3, 'release', 'expire'),
      step(1, 'finish', 'deadline'),
      step(2, 'cancel', 'upgrade'),
    ),
    { minLength: 10, maxLength: 20 },
  ),
});
const walk = (upgraded: boolean, ...names: string[]): [{ upgraded: boolean; steps: Step[] }] => [
  {
    upgraded,
    steps: names.map((name) => {
      const [what, position = '0', editor = '0', killed] = name.split(' ');
      return {
        do: what as Step['do'],
        position: Number(position),
        editor: Number(editor),
        killed: killed === 'killed',
      };
    }),
  },
];
/** Sequences that once broke a promise. */
const EXAMPLES = [
  walk(false, 'claim', 'confirm 0', 'confirm 1', 'join 0', 'separate 0', 'release', 'deadline'),
  walk(false, 'claim', 'confirm 1', 'confirm 2', 'join 1', 'join 0', 'separate 0', 'release', 'deadline'),
  walk(false, 'claim', 'expire', 'claim 0 1', 'join 0 1', 'confirm 1 0'),
  walk(false, 'claim', 'join 0', 'confirm 1'),
  walk(true, 'claim', 'confirm 0', 'join 0', 'confirm 0', 'cancel', 'upgrade', 'deadline'),
  walk(true, 'claim', 'confirm 0', 'cancel'),
  walk(true, 'deadline', 'upgrade', 'confirm 0'),
  walk(
    false,
    'claim',
    'confirm 0',
    'join 0 0 killed',
    'confirm 0 0 killed',
    'release 0 0 killed',
    'deadline 0 0 killed',
  ),
];

let server: TestServer;
let owner: Client;
let editors: TestPerson[];
beforeAll(async () => {
  server = await startTestServer({
    engine: () => createFake(),
    settings: {
      DRAGOMAN_CLAIM_EXPIRIES: '1000',
      DRAGOMAN_LEASE: '5',
      DRAGOMAN_PRICE_HUMAN: '3',
      DRAGOMAN_PRICE_MACHINE: '1',
    },
  });
  owner = await server.connectOwner();
  editors = await Promise.all(
    ['Ann', 'Bob'].map((name) => createPerson(server, { role: 'editor', languages: ['en:es'], name })),
  );
  await owner.query('update users set review_share = 0');
});
afterAll(() => server.stop());

/** What happened in all walks. The walks must cover all of it. */
const seen = new Set<string>();

interface Segment {
  position: number;
  revision: number;
  draft: unknown;
  joined_to?: number;
}
interface Claimed {
  task: string;
  lease: { token: string };
  segments: Segment[];
}

/** What the customer should get: by the first position of each segment. */
class Model {
  /** The last confirmed target of each segment that is not joined. */
  readonly confirmed = new Map<number, string>();
  /** The joined segments: the last position, what is delivered, and whether that was confirmed. */
  readonly joined = new Map<number, { last: number; text: string; confirmed: boolean }>();

  delivered(position: number): { text: string; confirmed: boolean; next: number } {
    const joined = this.joined.get(position);
    if (joined !== undefined) return { ...joined, next: joined.last + 1 };
    const confirmed = this.confirmed.get(position);
    return {
      text: confirmed ?? DRAFTS[position]!,
      confirmed: confirmed !== undefined,
      next: position + 1,
    };
  }

  join(position: number): void {
    const first = this.delivered(position);
    const next = this.delivered(first.next);
    this.joined.delete(first.next);
    const text = `${first.text} ${next.text}`;
    this.joined.set(position, { last: next.next - 1, text, confirmed: first.confirmed && next.confirmed });
  }

  confirm(position: number, text: string): void {
    const joined = this.joined.get(position);
    if (joined === undefined) this.confirmed.set(position, text);
    else this.joined.set(position, { ...joined, text, confirmed: true });
  }

  /** Returns the whole result. */
  result(): { text: string; confirmed: boolean } {
    const parts = [];
    for (let position = 0; position < SOURCES.length; position = parts.at(-1)!.next) {
      parts.push(this.delivered(position));
    }
    return {
      text: parts.map(({ text }) => text).join(' '),
      confirmed: parts.every(({ confirmed }) => confirmed),
    };
  }
}

class Walk {
  readonly model = new Model();
  readonly job: WalkedJob;
  /** The latest claim of each editor, with the segments as its page shows them. It may have ended. */
  readonly claims: (Claimed | undefined)[] = [undefined, undefined];
  /** Texts that are in the history: confirmed ones, and those that the server said it kept there. */
  readonly past: string[] = [];
  /** The latest draft that was saved. */
  draft: string | undefined;
  /** True if a canceled job was not upgraded again. */
  isCanceled = false;

  constructor(job: WalkedJob) {
    this.job = job;
  }

  async step(step: Step): Promise<void> {
    await this.act(step);
    if (step.killed) await killSessions();
    await this.job.settled();
  }

  async act({ do: what, editor, position }: Step): Promise<void> {
    if (what === 'claim') await this.claim(editor);
    else if (what === 'expire') await this.job.expireClaims();
    else if (what === 'deadline') await this.job.expireDeadline();
    else if (what === 'cancel') await this.cancel();
    else if (what === 'upgrade') await this.upgrade();
    else await this.edit(editors[editor]!, this.claims[editor], what, position);
  }

  async claim(editor: number): Promise<void> {
    const { held, open } = (await editors[editor]!.call('GET', '/api/editing/queue')).body;
    const found = [...held, ...open].find(({ uid }: { uid: string }) => uid === 'job');
    if (found === undefined) return;
    const { status, body } = await editors[editor]!.call('POST', '/api/editing/claims', { task: found.task });
    if (status === 201) this.claims[editor] = body.task;
  }

  async edit(person: TestPerson, claimed: Claimed | undefined, what: Step['do'], position: number) {
    if (claimed === undefined) return;
    if (what === 'confirm' || what === 'draft') return this.write(person, claimed, what, position);
    const { token } = claimed.lease;
    const at = claimed.segments.findIndex((segment) => segment.position === position);
    const [segment, next] = [claimed.segments[at], claimed.segments[at + 1]];
    const post = (path: string, body: object) =>
      person.call('POST', pathOf(claimed, path), { token, revision: segment?.revision ?? 0, ...body });
    if (what === 'join' && segment !== undefined && next !== undefined) {
      const answer = await post(`/segments/${position}/join`, { next_revision: next.revision });
      if (answer.status === 200) {
        this.model.join(position);
        claimed.segments.splice(at, 2, ...answer.body.segments);
        seen.add('join');
      }
    } else if (what === 'separate' && segment !== undefined) {
      const answer = await post(`/segments/${position}/separate`, {});
      if (answer.status === 200) {
        this.model.joined.delete(position);
        claimed.segments.splice(at, 1, ...answer.body.segments);
        seen.add('separate');
      }
    } else if (what === 'split' && segment !== undefined) {
      const answer = await post(`/segments/${position}/split`, { at: 4 });
      if (answer.status === 200) claimed.segments.splice(at, 1, ...answer.body.segments);
      if (answer.status === 200) seen.add('split');
    } else if (what === 'release') {
      if ((await post('/release', {})).status === 200) seen.add('release');
    } else if (what === 'finish') {
      for (const one of [...claimed.segments]) await this.write(person, claimed, 'confirm', one.position);
      if ((await post('/submit', {})).status === 200) seen.add('submit');
    }
  }

  /** Saves a new text, also with a claim that has ended and for a segment that was joined since. */
  async write(person: TestPerson, claimed: Claimed, what: 'confirm' | 'draft', position: number) {
    const at = claimed.segments.findIndex((one) => one.position === position);
    const segment = claimed.segments[at] ?? { position, revision: 0, draft: [] };
    const text = this.job.text();
    const fields = { target: [{ text }] };
    const answer = await (what === 'confirm' ? confirm : save)(person, claimed, segment, fields);
    const { error } = answer.body;
    if (answer.status === 200) {
      claimed.segments.splice(at, 1, answer.body.segment);
      if (what === 'confirm') this.model.confirm(position, text);
      if (what === 'confirm') this.past.push(text);
      else this.draft = text;
    } else if (error.kept !== undefined) {
      if (error.kept === 'history') this.past.push(text);
      else this.draft = text;
      seen.add(`kept as ${error.kept}`);
    } else if (error.code === 'conflict' && error.segment.position !== position) {
      this.past.push(text);
      seen.add('kept in a joined segment');
    } else
      expect(['conflict', 'stale_lease', 'job_canceled', 'not_found', 'checks_failed']).toContain(error.code);
  }

  async cancel(): Promise<void> {
    if ((await this.job.call('DELETE', `${HUMAN}job/`)).status !== 200) return;
    this.isCanceled = true;
    seen.add('cancel');
  }

  async upgrade(): Promise<void> {
    if (!(await this.job.upgrade())) return;
    this.isCanceled = false;
    seen.add('upgrade');
  }

  /** Checks what the customer got and paid. */
  async check(): Promise<void> {
    const { body, charge } = await this.job.read({ human: HUMAN_PRICE, machine: MACHINE_PRICE });
    if (charge === undefined) {
      const translated_text = DRAFTS.join(' ');
      expect(body).toMatchObject({ status: 'completed', price: MACHINE_PRICE, translated_text });
    } else this.checkHuman(body, charge);
  }

  checkHuman(body: Answer['body'], charge: string): void {
    if (body.status === 'completed') {
      const { text, confirmed } = this.model.result();
      expect(body.translated_text).toBe(text);
      expect(body.fallback).toBe(confirmed ? undefined : 'machine');
      expect([body.price, charge]).toEqual(
        confirmed
          ? [HUMAN_PRICE, `hold ${HUMAN_PRICE}, capture ${HUMAN_PRICE}`]
          : [0, `hold ${HUMAN_PRICE}, void ${HUMAN_PRICE}`],
      );
      seen.add(confirmed ? 'edited' : 'fallback');
    } else {
      expect(body).not.toHaveProperty('translated_text');
      const isCanceled = body.status === 'canceled';
      expect(charge).toBe(isCanceled ? `hold ${HUMAN_PRICE}, void ${HUMAN_PRICE}` : `hold ${HUMAN_PRICE}`);
    }
  }

  /** Checks that no text that the server kept was lost. A draft is kept until another text takes its place. */
  async checkKept(): Promise<void> {
    const { rows } = await owner.query(
      `select target->0->>'text' as text, 'past' as place from edit_history where job_id = $1
       union all select target::text, 'now' from edits where job_id = $1`,
      [this.job.jobId],
    );
    const textsOf = (wanted: string) => rows.flatMap(({ text, place }) => (place === wanted ? [text] : []));
    expect(textsOf('past')).toEqual(expect.arrayContaining(this.past));
    if (this.draft !== undefined) expect(textsOf('now').join('\n')).toContain(this.draft);
    this.draft = undefined;
  }

  /** Ends all claims, lets the deadlines of both jobs pass, and checks the results. */
  async settle(): Promise<void> {
    await this.job.expireClaims();
    await this.job.passDeadline();
    await this.check();
    await expectSoundLedger(server.database);
    const { part, accountId, call } = this.job;
    const { rows } = await owner.query(`select job_id from jobs where uid = 'other' and account_id = $1`, [
      accountId,
    ]);
    await expireDeadline(owner, { part, job_id: rows[0].job_id });
    await this.job.settled();
    const { body } = await call('GET', `${HUMAN}other/`);
    expect(body).toMatchObject({ status: 'completed', price: 0, fallback: 'machine' });
    if (this.isCanceled) expect(body.translated_text).toBe(DRAFTS[0]);
  }
}

/** Ends all sessions of the server under test, as when its process or the database is killed. */
async function killSessions(): Promise<void> {
  const { rowCount } = await owner.query(
    `select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid()`,
  );
  if (rowCount! > 0) seen.add('kill');
}

async function newWalk(upgraded: boolean): Promise<Walk> {
  const job = await orderWalkedJob(server, owner, SOURCES.join(' '), upgraded);
  // Another job begins with the same sentence. Nobody edits it.
  await orderEdit(job.call, SOURCES[0]!, { uid: 'other', brand: 'fb' });
  return new Walk(job);
}

it('what an editor confirmed is delivered and charged, and what was kept can be found, after any sequence of actions', async () => {
  await fc.assert(
    fc.asyncProperty(walks, async ({ upgraded, steps }) => {
      const walk = await newWalk(upgraded);
      for (const one of steps) {
        await walk.step(one);
        await walk.checkKept();
        if (SHOWN_STEPS.includes(one.do)) await walk.check();
      }
      await walk.settle();
    }),
    { numRuns: EXAMPLES.length + (FULL ? 30 : 2), examples: EXAMPLES },
  );
  const wanted = [
    'join',
    'separate',
    'cancel',
    'upgrade',
    'fallback',
    'kept in a joined segment',
    'release',
    'kill',
  ];
  expect([...seen]).toEqual(expect.arrayContaining(wanted));
});

it('this test detects a confirmed text that a separation loses', async () => {
  const walk = await newWalk(false);
  for (const one of EXAMPLES[0]![0].steps.slice(0, -2)) await walk.step(one);
  await owner.query('delete from edit_history where job_id = $1', [walk.job.jobId]);
  await expect(walk.settle()).rejects.toThrow('THE HOUSE IS BIG.');
});
