/** Tests of how the worker processes jobs, as seen through the API and the database. The engine is a fake. */
import { randomUUID } from 'node:crypto';
import { type Piece, plainText } from '@dragoman/documents';
import { createFake, type FakeEngine } from '@dragoman/engines/fake';
import type pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { AccountCredentials } from '../../accounts/accounts.ts';
import { createLog } from '../../base/log.ts';
import { createPool } from '../../database/connections.ts';
import { startServer } from '../../roles/serve.ts';
import { createClient, startTestServer, type TestServer, until } from '../../testing/harness.ts';

const HUMAN = '/tapi/v2/translation/';
const MACHINE = '/tapi/v2/mt_translation/';

let server: TestServer;
let owner: pg.Pool;
let account: AccountCredentials;
/** The fake engine of the running worker. A restart creates a new fake engine. */
let engine: FakeEngine;

beforeAll(async () => {
  server = await startTestServer({
    engine: () => {
      engine = createFake();
      return engine;
    },
    settings: { DRAGOMAN_SANDBOX_HOLD: '0', DRAGOMAN_PRICE_MACHINE: '1' },
  });
  owner = createPool(server.connection);
  account = await server.createAccount({ balanceCents: 100_000 });
});
afterEach(() => {
  engine.failOn(null);
  engine.dropCodes(false);
  engine.resume();
});
afterAll(async () => {
  await owner.end();
  await server.stop();
});

type Environment = 'production' | 'sandbox';

/** Calls the running server with the key of the account. */
function call(environment: Environment, method: string, path: string, body?: unknown) {
  const root = environment === 'sandbox' ? `${server.url}/sandbox` : server.url;
  const key = environment === 'sandbox' ? account.sandbox_key : account.production_key;
  return createClient(root, key)(method, path, body);
}

async function order(
  uid: string,
  fields: object = {},
  { path = MACHINE, environment = 'production' as Environment } = {},
): Promise<void> {
  const body = { uid, text: `The text of ${uid}.`, source_language: 'en', target_language: 'es', ...fields };
  expect((await call(environment, 'POST', path, body)).status).toBe(201);
}

/** Waits until the job is completed or failed, and returns its detail body. */
async function ended(uid: string, { path = MACHINE, environment = 'production' as Environment } = {}) {
  return until(async () => {
    const { body } = await call(environment, 'GET', `${path}${uid}/`);
    return ['completed', 'failed'].includes(body.status) && body;
  });
}

interface JobRecord {
  status: string;
  attempts: number;
  lease_token: string | null;
  due_in: number | null;
  failure: string | null;
}

async function recordOf(uid: string): Promise<JobRecord> {
  const { rows } = await owner.query<JobRecord>(
    `select status, attempts, lease_token, failure, extract(epoch from due_at - now())::float8 as due_in
       from jobs where uid = $1`,
    [uid],
  );
  return rows[0]!;
}

async function moneyOf(uid: string): Promise<object[]> {
  const { rows } = await owner.query(
    `select kind, amount_cents from transfers join jobs using (part, account_id, job_id)
      where uid = $1 order by transfer_id`,
    [uid],
  );
  return rows;
}

/** Makes a postponed job due now and notifies the worker, which otherwise polls within a second. */
async function due(uid: string): Promise<void> {
  await owner.query(
    `with hurried as (
       update jobs set due_at = now() where uid = $1 and lease_token is null and due_at > now() returning 1
     )
     select pg_notify($2, '') from hurried`,
    [uid, 'dragoman_jobs'],
  );
}

/** Makes every postponed attempt of a job due at once, until the job has one of the statuses. */
async function hurry(uid: string, ...statuses: string[]): Promise<void> {
  await until(async () => {
    await due(uid);
    return statuses.includes((await recordOf(uid)).status);
  });
}

const segmentsOf = async (uid: string) => {
  const { rows } = await owner.query(
    `select s.position, s.source, s.draft, s.route, s.notes, s.failure
       from segments s join jobs using (part, account_id, job_id) where uid = $1 order by position`,
    [uid],
  );
  return rows;
};

