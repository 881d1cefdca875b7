/** Compares job lists over HTTP with the results of a simple filter in memory. */
import { createFake, type FakeEngine } from '@dragoman/engines/fake';
import fc from 'fast-check';
import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FULL } from '../../../../../scripts/full.ts';
import { firstIdOf } from '../../base/ids.ts';
import { createConnection } from '../../database/connections.ts';
import { createClient, startTestServer, type TestServer, until } from '../../testing/harness.ts';

const HUMAN = '/tapi/v2/translation/';
const MACHINE = '/tapi/v2/mt_translation/';

let server: TestServer;
let owner: pg.Client;
/**
 * A second connection that reads pg_stat_activity, because a transaction sees only its first snapshot of it.
 */
let watcher: pg.Client;
let engine: FakeEngine;
let call: ReturnType<typeof createClient>;

interface Made {
  uid: string;
  status: string;
  source: string;
  target: string;
  /** The creation time in seconds after EPOCH. */
  at: number;
}
let made: Made[];
const EPOCH = Date.UTC(2026, 0, 1);
const moment = (seconds: number) => new Date(EPOCH + seconds * 1000).toISOString();

const UIDS = ['a', 'b', '_', '-', '.', 'ab', 'order-', '~'];
/**
 * The range of the creation times of jobs, in seconds. It is much longer than the minute by which the clocks
 * of id and database may differ.
 */
const SECONDS = 600;
const LANGUAGES = ['en', 'es', 'fr', 'pt-br'];
const STATUSES = ['new', 'translating', 'completed', 'failed', 'canceled', 'accepted', 'rejected'];

beforeAll(async () => {
  server = await startTestServer({
    engine: () => {
      engine = createFake();
      engine.stall();
      return engine;
    },
  });
  owner = createConnection(server.connection);
  watcher = await server.connectOwner();
  await owner.connect();
  const account = await server.createAccount();
  call = createClient(server.url, account.production_key);
  const random = fc.sample(
    fc.record({
      uid: fc
        .array(fc.constantFrom(...UIDS), { minLength: 1, maxLength: 6 })
        .map((parts) => parts.join(''))
        .filter((uid) => uid !== '.' && uid !== '..'),
      status: fc.constantFrom(...STATUSES),
      source: fc.constantFrom(...LANGUAGES),
      target: fc.constantFrom(...LANGUAGES),
      at: fc.nat(SECONDS),
    }),
    { numRuns: 120, seed: 7 },
  );
  made = [...new Map(random.map((one) => [one.uid, one])).values()].sort((a, b) => a.at - b.at);
  const objects = made.map(({ uid }) => ({ uid, text: '…', source_language: 'en', target_language: 'es' }));
  expect((await call('PATCH', HUMAN, { objects })).status).toBe(202);
  // Jobs of the other tier and the other environment, some of them with the same uids. No list under test may
  // show these jobs.
  await call('POST', MACHINE, {
    uid: 'machine-ab',
    text: 'House.',
    source_language: 'en',
    target_language: 'es',
  });
  const sandbox = createClient(`${server.url}/sandbox`, account.sandbox_key);
  expect((await sandbox('PATCH', HUMAN, { objects: objects.slice(0, 20) })).status).toBe(202);
  await dress();
});
afterAll(async () => {
  engine.resume();
  await owner.end();
  await server.stop();
});

/**
 * Sets the status, languages and times of the jobs to those of the model, and updates the counters. The times in the
 * ids differ from `at` by up to half a minute, as if servers with different clocks had created the jobs.
 */
