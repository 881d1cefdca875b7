/**
 * Property test: random actions of the customer, editor, reviewer and clock on one job at a time. After any
 * sequence of actions, each confirmed target is delivered, the charge matches the outcome, and the ledger is
 * consistent.
 */
import { createFake } from '@dragoman/engines/fake';
import fc from 'fast-check';
import type { Client } from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { confirm, HUMAN, pathOf, save } from '../testing/editors.ts';
import { createPerson, startTestServer, type TestPerson, type TestServer } from '../testing/harness.ts';
import { expectSoundLedger } from '../testing/ledger.ts';
import { orderWalkedJob, type WalkedJob } from '../testing/walks.ts';

const SOURCES = ['The house is big.', 'The door is red.'];
const DRAFTS = SOURCES.map((text) => text.toUpperCase());
const [HUMAN_PRICE, MACHINE_PRICE] = [24, 8];

type Step =
  | { do: 'confirm' | 'draft' }
  | { do: 'submit' | 'release' | 'expire' }
  | { do: 'approve' | 'return' | 'meddle' }
  | { do: 'deadline' | 'cancel' | 'upgrade' | 'accept' | 'reject' };

const one = (weight: number, ...names: Step['do'][]) => ({
  weight,
  arbitrary: fc.constantFrom(...names).map((name) => ({ do: name }) as Step),
});
const walks = fc.record({
  upgraded: fc.boolean(),
  steps: fc.array(
    fc.oneof(
      one(6, 'confirm'),
      one(2, 'draft'),
      one(6, 'submit'),
      one(1, 'release', 'expire'),
      one(2, 'approve', 'return', 'meddle'),
      one(1, 'deadline', 'cancel', 'upgrade', 'accept'),
      one(2, 'reject'),
    ),
    { minLength: 12, maxLength: 25 },
  ),
});

const walk = (upgraded: boolean, ...steps: Step['do'][]): [{ upgraded: boolean; steps: Step[] }] => [
  { upgraded, steps: steps.map((name) => ({ do: name }) as Step) },
];
/** Fixed action sequences that run in addition to the random sequences. */
const EXAMPLES = [
  walk(true, 'confirm', 'cancel', 'upgrade', 'draft', 'release', 'deadline', 'accept'),
  walk(false, 'confirm', 'submit', 'confirm', 'submit', 'return', 'deadline', 'reject', 'draft', 'deadline'),
  walk(false, 'confirm', 'submit', 'confirm', 'submit', 'meddle', 'deadline', 'reject', 'submit', 'submit'),
];

let server: TestServer;
let owner: Client;
let ann: TestPerson;
let rita: TestPerson;

beforeAll(async () => {
  server = await startTestServer({
    engine: () => createFake(),
    settings: {
      DRAGOMAN_TASK_WORDS: '4',
      DRAGOMAN_CLAIM_EXPIRIES: '1000',
      DRAGOMAN_PRICE_HUMAN: '3',
      DRAGOMAN_PRICE_MACHINE: '1',
    },
  });
  owner = await server.connectOwner();
  ann = await createPerson(server, { role: 'editor', languages: ['en:es'], name: 'Ann' });
  rita = await createPerson(server, { role: 'editor', languages: ['en:es+review'], name: 'Rita' });
});
afterAll(() => server.stop());

/** The kinds of events that occurred; the runs must cover all of them. */
const seen = new Set<string>();

class Walk {
  readonly job: WalkedJob;
  /** The last confirmed target of each segment. */
  readonly confirmed = new Map<number, string>();
  /** The result that was delivered last; undefined before the first delivery. */
  delivered: string | undefined;

  constructor(job: WalkedJob) {
    this.job = job;
  }

  /** Returns the task of a kind that the user holds. If the user holds none, claims an open task. */
  async taskOf(person: TestPerson, kind: 'edit' | 'review') {
    const { held, open } = (await person.call('GET', '/api/editing/queue')).body;
    const found = [...held, ...open].find((task: { kind: string }) => task.kind === kind);
    if (found === undefined) return undefined;
    const answer = await person.call('POST', '/api/editing/claims', { task: found.task });
    return answer.status === 201 ? answer.body.task : undefined;
  }

  async write(person: TestPerson, kind: 'edit' | 'review', status: 'confirmed' | 'draft') {
    const task = await this.taskOf(person, kind);
    if (task === undefined) return undefined;
    const segment = task.segments.find(({ mine }: { mine: boolean }) => mine);
    const text = this.job.text();
    const fields = { target: [{ text }] };
    const saved = await (status === 'draft' ? save : confirm)(person, task, segment, fields);
    if (saved.status === 200 && status === 'confirmed') this.confirmed.set(segment.position, text);
    return task;
  }

