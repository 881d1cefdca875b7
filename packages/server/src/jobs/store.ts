/** What is asked of the database about translation jobs. */
import { isDeepStrictEqual } from 'node:util';
import type { AccountRef, Dialect, Environment } from '../account.ts';
import type { Queryable, Transaction } from '../database/database.ts';
import { statement } from '../database/statements.ts';
import { uuidv7 } from '../ids.ts';
import type { Status } from './states.ts';

export type Tier = 'human' | 'machine';
/** Of a job of a customer's, or of one that corrects a message of a chat. */
export type AnyTier = Tier | 'chat';
export type TextFormat = 'text' | 'html' | 'srt' | 'xliff';

/** A job on its way into the tables. */
export interface NewJob {
  account: AccountRef;
  /** This and the number are given just before the insert (`numbers.ts`). */
  jobId: string;
  orderNumber: number;
  environment: Environment;
  tier: Tier;
  uid: string;
  requestHash: Buffer;
  dialect: Dialect;
  status: Status;
  sourceLanguage: string;
  targetLanguage: string;
  textFormat: TextFormat;
  tone: string | undefined;
  topics: string[] | undefined;
  brand: string | undefined;
  /** The account's own, where the request named none. */
  defaultBrand: string | undefined;
  callbackUrl: string | undefined;
  words: number;
  priceCents: number;
  /** Seconds from the creation that a finished result is held. */
  holdSeconds: number;
  text: string;
  targetText: string | undefined;
  instructions: string | undefined;
  /** The worker of this process has it from the first moment. */
  leaseToken: string | undefined;
}

/** A customer's, or one that corrects a message. */
export type NewWork = Omit<NewJob, 'tier'> & { tier: AnyTier };

/** What an insert decides: the rest of the row is what was given. */
export interface InsertedRow {
  job_id: string;
  created_at: Date;
  hold_until: Date | null;
}

// Arrays, not a list of values: one prepared statement for a batch of any size. Lists within a list (topics)
// cannot be nested in an array of PostgreSQL, so they come as JSON.
const INSERT = statement<{ ended: boolean } & (InsertedRow | { [Field in keyof InsertedRow]: null })>(
  'jobs.insert',
  `with given as (
     select *, now() as at from unnest(
       $1::smallint[], $2::uuid[], $3::uuid[], $4::text[], $5::text[], $6::text[], $7::bytea[], $8::text[],
       $9::text[], $10::text[], $11::text[], $12::text[], $13::text[], $14::jsonb[], $15::text[], $16::text[],
       $17::integer[], $18::integer[], $19::bigint[], $20::integer[], $21::text[], $22::text[], $23::text[],
       $24::text[], $25::uuid[], $27::bigint[])
     as g (part, account_id, job_id, environment, tier, uid, request_hash, dialect, status, source_language,
       target_language, text_format, tone, topics, brand, callback_url, words, characters, price_cents,
       hold_seconds, source, supplied, instructions, default_brand, lease_token, order_number)),
   ended as (delete from creations where creation_id = $28 returning creation_id),
   inserted as (
     insert into jobs (part, account_id, job_id, environment, tier, uid, request_hash, dialect, status,
       source_language, target_language, text_format, tone, topics, brand, callback_url, words, characters,
       price_cents, created_at, hold_until, due_at, lease_token, attempts, default_brand, order_number)
     select part, account_id, job_id, environment, tier, uid, request_hash, dialect, status,
       source_language, target_language, text_format, tone,
       case when topics is not null then array(select jsonb_array_elements_text(topics)) end,
       brand, callback_url, words, characters, price_cents, at,
       case when hold_seconds > 0 then at + make_interval(secs => hold_seconds) end,
       at + make_interval(secs => case when lease_token is null then 0 else $26 end), lease_token,
       case when lease_token is null then 0 else 1 end, default_brand, order_number
       from given
     on conflict (part, account_id, environment, uid) do nothing
     returning part, account_id, job_id, environment, tier, status, source_language,
       target_language, created_at, hold_until),
   counted as (
     insert into job_counts (part, account_id, environment, tier, status, source_language, target_language, jobs)
     select part, account_id, environment, tier, status, source_language, target_language, count(*)
       from inserted group by 1, 2, 3, 4, 5, 6, 7),
   texts as (
     insert into job_texts (part, account_id, job_id, kind, body)
     select i.part, i.account_id, i.job_id, t.kind, t.body
       from inserted i join given g
         on g.part = i.part and g.account_id = i.account_id and g.job_id = i.job_id,
       lateral (values ('source', g.source), ('supplied', g.supplied), ('instructions', g.instructions))
         as t (kind, body)
      where t.body is not null)
   select i.job_id, i.created_at, i.hold_until, exists (select from ended) as ended
     from (select) one left join inserted i on true`,
);