async function dress(): Promise<void> {
  await owner.query('begin');
  // In a distributed database, the next setting then also applies on the nodes.
  await owner.query("set local citus.propagate_set_commands = 'local'");
  await owner.query('set local session_replication_role = replica');
  for (const [index, { uid, status, source, target, at }] of made.entries()) {
    const madeAt = EPOCH + (Math.floor(at / 60) * 60 + 30) * 1000;
    const id = firstIdOf(madeAt).slice(0, -12) + String(index).padStart(12, '0');
    await owner.query(
      `update jobs set status = $2, source_language = $3, target_language = $4, created_at = $5, due_at = null,
              lease_token = null, job_id = $6
        where uid = $1 and environment = 'production'`,
      [uid, status, source, target, moment(at), id],
    );
  }
  await owner.query('commit');
  await owner.query(`delete from job_counts`);
  await owner.query(
    `insert into job_counts (part, account_id, environment, tier, status, source_language, target_language, jobs)
     select part, account_id, environment, tier, status, source_language, target_language, count(*)
       from jobs group by 1, 2, 3, 4, 5, 6, 7`,
  );
}

const uidsOf = (body: { objects: Made[] }) => body.objects.map(({ uid }) => uid);

interface Wish {
  query: [string, string][];
  keeps(job: Made): boolean;
}
const wish = (query: [string, string][], keeps: Wish['keeps']): Wish => ({ query, keeps });

const part = fc
  .array(fc.constantFrom(...UIDS, 'er-', 'c', '%', '\\'), { minLength: 1, maxLength: 3 })
  .map((parts) => parts.join(''));
const languages = fc.subarray([...LANGUAGES, 'xx'], { minLength: 1 });
const written = fc.constantFrom(
  (field: string, list: string[]) => list.map((one): [string, string] => [field, one]),
  (field: string, list: string[]): [string, string][] => [[field, list.join(',')]],
  (field: string, list: string[]): [string, string][] => [[field, JSON.stringify(list)]],
);
const side = (field: 'source' | 'target') =>
  fc.oneof(
    fc
      .constantFrom(...LANGUAGES)
      .map((one) => wish([[`${field}_language`, one]], (job) => job[field] === one)),
    fc
      .constantFrom(...LANGUAGES)
      .map((one) => wish([[`${field}_language__ne`, one]], (job) => job[field] !== one)),
    fc
      .tuple(languages, written)
      .map(([list, write]) => wish(write(`${field}_language__in`, list), (job) => list.includes(job[field]))),
    fc
      .tuple(languages, written)
      .map(([list, write]) =>
        wish(write(`${field}_language__nin`, list), (job) => !list.includes(job[field])),
      ),
  );
const place = fc.nat(119).map((index) => index % made.length);
const oneUid = place.map((index) => {
  const { uid } = made[index]!;
  return wish([['uid', uid]], (job) => job.uid === uid);
});
const WISHES: fc.Arbitrary<Wish>[] = [
  part.map((one) => wish([['uid__startswith', one]], ({ uid }) => uid.startsWith(one))),
  part.map((one) => wish([['uid__endswith', one]], ({ uid }) => uid.endsWith(one))),
  part.map((one) => wish([['uid__contains', one]], ({ uid }) => uid.includes(one))),
  oneUid,
  fc.constantFrom(...STATUSES).map((one) => wish([['status', one]], ({ status }) => status === one)),
  side('source'),
  side('target'),
  fc.nat(SECONDS).map((at) => wish([['created__gte', moment(at)]], (job) => job.at >= at)),
  fc.nat(SECONDS).map((at) => wish([['created__lt', moment(at)]], (job) => job.at < at)),
];
// At most three filters at a time, because more filters together would match almost no job.
const few = fc.subarray(WISHES, { maxLength: 3 }).chain((some) => fc.tuple(...some) as fc.Arbitrary<Wish[]>);
// The program compares the other fields of one job itself.
const wishes = fc.oneof({ weight: 3, arbitrary: few }, fc.tuple(oneUid, side('source'), side('target')));

