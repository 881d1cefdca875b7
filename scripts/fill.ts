/** Fills a database with the jobs of a year by SQL, for benchmarks and proofs. */
import type pg from 'pg';

/** The number of rows in one insert, which limits the size of the transaction. */
const CHUNK = 250_000;

/**
 * Inserts the jobs of a year. A fifth of the jobs belongs to the first account. Indexes are dropped before and
 * created after the inserts.
 *
 * @param accounts the number of accounts, whose names end in `-0`, `-1` and so on
 */
export async function fillJobs(owner: pg.Client, jobs: number, accounts: number): Promise<void> {
  const { rows: indexes } = await owner.query<{ name: string; definition: string }>(
    `select i.indexrelid::regclass::text as name, pg_get_indexdef(i.indexrelid) as definition from pg_index i
      where i.indrelid = 'jobs'::regclass and not i.indisunique`,
  );
  for (const { name } of indexes) await owner.query(`drop index ${name}`);
  await owner.query(`set session_replication_role = replica`);
  await owner.query(
    `create temporary table filled as
       select split_part(username, '-', 2)::int as account_number, part, account_id from accounts
        where username ~ '^[a-z]+-[0-9]+$'`,
  );
  for (let from = 0; from < jobs; from += CHUNK) {
    const to = Math.min(from + CHUNK, jobs) - 1;
    await owner.query(FILL, [from, to, jobs, accounts]);
    process.stderr.write(`${to + 1} of ${jobs} jobs\n`);
  }
  await owner.query(`set session_replication_role = origin`);
  for (const { definition } of indexes) await owner.query(definition);
  await owner.query(
    `insert into job_counts (part, account_id, environment, tier, status, source_language, target_language, jobs, folded)
     select part, account_id, environment, tier, status, source_language, target_language, count(*), true
       from jobs group by 1, 2, 3, 4, 5, 6, 7`,
  );
  await owner.query('vacuum (analyze) jobs');
  await owner.query('vacuum (analyze) job_counts');
}

/** The job ids are in the order of creation, as the service makes them. The year ends in November 2026. */
const FILL = `
insert into jobs (part, account_id, job_id, environment, tier, uid, request_hash, dialect, status, source_language,
  target_language, text_format, words, characters, price_cents, cents_per_word, created_at)
select f.part, f.account_id, (lpad(to_hex(at.ms), 12, '0') || '7' || lpad(to_hex(n % 4096), 3, '0') || '8' || lpad(to_hex(n), 15, '0'))::uuid,
       'production', 'human',
       case when n % 20 = 0 then 'order-' || n else substr(md5(n::text), 1, 10) || '-' || n end,
       '\\x00', 'spec',
       case when n % 100 < 91 then 'completed' when n % 100 < 94 then 'canceled' when n % 100 < 97 then 'translating'
            when n % 100 < 99 then 'new' else 'failed' end,
       case when l % 10 < 7 then 'en' when l % 10 < 9 then 'es' when l % 100 < 99 then 'fr' else 'de' end,
       case when l / 100 % 10 < 7 then 'es' when l / 100 % 10 < 9 then 'fr' else 'pt' end,
       'text', 100, 600, 300, 3, to_timestamp(at.ms / 1000.0)
  from generate_series($1::bigint, $2::bigint) as given (n)
  cross join lateral (select abs(hashint8(n)) as h, abs(hashint8(n + 1)) as l) as hashed
  cross join lateral (select (1763500000000 + n * (31536000000 / $3::bigint))::bigint as ms) as at
  join filled f on f.account_number = case when h % 5 = 0 then 0 else 1 + h % ($4::bigint - 1) end`;