/**
 * Inserts jobs with their texts, and ends the creation that they belong to.
 * @param leaseSeconds of those that bring a lease
 * @param creationId see `numbers.ts`
 * @returns the rows that are new (a uid that exists already gives none), and whether this ended the creation
 */
export async function insertJobs(
  transaction: Transaction,
  jobs: readonly NewWork[],
  leaseSeconds: number,
  creationId: string | undefined,
): Promise<{ rows: InsertedRow[]; ended: boolean }> {
  const column = <T>(pick: (job: NewWork) => T | undefined) => jobs.map((job) => pick(job) ?? null);
  const rows = await transaction.query(INSERT, [
    column(({ account }) => account.part),
    column(({ account }) => account.accountId),
    column(({ jobId }) => jobId),
    column(({ environment }) => environment),
    column(({ tier }) => tier),
    column(({ uid }) => uid),
    column(({ requestHash }) => requestHash),
    column(({ dialect }) => dialect),
    column(({ status }) => status),
    column(({ sourceLanguage }) => sourceLanguage),
    column(({ targetLanguage }) => targetLanguage),
    column(({ textFormat }) => textFormat),
    column(({ tone }) => tone),
    column(({ topics }) => topics && JSON.stringify(topics)),
    column(({ brand }) => brand),
    column(({ callbackUrl }) => callbackUrl),
    column(({ words }) => words),
    column(({ text }) => text.length),
    column(({ priceCents }) => priceCents),
    column(({ holdSeconds }) => holdSeconds),
    column(({ text }) => text),
    column(({ targetText }) => targetText),
    column(({ instructions }) => instructions),
    column(({ defaultBrand }) => defaultBrand),
    column(({ leaseToken }) => leaseToken),
    leaseSeconds,
    column(({ orderNumber }) => orderNumber),
    creationId ?? null,
  ]);
  return { rows: rows.filter((row) => row.job_id !== null), ended: rows[0]!.ended };
}

/** A job as it is read, without its texts. */
export interface JobRow {
  job_id: string;
  order_number: number;
  environment: Environment;
  tier: Tier;
  uid: string;
  request_hash: Buffer;
  dialect: Dialect;
  status: Status;
  source_language: string;
  target_language: string;
  text_format: TextFormat;
  tone: string | null;
  topics: string[] | null;
  brand: string | null;
  default_brand: string | null;
  callback_url: string | null;
  price_cents: number;
  charge: number;
  created_at: Date;
  hold_until: Date | null;
  failure: string | null;
  upgrade_hash: Buffer | null;
  /** No editor came in time: the result is a machine's, and was not charged. */
  fell_back: boolean;
  /** It is to be drafted anew: by which engine, or '' by the route of now. */
  redraft: string | null;
}

/** A new job as it would be read. */
export function rowOf(job: NewJob, inserted: InsertedRow): JobRow {
  return {
    job_id: job.jobId,
    order_number: job.orderNumber,
    environment: job.environment,
    tier: job.tier,
    uid: job.uid,
    request_hash: job.requestHash,
    dialect: job.dialect,
    status: job.status,
    source_language: job.sourceLanguage,
    target_language: job.targetLanguage,
    text_format: job.textFormat,
    tone: job.tone ?? null,
    topics: job.topics ?? null,
    brand: job.brand ?? null,
    default_brand: job.defaultBrand ?? null,
    callback_url: job.callbackUrl ?? null,
    price_cents: job.priceCents,
    charge: 1,
    created_at: inserted.created_at,
    hold_until: inserted.hold_until,
    failure: null,
    upgrade_hash: null,
    fell_back: false,
    redraft: null,
  };
}

/** One that a worker or an editor has: it may correct a message. */
export type WorkRow = Omit<JobRow, 'tier'> & { tier: AnyTier };