/** Counts the engine requests that contained a text. */
const askedAbout = (text: string, ...engines: FakeEngine[]) =>
  (engines.length === 0 ? [engine] : engines)
    .flatMap(({ requests }) => requests)
    .filter(({ segments }) => JSON.stringify(segments).includes(text)).length;

describe('a segment that the engine cannot translate', () => {
  const TIERS = [
    ['of the machine tier', { path: MACHINE, environment: 'production' as const }],
    ['in the sandbox', { path: HUMAN, environment: 'sandbox' as const }],
  ] as const;

  beforeAll(async () => {
    engine.failOn('poison', 'crashed');
    await order('editor', { text: 'A good line.\n\nA poison line for {name}.' }, { path: HUMAN });
    for (const [name, where] of TIERS) {
      await order(`poison-${where.environment}`, { text: `A good line.\nA poison line ${name}.` }, where);
    }
    await Promise.all([
      hurry('editor', 'translating'),
      ...TIERS.map(([, { environment }]) => hurry(`poison-${environment}`, 'failed')),
    ]);
  });

  it.each(TIERS)(
    'fails a job %s after five attempts and releases the hold of its price',
    async (name, where) => {
      const uid = `poison-${where.environment}`;
      const { body } = await call(where.environment, 'GET', `${where.path}${uid}/`);
      expect(body.failure).toBe('the engine could not translate a segment: crashed');
      expect(body).not.toHaveProperty('translated_text');
      expect(askedAbout(`A poison line ${name}.`)).toBe(5);
      expect(body.price).toBe(0);
      const cents = where.path === MACHINE ? 10 : 27;
      expect(await moneyOf(uid)).toEqual([
        { kind: 'hold', amount_cents: cents },
        { kind: 'void', amount_cents: cents },
      ]);
      expect(await recordOf(uid)).toMatchObject({ due_in: null, lease_token: null });
    },
  );

  it('is retried five seconds later, and its job completes if the retry succeeds', async () => {
    engine.failOn('hiccup');
    await order('hiccup', { text: 'A hiccup.' });
    await until(async () => ((await recordOf('hiccup')).due_in ?? 0) > 0 && askedAbout('A hiccup.') === 1);
    await until(async () => (await recordOf('hiccup')).lease_token === null);
    const { status, attempts, due_in } = await recordOf('hiccup');
    expect({ status, attempts }).toEqual({ status: 'machine_translate_in_progress', attempts: 1 });
    expect(due_in).toBeLessThanOrEqual(5);
    engine.failOn(null);
    await hurry('hiccup', 'completed');
    expect((await ended('hiccup')).translated_text).toBe('A HICCUP.');
    expect((await moneyOf('hiccup')).map((one) => 'kind' in one && one.kind)).toEqual(['hold', 'capture']);
  });

  it('fails its job after one attempt when no retry can help', async () => {
    engine.failOn('hopeless', 'garbled');
    const text = 'A hopeless line.';
    await order('hopeless', { text });
    await order('hopeless-human', { text: `For people. ${text}` }, { path: HUMAN });
    expect((await ended('hopeless')).failure).toBe('the engine could not translate a segment: garbled');
    await until(async () => (await recordOf('hopeless-human')).status === 'translating');
    expect(askedAbout(text)).toBe(2); // Each of the two jobs caused one request.
    expect((await segmentsOf('hopeless-human')).map(({ failure }) => failure)).toEqual([null, 'garbled']);
    expect((await moneyOf('hopeless')).map((one) => 'kind' in one && one.kind)).toEqual(['hold', 'void']);
  });

  it('is retried while another segment of its job may still succeed', async () => {
    const sound = engine.draft;
    const failures: Record<string, 'garbled' | 'crashed'> = {
      'Never done.': 'garbled',
      'Done later.': 'crashed',
    };
    engine.draft = async (request) => {
      const drafts = await sound.call(engine, request);
      return drafts.map((draft, index) => {
        const reason = failures[plainText(request.segments[index]!.pieces as Piece[])];
        return reason ? { id: draft.id, status: 'failed', reason, detail: 'as it was told' } : draft;
      });
    };
    await order('half', { text: 'Never done.\nDone later.' });
    await until(async () => (await recordOf('half')).lease_token === null && askedAbout('Done later.') === 1);
    expect(await recordOf('half')).toMatchObject({ status: 'machine_translate_in_progress', attempts: 1 });
    delete failures['Done later.'];
    await hurry('half', 'failed');
    expect(askedAbout('Never done.')).toBe(2);
    engine.draft = sound;
  });

  it('goes to the editor in the human tier, with its failure and without a draft', async () => {
    expect(await segmentsOf('editor')).toEqual([
      {
        position: 0,
        source: [{ text: 'A good line.' }],
        draft: [{ text: 'A GOOD LINE.' }],
        route: 'fake:en-es',
        notes: [],
        failure: null,
      },
      {
        position: 1,
        source: [{ text: 'A poison line for ' }, { keep: 1, text: '{name}' }, { text: '.' }],
        draft: null,
        route: null,
        notes: [],
        failure: 'crashed',
      },
    ]);
    expect(await moneyOf('editor')).toEqual([{ kind: 'hold', amount_cents: expect.any(Number) }]);
    expect(await recordOf('editor')).toMatchObject({ due_in: null, lease_token: null, failure: null });
  });

  it('does not delay or fail other jobs of the worker', async () => {
    engine.failOn('poison');
    await order('ill', { text: 'A poison neighbour.' });
    await order('well', { text: 'A good neighbour.' });
    expect((await ended('well')).translated_text).toBe('A GOOD NEIGHBOUR.');
    expect((await recordOf('ill')).status).toBe('machine_translate_in_progress');
  });
});