  async end(person: TestPerson, kind: 'edit' | 'review', how: string, more: object = {}) {
    const { held } = (await person.call('GET', '/api/editing/queue')).body;
    if (!held.some((task: { kind: string }) => task.kind === kind) && kind === 'edit') return;
    const task = await this.taskOf(person, kind);
    if (task === undefined) return;
    const { token } = task.lease;
    if (how === 'return') {
      await person.call('POST', pathOf(task, '/issues'), {
        token,
        position: 0,
        category: 'style',
        severity: 'minor',
      });
    }
    const answer = await person.call('POST', pathOf(task, `/${how}`), { token, ...more });
    if (answer.status === 200) seen.add(how);
  }

  async step({ do: what }: Step): Promise<void> {
    if (what === 'confirm') await this.write(ann, 'edit', 'confirmed');
    if (what === 'draft') await this.write(ann, 'edit', 'draft');
    if (what === 'submit' || what === 'release') await this.end(ann, 'edit', what);
    if (what === 'approve') await this.end(rita, 'review', what);
    if (what === 'return') await this.end(rita, 'review', what, { note: 'Again.' });
    if (what === 'meddle') {
      const task = await this.write(rita, 'review', 'draft');
      if (task !== undefined) await this.end(rita, 'review', 'release');
    }
    if (what === 'expire') await this.job.expireClaims();
    if (what === 'deadline') await this.job.passDeadline();
    if (what === 'cancel') await this.request('DELETE', `${HUMAN}job/`, what);
    if (what === 'upgrade' && (await this.job.upgrade())) seen.add(what);
    if (what === 'accept') await this.request('POST', `${HUMAN}job/accept/`, what);
    if (what === 'reject') await this.request('POST', `${HUMAN}job/reject/`, what, { reason: 'No.' });
  }

  async request(method: string, path: string, what: string, body?: object): Promise<void> {
    if ((await this.job.call(method, path, body)).status < 300) seen.add(what);
  }

  /** Checks that job, result, charge and ledger are consistent. */
  async check(): Promise<void> {
    const { body, charge } = await this.job.read({ human: HUMAN_PRICE, machine: MACHINE_PRICE });
    if (charge === undefined) {
      const translated_text = DRAFTS.join('\n');
      expect(body).toMatchObject({ status: 'completed', price: MACHINE_PRICE, translated_text });
    } else {
      this.checkText(body);
      const ends: Record<string, string> = { completed: 'capture', accepted: 'capture', rejected: 'capture' };
      const end = body.status === 'canceled' || body.fallback !== undefined ? 'void' : ends[body.status];
      const hold = `hold ${HUMAN_PRICE}`;
      expect(charge).toBe(end === undefined ? hold : `${hold}, ${end} ${HUMAN_PRICE}`);
      expect(body.price).toBe(end === 'void' ? 0 : HUMAN_PRICE);
    }
    await expectSoundLedger(server.database);
  }

  checkText(body: { status: string; translated_text?: string; fallback?: string }): void {
    if (body.status === 'completed' || body.status === 'accepted') {
      const wanted = DRAFTS.map((draft, position) => this.confirmed.get(position) ?? draft).join('\n');
      expect(body.translated_text).toBe(wanted);
      const hasDraft = this.confirmed.size < SOURCES.length;
      expect(body.fallback).toBe(hasDraft ? 'machine' : undefined);
      seen.add(hasDraft ? 'fallback' : 'edited');
      this.delivered = body.translated_text;
    } else if (body.status === 'rejected') expect(body.translated_text).toBe(this.delivered);
    else expect(body).not.toHaveProperty('translated_text');
  }

  /** Ends all claims, moves the deadline into the past and checks the result. */
  async settle(): Promise<void> {
    await this.job.expireClaims();
    await this.job.passDeadline();
    await this.check();
    const { rows } = await owner.query('select status from jobs where job_id = $1', [this.job.jobId]);
    expect(rows[0].status).not.toBe('translating');
  }
}

const newWalk = async (upgraded: boolean) =>
  new Walk(await orderWalkedJob(server, owner, SOURCES.join('\n'), upgraded));

it('a job delivers its confirmed targets with the matching charge after any sequence of actions', async () => {
  await fc.assert(
    fc.asyncProperty(walks, async ({ upgraded, steps }) => {
      const walk = await newWalk(upgraded);
      for (const step of steps) {
        await walk.step(step);
        await walk.check();
      }
      await walk.settle();
    }),
    { numRuns: 10, examples: EXAMPLES },
  );
  const wanted = ['submit', 'release', 'return', 'cancel', 'upgrade', 'reject', 'fallback', 'edited'];
  expect([...seen]).toEqual(expect.arrayContaining(wanted));
});

it('this test detects a planted fault that delivers a draft in place of a confirmed target', async () => {
  const walk = await newWalk(false);
  for (const what of ['confirm', 'submit', 'confirm', 'submit', 'return', 'deadline'] as const) {
    await walk.step({ do: what });
  }
  await walk.check();
  expect(walk.delivered).not.toContain(DRAFTS[0]);
  await owner.query(`update job_texts set body = $2 where job_id = $1 and kind = 'result'`, [
    walk.job.jobId,
    DRAFTS.join('\n'),
  ]);
  await expect(walk.check()).rejects.toThrow('THE HOUSE IS BIG.');
});