/** Of `JobRow`. */
export const COLUMNS = `job_id, order_number, environment, tier, uid, request_hash, dialect, status, source_language,
  target_language, text_format, tone, topics, brand, default_brand, callback_url, price_cents, charge, created_at,
  hold_until, failure, upgrade_hash, fell_back, redraft`;

const FIND = statement<JobRow>(
  'jobs.find',
  `select ${COLUMNS} from jobs where part = $1 and account_id = $2 and environment = $3 and uid = $4
    and tier <> 'chat'`,
);

export async function findJob(
  on: Queryable,
  account: AccountRef,
  environment: Environment,
  uid: string,
): Promise<JobRow | undefined> {
  const [row] = await on.query(FIND, [account.part, account.accountId, environment, uid]);
  return row;
}

const FIND_ALL = statement<JobRow>(
  'jobs.find_all',
  `select ${COLUMNS} from jobs where part = $1 and account_id = $2 and environment = $3 and uid = any($4)
    and tier <> 'chat'`,
);

export function findJobs(
  on: Queryable,
  account: AccountRef,
  environment: Environment,
  uids: readonly string[],
): Promise<JobRow[]> {
  return on.query(FIND_ALL, [account.part, account.accountId, environment, uids]);
}

const FIND_BY_ID = statement<JobRow>(
  'jobs.find_by_id',
  `select ${COLUMNS} from jobs where part = $1 and account_id = $2 and job_id = any($3)`,
);

export function findJobsById(
  on: Queryable,
  account: AccountRef,
  jobIds: readonly string[],
): Promise<JobRow[]> {
  return on.query(FIND_BY_ID, [account.part, account.accountId, jobIds]);
}

const FIND_WORK = statement<WorkRow>(
  'jobs.find_work',
  `select ${COLUMNS} from jobs where part = $1 and account_id = $2 and job_id = $3`,
);

export async function findWork(
  on: Queryable,
  account: AccountRef,
  jobId: string,
): Promise<WorkRow | undefined> {
  return (await on.query(FIND_WORK, [account.part, account.accountId, jobId]))[0];
}

const LOCK_WORK = statement<WorkRow>(
  'jobs.lock_work',
  `select ${COLUMNS} from jobs where part = $1 and account_id = $2 and job_id = $3 for update`,
);

/** The same, and nobody else moves it until the transaction ends. */
export async function lockWork(
  transaction: Transaction,
  account: AccountRef,
  jobId: string,
): Promise<WorkRow | undefined> {
  return (await transaction.query(LOCK_WORK, [account.part, account.accountId, jobId]))[0];
}

/** What makes a create that is sent again the same one: the caller's key, and the fingerprint of its request. */
export interface CreationKey {
  key: string;
  requestHash: Buffer;
}

export interface KeyEntry extends CreationKey {
  account: AccountRef;
  environment: Environment;
  jobIds: readonly string[];
}

// In the order of the key, as jobs are: two batches with the same keys would otherwise wait in a circle.
const INSERT_KEYS = statement<{ job_id: string }>(
  'jobs.insert_keys',
  `insert into idempotency (part, account_id, environment, key, request_hash, job_ids)
   select part, account_id, environment, key, request_hash, array(select jsonb_array_elements_text(job_ids))::uuid[]
     from unnest($1::smallint[], $2::uuid[], $3::text[], $4::text[], $5::bytea[], $6::jsonb[])
       as g (part, account_id, environment, key, request_hash, job_ids)
    order by part, account_id, environment, key
   on conflict (part, account_id, environment, key) do nothing
   returning job_ids[1] as job_id`,
);

/** Takes keys for jobs about to be made. @returns the first job ids of those that were free */
export async function insertKeys(
  transaction: Transaction,
  entries: readonly KeyEntry[],
): Promise<Set<string>> {
  const rows = await transaction.query(INSERT_KEYS, [
    entries.map(({ account }) => account.part),
    entries.map(({ account }) => account.accountId),
    entries.map(({ environment }) => environment),
    entries.map(({ key }) => key),
    entries.map(({ requestHash }) => requestHash),
    entries.map(({ jobIds }) => JSON.stringify(jobIds)),
  ]);
  return new Set(rows.map(({ job_id }) => job_id));
}