describe('an unavailable engine', () => {
  /** Moves the creation time of the job `hours` hours into the past. */
  const age = (uid: string, hours: number) =>
    owner.query(`update jobs set created_at = now() - make_interval(hours => $2) where uid = $1`, [
      uid,
      hours,
    ]);
  const waiting = (uid: string) =>
    until(async () => {
      const record = await recordOf(uid);
      return record.lease_token === null && (record.due_in ?? 0) > 0 && record;
    });

  it('makes its jobs wait without counting attempts', async () => {
    engine.failOn('troubled', 'stopped');
    const text = 'A troubled line.';
    await order('trouble', { text });
    for (let look = 1; look <= 15; look++) {
      await until(() => askedAbout(text) === look);
      const record = await waiting('trouble');
      expect(record).toMatchObject({ status: 'machine_translate_in_progress', attempts: 0 });
      expect(record.due_in).toBeGreaterThan(45);
      expect(record.due_in).toBeLessThanOrEqual(60);
      await due('trouble');
    }
    engine.failOn(null);
    await hurry('trouble', 'completed');
    expect((await moneyOf('trouble')).map((one) => 'kind' in one && one.kind)).toEqual(['hold', 'capture']);
  });

  it('makes a job fail after a day of waiting, and its hold is released', async () => {
    engine.failOn('forsaken', 'stopped');
    await order('forsaken', { text: 'A forsaken line.' });
    await waiting('forsaken');
    await age('forsaken', 23);
    await due('forsaken');
    await until(() => askedAbout('A forsaken line.') === 2);
    expect((await waiting('forsaken')).status).toBe('machine_translate_in_progress');
    await age('forsaken', 25);
    await hurry('forsaken', 'failed');
    expect((await recordOf('forsaken')).failure).toBe('the engine could not translate a segment: stopped');
    expect((await moneyOf('forsaken')).map((one) => 'kind' in one && one.kind)).toEqual(['hold', 'void']);
  });

  it('that no longer serves an offered pair makes its jobs wait too', async () => {
    await order('unable', { text: 'An unable line.' });
    await ended('unable');
    const { rows } = await owner.query(
      `insert into pairs select 'en', 'fr', engine, route, hops, engine_version, checked_at from pairs limit 1
       returning engine`,
    );
    expect(rows).toHaveLength(1);
    await until(async () => {
      const body = { uid: 'french', text: 'A French line.', source_language: 'en', target_language: 'fr' };
      return (await call('production', 'POST', MACHINE, body)).status === 201;
    });
    expect(await waiting('french')).toMatchObject({ status: 'machine_translate_in_progress', attempts: 0 });
    await owner.query(`update jobs set due_at = null where uid = 'french'`);
  });

  it('fails its health check; a crash of an engine that passes the check counts as an attempt', async () => {
    const sound = engine.health;
    engine.health = async () => ({ ok: false, detail: 'closed for a while' });
    engine.failOn('startless', 'crashed');
    await order('startless', { text: 'A startless line.' });
    expect((await waiting('startless')).attempts).toBe(0);
    engine.health = sound;
    await hurry('startless', 'failed');
    expect(askedAbout('A startless line.')).toBe(6);
  });
});