describe('a job list', () => {
  it('returns exactly the jobs that its filters match, in order, page by page, with their count', async () => {
    const asked = new Set<string>();
    await fc.assert(
      fc.asyncProperty(
        wishes,
        fc.constantFrom(1, 2, 7, 1000),
        fc.boolean(),
        fc.constantFrom('offset', 'start', 'job'),
        place,
        async (some, limit, newestFirst, from, index) => {
          for (const { query } of some) asked.add(query[0]![0]);
          const ordered = newestFirst ? made.toReversed() : made;
          const matching = ordered.filter((job) => some.every(({ keeps }) => keeps(job)));
          const after = from === 'job' ? index : -1;
          const kept = matching.filter((job) => ordered.indexOf(job) > after).map(({ uid }) => uid);
          const query = new URLSearchParams(some.flatMap((one) => one.query));
          query.set('limit', String(limit));
          if (newestFirst) query.set('order_by', '-created');
          if (from !== 'offset') query.set('after', ordered[after]?.uid ?? '');
          let link: string | null = `${HUMAN}?${query}`;
          const seen: string[] = [];
          for (let pages = 0; link !== null && pages < 4; pages++) {
            const {
              status,
              body,
            }: {
              status: number;
              body: { meta: { next: string | null; total_count: number }; objects: Made[] };
            } = await call('GET', link);
            expect(status, link).toBe(200);
            expect(body.meta.total_count, link).toBe(matching.length);
            seen.push(...uidsOf(body));
            link = body.meta.next;
          }
          expect(seen).toEqual(kept.slice(0, seen.length));
          if (link === null) expect(seen).toHaveLength(kept.length);
          else expect(seen.length).toBeLessThan(kept.length);
        },
      ),
      { numRuns: FULL ? 300 : 120 },
    );
    // The random filters must have included every filter suffix.
    expect(asked.size).toBe(4 + 1 + 2 * 4 + 2);
  });

  it('of machine jobs includes jobs in progress for the filters `new` and `translating`', async () => {
    for (const status of ['new', 'translating', 'machine_translate_in_progress']) {
      const { body } = await call('GET', `${MACHINE}?status=${status}`);
      expect(uidsOf(body)).toEqual(['machine-ab']);
      expect(body.meta.total_count).toBe(1);
    }
  });

  it('of machine jobs can be filtered by every status that they can have', async () => {
    const legacy = createClient(
      server.url,
      (await server.createAccount({ dialect: 'legacy' })).production_key,
    );
    const of = async (ask: typeof call, path: string, status: string) =>
      (await ask('GET', `${path}?status=${status}`)).status;
    for (const status of [
      'new',
      'translating',
      'completed',
      'failed',
      'canceled',
      'machine_translate_in_progress',
    ])
      expect(await of(call, MACHINE, status), status).toBe(200);
    for (const status of ['accepted', 'rejected']) {
      expect(await of(call, MACHINE, status), status).toBe(400);
      expect(await of(call, HUMAN, status), status).toBe(200);
    }
    expect(await of(call, HUMAN, 'machine_translate_in_progress')).toBe(400);
    for (const path of [MACHINE, HUMAN]) {
      expect(await of(call, path, 'deliver_ok')).toBe(400);
      expect(await of(legacy, path, 'deliver_ok')).toBe(200);
    }
  });

  it('has a total that is consistent with its rows when a job changes between the count and the page', async () => {
    const { production_key } = await server.createAccount();
    const customer = createClient(server.url, production_key);
    const house = { uid: 'moved', text: 'House.', source_language: 'en', target_language: 'es' };
    expect((await customer('POST', MACHINE, house)).status).toBe(201);
    await owner.query('begin');
    // The page query waits for this lock; the count reads another table and does not wait.
    await owner.query('lock table jobs in access exclusive mode');
    const listed = customer('GET', `${MACHINE}?status=machine_translate_in_progress`);
    await until(async () => {
      const { rowCount } = await watcher.query(
        `select from pg_stat_activity
          where datname = current_database() and wait_event_type = 'Lock' and query like '%(select one.part%'`,
      );
      return rowCount === 1;
    });
    await owner.query(`update jobs set status = 'canceled' where uid = 'moved'`);
    await owner.query('commit');
    const { body } = await listed;
    expect({ total: body.meta.total_count, objects: body.objects }).toEqual({ total: 0, objects: [] });
  });

  it('has a total above the offset of the next page, although only 10,000 jobs are counted', async () => {
    const { username, production_key } = await server.createAccount();
    const customer = createClient(server.url, production_key);
    const house = { uid: 'many-0', text: 'House.', source_language: 'en', target_language: 'es' };
    expect((await customer('POST', MACHINE, house)).status).toBe(201);
    await owner.query(
      `insert into jobs select (jsonb_populate_record(j, jsonb_build_object('uid', 'many-' || n, 'job_id',
         left(j.job_id::text, 24) || lpad(to_hex(n), 12, '0'), 'status', 'completed', 'due_at', null,
         'lease_token', null))).*
         from jobs j join accounts a using (part, account_id), generate_series(1, 10039) n where a.username = $1`,
      [username],
    );
    // As autovacuum does within a minute. A plan that was made for a few jobs is slow for ten thousand.
    await owner.query('analyze jobs');
    const MANY = 10_040;
    for (const filter of ['uid__startswith=many', 'created__gte=2020-01-01', 'created__lt=2100-01-01']) {
      const page = async (offset: number) => {
        const { body } = await customer('GET', `${MACHINE}?${filter}&offset=${offset}`);
        return { total: body.meta.total_count, jobs: body.objects.length, more: body.meta.next !== null };
      };
      expect(await page(0), filter).toEqual({ total: 10_000, jobs: 20, more: true });
      expect(await page(9_980), filter).toEqual({ total: 10_001, jobs: 20, more: true });
      expect(await page(10_000), filter).toEqual({ total: 10_021, jobs: 20, more: true });
      expect(await page(MANY - 20), filter).toEqual({ total: MANY, jobs: 20, more: false });
      expect(await page(MANY), filter).toEqual({ total: 10_000, jobs: 0, more: false });
    }
  });

  it('can be filtered by a part of a uid that is not a valid uid itself, such as “..”', async () => {
    const { body } = await call('GET', `${HUMAN}?uid__contains=.&uid__startswith=..`);
    expect(body.meta.total_count).toBe(made.filter(({ uid }) => uid.startsWith('..')).length);
  });

  it('has links to the next and previous page that keep the other parameters', async () => {
    const path = `${HUMAN}?color=blue&source_language__in=en&source_language__in=es&limit=2`;
    const first = (await call('GET', path)).body;
    expect(first.meta.previous).toBeNull();
    expect(first.meta.next).toBe(`${path}&offset=2`);
    const second = (await call('GET', first.meta.next)).body;
    expect(second.meta.previous).toBe(`${path}&offset=0`);
    expect(uidsOf((await call('GET', second.meta.previous)).body)).toEqual(uidsOf(first));
    const cursor = (await call('GET', `${HUMAN}?limit=2&after=`)).body;
    expect(cursor.meta).toMatchObject({ offset: 0, previous: null });
    expect(cursor.meta.next).toBe(
      `${HUMAN}?${new URLSearchParams({ limit: '2', after: uidsOf(cursor)[1]! })}`,
    );
  });

  it('is empty for an offset beyond its end, and has at most 1,000 jobs when limit is 0', async () => {
    const beyond = (await call('GET', `${HUMAN}?offset=9007199254740991`)).body;
    expect(beyond).toMatchObject({ objects: [], meta: { next: null, total_count: made.length } });
    expect((await call('GET', `${HUMAN}?uid__contains=a&offset=900000`)).body.objects).toEqual([]);
    expect((await call('GET', HUMAN)).body.meta.limit).toBe(20);
    const whole = (await call('GET', `${HUMAN}?limit=0`)).body;
    expect(whole.meta.limit).toBe(1000);
    expect(whole.objects).toHaveLength(made.length);
  });

  it.each([
    ['created__gte=2026-01-01', true],
    ['created__gte=2026-01-01T00:00:00Z', true],
    ['created__gte=2026-01-01T02:00:00%2B02:00', true],
    ['created__lt=2026-01-01T02:10:01+02', true],
    ['created__lt=2026-01-01T02:10:01+02:00', true],
    ['created__lt=2025-12-31T19:10:01-05', true],
    ['created__lt=2026-01-01T00:10:01.5', true],
    ['created__gte=2025-12-31T19:00:00.000-0500', true],
    ['created__lt=2026-01-01', false],
    ['created__gte=2027-01-01', false],
  ])('accepts the date filter %s', async (query, all) => {
    expect((await call('GET', `${HUMAN}?${query}`)).body.meta.total_count).toBe(all ? made.length : 0);
  });

  it.each([
    ['comma list with spaces', ' en , es ,', ['en', 'es']],
    ['JSON array after a space', ' ["en"]', ['en']],
    ['list of nothing', '', []],
    ['empty JSON array', '[]', []],
  ])('accepts the languages to filter by as a %s', async (_, written, wanted) => {
    const query = new URLSearchParams({ source_language__in: written, limit: '0' });
    const { body } = await call('GET', `${HUMAN}?${query}`);
    const kept = made.filter(({ source }) => wanted.includes(source)).map(({ uid }) => uid);
    expect(uidsOf(body)).toEqual(kept);
  });

  it('applies both the filter for one language and the filter for a list of languages', async () => {
    const total = async (query: string) => (await call('GET', `${HUMAN}?${query}`)).body.meta.total_count;
    const english = made.filter(({ source }) => source === 'en').length;
    expect(await total('source_language=en&source_language__in=en,es')).toBe(english);
    expect(await total('source_language=en&source_language__in=es')).toBe(0);
    expect(await total('source_language=es&source_language=en')).toBe(english);
  });

  it('ignores unknown parameters', async () => {
    const { status, body } = await call(
      'GET',
      `${HUMAN}?color=blue&color__in=red&created=x&constructor__a=1`,
    );
    expect([status, body.meta.total_count]).toEqual([200, made.length]);
  });

  it.each([
    ['limit=1001', 'limit: must be a whole number from 0 to 1000.'],
    ['limit=-1', 'limit: must be a whole number from 0 to 1000.'],
    ['limit=', 'limit: must be a whole number from 0 to 1000.'],
    ['offset=x', 'offset: must be a whole number from 0.'],
    ['offset=1&after=a', 'offset: cannot be combined with after.'],
    ['after=nobody', 'after: is the uid of no job.'],
    ['order_by=price', 'order_by: "price" is not one of created, -created.'],
    ['status=done', /^status: "done" is not one of new, translating, completed, /],
    ['status__in=new', 'status: has no lookup "in".'],
    ['uid__in=a', 'uid: has no lookup "in"; there are startswith, endswith, contains.'],
    ['uid__startswith__x=a', 'uid: has no lookup "startswith__x"; there are startswith, endswith, contains.'],
    ['source_language__gt=a', 'source_language: has no lookup "gt"; there are in, nin, ne.'],
    ['target_language__in=[1]', 'target_language__in: must be a comma list or a JSON array of strings.'],
    ['target_language__in=["en"', 'target_language__in: must be a comma list or a JSON array of strings.'],
    ['created__gte=yesterday', 'created__gte: "yesterday" is no moment in ISO 8601.'],
    ['created__gte=x2026-01-01', 'created__gte: "x2026-01-01" is no moment in ISO 8601.'],
    ['created__lt=2026-01-01T25:00', 'created__lt: "2026-01-01T25:00" is no moment in ISO 8601.'],
    ['color=%00', /^color: must not contain NUL characters/],
    [`order_by=${'x'.repeat(40)}`, `order_by: "${'x'.repeat(40)}" is not one of created, -created.`],
    [`order_by=${'x'.repeat(41)}`, `order_by: "${'x'.repeat(40)}…" is not one of created, -created.`],
    ['created__lt=2026-02-30', 'created__lt: "2026-02-30" is no moment in ISO 8601.'],
    ['created__gt=2026-01-01', 'created: has no lookup "gt"; there are gte, lt.'],
    [
      'limit=x&offset=y',
      'limit: must be a whole number from 0 to 1000.\noffset: must be a whole number from 0.',
    ],
  ])('refuses the query %s', async (query, error) => {
    const { status, body } = await call('GET', `${HUMAN}?${query}`);
    expect(status).toBe(400);
    expect(body.error).toMatch(error);
  });
});