const FIND_KEY = statement<{ request_hash: Buffer; job_ids: string[] }>(
  'jobs.find_key',
  `select request_hash, job_ids from idempotency
    where part = $1 and account_id = $2 and environment = $3 and key = $4`,
);

export async function findKey(
  on: Queryable,
  account: AccountRef,
  environment: Environment,
  key: string,
): Promise<{ request_hash: Buffer; job_ids: string[] } | undefined> {
  const [row] = await on.query(FIND_KEY, [account.part, account.accountId, environment, key]);
  return row;
}

const CORRECT_KEY = statement(
  'jobs.correct_key',
  `update idempotency set job_ids = $5 where part = $1 and account_id = $2 and environment = $3 and key = $4`,
);

/** Says which jobs a key of this transaction stands for, once that is known. */
export async function correctKey(
  transaction: Transaction,
  account: AccountRef,
  environment: Environment,
  { key }: CreationKey,
  jobIds: readonly string[],
): Promise<void> {
  await transaction.query(CORRECT_KEY, [account.part, account.accountId, environment, key, jobIds]);
}

const DELETE_KEY = statement(
  'jobs.delete_key',
  `delete from idempotency where part = $1 and account_id = $2 and environment = $3 and key = $4`,
);

/** Gives back a key of this transaction that no job came of. */
export async function deleteKey(
  transaction: Transaction,
  account: AccountRef,
  environment: Environment,
  { key }: CreationKey,
): Promise<void> {
  await transaction.query(DELETE_KEY, [account.part, account.accountId, environment, key]);
}

export type TextKind = 'source' | 'supplied' | 'instructions' | 'result';

const TEXTS = statement<{ kind: TextKind; body: string }>(
  'jobs.texts',
  `select kind, body from job_texts where part = $1 and account_id = $2 and job_id = $3 and kind = any($4)`,
);

export async function readTexts(
  on: Queryable,
  account: AccountRef,
  jobId: string,
  kinds: readonly TextKind[],
): Promise<Partial<Record<TextKind, string>>> {
  const rows = await on.query(TEXTS, [account.part, account.accountId, jobId, kinds]);
  return Object.fromEntries(rows.map(({ kind, body }) => [kind, body]));
}

export interface LeasedRow extends WorkRow {
  /** Its hold has not passed yet. */
  held: boolean;
  lease_token: string;
  /** Seconds since its creation, by the database's clock. */
  age: number;
}

/** Leases as the arrays that `unnest` takes: parts, accounts, jobs, tokens. */
interface LeaseKey {
  account: AccountRef;
  id: string;
  token: string;
}

function leaseColumns(leases: readonly LeaseKey[]): unknown[] {
  return [
    leases.map(({ account }) => account.part),
    leases.map(({ account }) => account.accountId),
    leases.map(({ id }) => id),
    leases.map(({ token }) => token),
  ];
}

const LEASED = statement<LeasedRow>(
  'jobs.leased',
  `select ${COLUMNS}, lease_token, coalesce(hold_until > now(), false) as held,
          extract(epoch from now() - created_at)::float8 as age
     from unnest($1::smallint[], $2::uuid[], $3::uuid[], $4::uuid[]) as g (part, account_id, id, token)
     join jobs j on j.part = g.part and j.account_id = g.account_id and j.job_id = g.id and j.lease_token = g.token`,
);

/** The jobs of the leases that still hold. */
export function findAllLeased(on: Queryable, leases: readonly LeaseKey[]): Promise<LeasedRow[]> {
  return on.query(LEASED, leaseColumns(leases));
}

const LEASED_TEXTS = statement<{ job_id: string; kind: TextKind; body: string }>(
  'jobs.leased_texts',
  `select t.job_id, t.kind, t.body
     from unnest($1::smallint[], $2::uuid[], $3::uuid[]) as g (part, account_id, id)
     join job_texts t on t.part = g.part and t.account_id = g.account_id and t.job_id = g.id
    where t.kind = any($4)`,
);

export function readLeasedTexts(
  on: Queryable,
  leases: readonly LeaseKey[],
  kinds: readonly TextKind[],
): Promise<{ job_id: string; kind: TextKind; body: string }[]> {
  return on.query(LEASED_TEXTS, [...leaseColumns(leases).slice(0, 3), kinds]);
}