describe('codes that the engine loses', () => {
  const text = '<p>The <b>big</b> house<br> of <i>Ann</i>.</p>';

  it('are restored, so that the document has all its codes', async () => {
    engine.dropCodes(true);
    await order('codes', { text, text_format: 'html' });
    const { translated_text } = await ended('codes');
    const tags = (html: string) => (html.match(/<[^>]*>/g) ?? []).sort();
    expect(tags(translated_text)).toEqual(tags(text));
    expect(translated_text.replace(/<[^>]*>/g, '')).toBe('THE BIG HOUSE OF ANN.');
  });

  it('are reported to the editor on the segments where a code was restored', async () => {
    engine.dropCodes(true);
    await order('noted', { text: `${text}<p>Plain.</p>`, text_format: 'html' }, { path: HUMAN });
    await until(async () => (await recordOf('noted')).status === 'translating');
    const segments = await segmentsOf('noted');
    expect(segments.map(({ notes }) => notes)).toEqual([['code restored'], ['code restored'], []]);
    const codes = (pieces: object[]) =>
      pieces.filter((piece) => !('text' in piece)).map((one) => JSON.stringify(one));
    expect(codes(segments[0].draft).sort()).toEqual(codes(segments[0].source).sort());
  });
});

describe('a result whose delivery is delayed', () => {
  it('is delivered when the delay ends, without another engine request', async () => {
    await server.restart({ DRAGOMAN_SANDBOX_HOLD: '3600' });
    const where = { path: HUMAN, environment: 'sandbox' as const };
    await order('held', {}, where);
    await until(async () => (await recordOf('held')).status === 'translating');
    const { due_in } = await recordOf('held');
    expect(due_in).toBeGreaterThan(3500);
    expect((await call('sandbox', 'GET', `${HUMAN}held/`)).body).not.toHaveProperty('translated_text');
    await owner.query(`update jobs set hold_until = now(), due_at = now() where uid = 'held'`);
    expect((await ended('held', where)).translated_text).toBe('THE TEXT OF HELD.');
    expect(askedAbout('The text of held.')).toBe(1);
    await server.restart();
  });
});

describe('a stored result', () => {
  it('is delivered even if its job was claimed a hundred times', async () => {
    await server.restart({ DRAGOMAN_SANDBOX_HOLD: '3600' });
    const where = { path: HUMAN, environment: 'sandbox' as const };
    await order('finished', {}, where);
    await until(async () => (await recordOf('finished')).status === 'translating');
    await owner.query(
      `update jobs set hold_until = now(), due_at = now(), attempts = 100 where uid = 'finished'`,
    );
    expect((await ended('finished', where)).status).toBe('completed');
    await server.restart();
  });
});

describe('many jobs of one worker', () => {
  it('are completed in a few commits, each job with its own result and charged once', async () => {
    engine.stall();
    const uids = Array.from({ length: 40 }, (_, n) => `together-${n}`);
    await Promise.all(uids.map((uid) => order(uid)));
    // Waits until the worker has leased all jobs, before the engine answers for any of them.
    await until(async () =>
      (await Promise.all(uids.map(recordOf))).every(({ lease_token }) => lease_token !== null),
    );
    engine.resume();
    for (const uid of uids) {
      expect((await ended(uid)).translated_text).toBe(`THE TEXT OF ${uid.toUpperCase()}.`);
      expect((await moneyOf(uid)).map((entry) => (entry as { kind: string }).kind)).toEqual([
        'hold',
        'capture',
      ]);
    }
    const { rows } = await owner.query(
      `select count(distinct xmin::text)::int as commits from jobs where uid like 'together-%'`,
    );
    expect(rows[0].commits).toBeLessThan(uids.length / 2);
  });
});

describe('a worker that stops, fails or dies', () => {
  /** Ends the leases on jobs that a dead worker claimed last. Another token keeps this worker from renewing its leases. */
  const expire = (uids: string[], attempts: number) =>
    owner.query('update jobs set attempts = $2, lease_token = $3, due_at = now() where uid = any($1)', [
      uids,
      attempts,
      randomUUID(),
    ]);

  it('releases its jobs without counting an attempt, and another worker finishes them', async () => {
    const first = engine;
    first.stall();
    const uids = ['back-1', 'back-2', 'back-3'];
    for (const uid of uids) await order(uid);
    await until(async () =>
      (await Promise.all(uids.map(recordOf))).every(({ lease_token }) => lease_token !== null),
    );
    await server.server.stop(0);
    for (const record of await Promise.all(uids.map(recordOf))) {
      expect(record).toMatchObject({
        status: 'machine_translate_in_progress',
        attempts: 0,
        lease_token: null,
      });
      expect(record.due_in).toBeLessThanOrEqual(0);
    }
    await server.restart();
    expect(engine).not.toBe(first);
    for (const uid of uids) {
      expect((await ended(uid)).translated_text).toBe(`THE TEXT OF ${uid.toUpperCase()}.`);
    }
  });

  it('continues when its engine throws an error, and retries the job', async () => {
    engine.crash();
    await order('fault');
    await until(() => askedAbout('The text of fault.') === 1);
    expect((await recordOf('fault')).status).toBe('machine_translate_in_progress');
    // Skips the wait of five seconds before the retry.
    await owner.query(`update jobs set due_at = now() where uid = 'fault'`);
    expect((await ended('fault')).translated_text).toBe('THE TEXT OF FAULT.');
    expect(askedAbout('The text of fault.')).toBe(2);
  });

  it('fails a job that was claimed more than 24 times, because the job may be what kills the workers', async () => {
    engine.stall();
    for (const [uid, attempts] of [
      ['last', 23],
      ['past', 24],
    ] as const) {
      await order(uid);
      await until(() => askedAbout(`The text of ${uid}.`) === 1);
      await expire([uid], attempts);
    }
    const failed = await ended('past');
    expect(failed).toMatchObject({
      status: 'failed',
      failure: 'given up after too many interrupted tries',
    });
    expect((await moneyOf('past')).map((one) => 'kind' in one && one.kind)).toEqual(['hold', 'void']);
    await until(() => askedAbout('The text of last.') === 2);
    engine.resume();
    expect(await ended('last')).toMatchObject({
      status: 'completed',
      translated_text: 'THE TEXT OF LAST.',
    });
    expect((await recordOf('past')).status).toBe('failed');
  });

  it.each([
    ['five', 'together', 5, '6,6,6'],
    ['six', 'one at a time', 6, '6,6,7'],
  ])(
    'leaves three jobs that were claimed %s times to the next worker, which starts them %s',
    async (times, _, claimed, counted) => {
      engine.stall();
      const suspects = ['a', 'b', 'c'].map((name) => `${times}-${name}`);
      const asked = () => suspects.reduce((sum, uid) => sum + askedAbout(`The text of ${uid}.`), 0);
      const claims = async () => {
        const { rows } = await owner.query<{ attempts: number }>(
          'select attempts from jobs where uid = any($1) and lease_token is not null order by attempts',
          [suspects],
        );
        return rows.map(({ attempts }) => attempts);
      };
      for (const uid of suspects) await order(uid);
      await until(() => asked() === 3);
      await expire(suspects, claimed);
      const begun = counted.split(',').filter((attempts) => Number(attempts) > claimed).length;
      await until(async () => asked() === 3 + begun && (await claims()).join() === counted);
      engine.resume();
      for (const uid of suspects) expect((await ended(uid)).status).toBe('completed');
    },
  );
});