export interface JobMove {
  account: AccountRef;
  jobId: string;
  /** Given: the move is made only while this lease holds. Without one it ends any lease. */
  leaseToken: string | undefined;
  failure: string | undefined;
  /** When a machine has more work on it: now, at the end of its hold, or never. */
  due: 'now' | 'hold' | 'never';
  /** See `JobRow`; every other move ends it. */
  redraft?: string;
}

// Rows are locked in the order of their key, as heartbeats lock them: neither waits for the other in a circle.
const MOVE = statement<{ event_id: string }>(
  'jobs.move',
  `with given as (
     select * from unnest($1::smallint[], $2::uuid[], $3::uuid[], $4::uuid[], $5::text[], $6::text[], $7::uuid[],
       $11::text[])
       as g (part, account_id, id, token, failure, due, event_id, redraft)),
   before as (
     select j.part, j.account_id, j.job_id, j.status, g.failure, g.due, g.event_id, g.redraft
       from jobs j join given g
         on j.part = g.part and j.account_id = g.account_id and j.job_id = g.id
      where (g.token is null or j.lease_token = g.token) and j.status = any($8) order by j.part, j.account_id, j.job_id for update of j),
   moved as (
     update jobs j set status = $9, failure = b.failure, lease_token = null, attempts = 0,
            due_at = case b.due when 'hold' then j.hold_until when 'now' then now() end, redraft = b.redraft,
            before_upgrade = case when $9 = 'translating' then j.before_upgrade end,
            finished_at = case when $9 in ('completed', 'failed', 'canceled') then now()
                               when $9 in ('accepted', 'rejected') then j.finished_at end
       from before b
      where j.part = b.part and j.account_id = b.account_id and j.job_id = b.job_id
     returning j.part, j.account_id, j.environment, j.tier, b.status as from_status, j.status, j.source_language,
       j.target_language),
   counted as (
     insert into job_counts (part, account_id, environment, tier, status, source_language, target_language, jobs)
     select m.part, m.account_id, m.environment, m.tier, c.status, m.source_language, m.target_language, sum(c.jobs)
       from moved m, lateral (values (m.from_status, -1), (m.status, 1)) as c (status, jobs)
      group by 1, 2, 3, 4, 5, 6, 7),
   event as (
     insert into job_events (part, account_id, event_id, job_id, from_status, to_status, actor, detail)
     select b.part, b.account_id, b.event_id, b.job_id, b.status, $9, $10, b.failure from before b)
   select event_id from before`,
);

/** Moves jobs and writes their events. @returns for each whether it was moved */
export async function moveJobs(
  transaction: Transaction,
  moves: readonly JobMove[],
  move: { from: readonly Status[]; to: Status; actor: string },
): Promise<boolean[]> {
  const eventIds = moves.map(() => uuidv7());
  const rows = await transaction.query(MOVE, [
    moves.map(({ account }) => account.part),
    moves.map(({ account }) => account.accountId),
    moves.map(({ jobId }) => jobId),
    moves.map(({ leaseToken }) => leaseToken ?? null),
    moves.map(({ failure }) => failure ?? null),
    moves.map(({ due }) => due),
    eventIds,
    move.from,
    move.to,
    move.actor,
    moves.map(({ redraft }) => redraft ?? null),
  ]);
  const moved = new Set(rows.map(({ event_id }) => event_id));
  return eventIds.map((id) => moved.has(id));
}

const MARK_FELL_BACK = statement(
  'jobs.mark_fell_back',
  `update jobs set fell_back = true where part = $1 and account_id = $2 and job_id = $3`,
);

export async function markFellBack(
  transaction: Transaction,
  account: AccountRef,
  jobId: string,
): Promise<void> {
  await transaction.query(MARK_FELL_BACK, [account.part, account.accountId, jobId]);
}

const WRITE_RESULTS = statement(
  'jobs.write_results',
  `insert into job_texts (part, account_id, job_id, kind, body)
   select part, account_id, job_id, 'result', body
     from unnest($1::smallint[], $2::uuid[], $3::uuid[], $4::text[]) as g (part, account_id, job_id, body)
   on conflict (part, account_id, job_id, kind) do update set body = excluded.body`,
);