describe('a lease on a job', () => {
  /** Gives the lease to another worker. */
  const steal = (uid: string, token: string) =>
    owner.query(`update jobs set lease_token = $2, due_at = now() + interval '1 hour' where uid = $1`, [
      uid,
      token,
    ]);

  it('that was lost prevents every write: result, status, transfers and callback', async () => {
    engine.stall();
    await order('stolen', { callback_url: 'http://127.0.0.1:1024/never' });
    await until(() => askedAbout('The text of stolen.') === 1);
    const other = randomUUID();
    await steal('stolen', other);
    engine.resume();
    await server.server.stop(); // Resolves when all work in progress is done.
    expect(await recordOf('stolen')).toMatchObject({
      status: 'machine_translate_in_progress',
      lease_token: other,
      attempts: 1,
    });
    const { rows } = await owner.query(
      `select (select count(*) from job_texts t where t.part = j.part and t.job_id = j.job_id and kind = 'result') as results,
              (select count(*) from job_events e where e.part = j.part and e.job_id = j.job_id) as events,
              (select count(*) from deliveries d where d.part = j.part and d.job_id = j.job_id) as deliveries
         from jobs j where uid = 'stolen'`,
    );
    expect(rows).toEqual([{ results: 0, events: 0, deliveries: 0 }]);
    expect((await moneyOf('stolen')).map((one) => 'kind' in one && one.kind)).toEqual(['hold']);
    await owner.query(`update jobs set callback_url = null, due_at = now() where uid = 'stolen'`);
    await server.restart();
    expect((await ended('stolen')).status).toBe('completed');
  });

  it('that was lost is noticed at the next heartbeat, and the engine request is aborted', async () => {
    // Long enough that a heartbeat, after a third of it, is never too late on a busy machine.
    await server.restart({ DRAGOMAN_LEASE: '6' });
    engine.stall();
    await order('beaten');
    await until(() => askedAbout('The text of beaten.') === 1);
    const { signal } = engine.requests.at(-1)!;
    expect(signal?.aborted).toBe(false);
    await steal('beaten', randomUUID());
    await until(() => signal?.aborted);
    engine.resume();
    await owner.query(`update jobs set due_at = now() where uid = 'beaten'`);
    expect((await ended('beaten')).status).toBe('completed');
  });

  it('is extended for as long as the work takes', async () => {
    engine.stall();
    await order('long');
    await until(() => askedAbout('The text of long.') === 1);
    const { rows } = await owner.query<{ due_at: Date }>(`select due_at from jobs where uid = 'long'`);
    const token = (await recordOf('long')).lease_token;
    await until(async () => {
      const later = await owner.query(`select from jobs where uid = 'long' and due_at > $1`, [
        new Date(rows[0]!.due_at.getTime() + 6_000),
      ]);
      return later.rowCount === 1;
    });
    expect(await recordOf('long')).toMatchObject({ lease_token: token, attempts: 1 });
    engine.resume();
    await ended('long');
    expect(askedAbout('The text of long.')).toBe(1);
    await server.restart();
  });
});

describe('two workers', () => {
  it('on one database share the jobs and never translate a job twice', async () => {
    await server.restart({ DRAGOMAN_WORKER_JOBS: '16' });
    const one = engine;
    const two = createFake();
    const second = await startServer({
      store: server.store,
      settings: server.settings,
      role: 'worker',
      engines: () => [two],
      log: createLog('silent'),
    });
    one.stall();
    two.stall();
    const uids = Array.from({ length: 60 }, (_, n) => `pair-${n}-`);
    await Promise.all(uids.map((uid) => order(uid)));
    // Neither worker has capacity for all jobs, so each worker gets some of them.
    await until(() => one.requests.length > 0 && two.requests.length > 0);
    one.resume();
    two.resume();
    for (const uid of uids) expect((await ended(uid)).status).toBe('completed');
    expect(uids.map((uid) => askedAbout(`The text of ${uid}.`, one, two))).toEqual(uids.map(() => 1));
    const { rows } = await owner.query(
      `select uid, count(*) as ends from job_events join jobs using (part, account_id, job_id)
        where uid like 'pair-%' and to_status = 'completed' group by uid having count(*) = 1`,
    );
    expect(rows).toHaveLength(uids.length);
    await second.stop();
    await server.restart();
  });
});

describe('a text with unusual content', () => {
  const line = 'The quick brown fox jumps over the lazy dog. ';
  it.each<[name: string, text: string, translation?: string]>([
    [
      'brackets and the signs of engines',
      '[a] (b) <c> ^d$ /e\\ @f *g* #h ~i~ `j` |k| +l+ _m_',
      '[A] (B) <C> ^D$ /E\\ @f *G* #h ~I~ `j` |K| +L+ _M_',
    ],
    [
      'what looks like markup',
      'a < b && c > d &amp; &#169; <b>bold</b> <!-- x --> ]]>',
      'A < B && C > D &amp; &#169; <b>BOLD</b> <!-- x --> ]]>',
    ],
    ['emoji, joined and flagged', 'a 👩‍👩‍👧‍👦 b 🇪🇸 c 👍🏽 d 🏴󠁧󠁢󠁷󠁬󠁳󠁿 e'],
    ['nothing but emoji and digits', '🎉 123 — 4,5'],
    ['line ends of every kind', 'one\r\ntwo\nthree\rfour\u2028five\u0085six'],
    ['empty lines around and between', '\n\n  first\n\n\n\nlast  \n\r\n'],
    ['tabs and wide gaps', 'a\tb\t\tc    d\u00a0e\u3000f'],
    ['marks that show nothing', '\ufeffa\u200bb\u00adc\u200e d\u0301'],
    ['a line without an end', 'the last line'],
    ['control characters', 'a\u0001b\u001bc\u007fd\n1\u0001', 'A\u0001B\u001bC\u007fD\n1\u0001'],
    [
      'addresses and variables, which are not touched',
      'see https://example.com/a?b=c&d=%20e, mail to ann@example.com: {name} {{user.id}} %s %1$d %(n)s <%= x %>',
      'SEE https://example.com/a?b=c&d=%20e, MAIL TO ann@example.com: {name} {{user.id}} %s %1$d %(n)s <%= x %>',
    ],
    ['a line of 100 kB in sentences', line.repeat(2_300).trimEnd()],
    ['a line of 100 kB without a sentence’s end', 'word '.repeat(20_000).trimEnd()],
    ['a word of 100 kB, which no engine takes', `a ${'x'.repeat(100_000)} b`, `A ${'x'.repeat(100_000)} B`],
    ['300 kB in lines', `${line.trim()}\r\n`.repeat(6_800)],
  ])('is translated without loss: %s', async (name, text, translation) => {
    const uid = `odd-${name.replace(/[^a-z0-9]/gi, '-')}`;
    await order(uid, { text });
    const body = await ended(uid);
    expect(body.failure).toBeUndefined();
    // Long texts are compared as booleans, because a diff of 300 kB would be unreadable.
    const expected = translation ?? text.toUpperCase();
    if (expected.length > 1000) expect(body.translated_text === expected).toBe(true);
    else expect(body.translated_text).toBe(expected);
    expect(body.text === text).toBe(true);
  });
});