export async function writeResults(
  transaction: Transaction,
  results: readonly { account: AccountRef; jobId: string; result: string }[],
): Promise<void> {
  await transaction.query(WRITE_RESULTS, [
    results.map(({ account }) => account.part),
    results.map(({ account }) => account.accountId),
    results.map(({ jobId }) => jobId),
    results.map(({ result }) => result),
  ]);
}

const POSTPONE = statement(
  'jobs.postpone',
  `update jobs set due_at = now() + make_interval(secs => $5), lease_token = null
    where part = $1 and account_id = $2 and job_id = $3 and lease_token = $4`,
);

/** Gives a lease back, to be tried again after `seconds`. */
export async function postpone(
  on: Queryable,
  account: AccountRef,
  lease: { id: string; token: string },
  seconds: number,
): Promise<void> {
  await on.query(POSTPONE, [account.part, account.accountId, lease.id, lease.token, seconds]);
}

export interface DraftedSegment {
  segmentId: string;
  source: unknown;
  draft: unknown | undefined;
  route: string | undefined;
  notes: readonly string[];
  failure: string | undefined;
}

// A job has segments already where it was upgraded before: what editors made of those that read the same is kept.
const FIND_SEGMENTS = statement<{ position: number; segment_id: string; source: unknown }>(
  'jobs.find_segments',
  `select position, segment_id, source from segments where part = $1 and account_id = $2 and job_id = $3`,
);
const CLEAR_SEGMENTS = statement(
  'jobs.clear_segments',
  `delete from segments where part = $1 and account_id = $2 and job_id = $3 and position = any($4)`,
);
const INSERT_SEGMENTS = statement(
  'jobs.insert_segments',
  `insert into segments (part, account_id, job_id, position, segment_id, source, draft, route, notes, failure)
   select $1, $2, $3, position, segment_id, source, draft, route,
          array(select jsonb_array_elements_text(notes)), failure
     from unnest($4::integer[], $5::text[], $6::jsonb[], $7::jsonb[], $8::text[], $9::jsonb[], $10::text[])
       as s (position, segment_id, source, draft, route, notes, failure)
   on conflict (part, account_id, job_id, position) do update
      set draft = excluded.draft, route = excluded.route, notes = excluded.notes, failure = excluded.failure,
          repeats = null`,
);

/** Writes the segments of a job with their drafts, in the place of those that it has. */
export async function writeSegments(
  transaction: Transaction,
  account: AccountRef,
  jobId: string,
  segments: readonly DraftedSegment[],
): Promise<void> {
  const key = [account.part, account.accountId, jobId];
  const others = (await transaction.query(FIND_SEGMENTS, key)).filter(({ position, segment_id, source }) => {
    const segment = segments[position];
    const isSame = segment?.segmentId === segment_id && isDeepStrictEqual(asJson(segment.source), source);
    return !isSame;
  });
  if (others.length > 0) {
    await transaction.query(CLEAR_SEGMENTS, [...key, others.map(({ position }) => position)]);
  }
  await transaction.query(INSERT_SEGMENTS, [
    ...key,
    segments.map((_, position) => position),
    segments.map(({ segmentId }) => segmentId),
    segments.map(({ source }) => JSON.stringify(source)),
    segments.map(({ draft }) => (draft === undefined ? null : JSON.stringify(draft))),
    segments.map(({ route }) => route ?? null),
    segments.map(({ notes }) => JSON.stringify(notes)),
    segments.map(({ failure }) => failure ?? null),
  ]);
}

/** As the database gives it back. */
const asJson = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

const UNJUDGED = statement<{ part: number; account_id: string; job_id: string }>(
  'jobs.unjudged',
  `select part, account_id, job_id from jobs
    where status = 'completed' and tier = 'human' and finished_at <= now() - make_interval(hours => $1)
    order by finished_at limit $2`,
);

/** Delivered so many hours ago, and nobody has said anything of them. */
export async function findUnjudged(
  on: Queryable,
  hours: number,
  limit: number,
): Promise<{ account: AccountRef; jobId: string }[]> {
  const rows = await on.query(UNJUDGED, [hours, limit]);
  return rows.map(({ part, account_id: accountId, job_id: jobId }) => ({
    account: { part, accountId } as AccountRef,
    jobId,
  }));
}
