/** The end of a crash run: everything comes to rest, and what there is then is read. */
import { setTimeout as wait } from 'node:timers/promises';
import type pg from 'pg';
import { createConnection } from '../../packages/server/src/database/connections.ts';
import type { Connection } from '../../packages/server/src/database/database.ts';
import type { History } from './history.ts';

/** After the last kill: a lease (5 s), a retry of a delivery, and room. What is not done by then is reported. */
const SETTLE_MILLISECONDS = 120_000;

type Facts = Pick<History, 'jobs' | 'transfers' | 'deliveries' | 'balances'>;

/** Waits until no machine has anything to do, or its patience ends; then reads what there is. */
export async function settle(connection: Connection): Promise<Facts> {
  const client = await connect(connection);
  const rows = async <T extends pg.QueryResultRow>(sql: string) => (await client.query<T>(sql)).rows;
  try {
    const until = Date.now() + SETTLE_MILLISECONDS;
    while (Date.now() < until) {
      const [left] = await rows<{ count: number }>(
        `select (select count(*) from jobs where due_at is not null)
              + (select count(*) from deliveries where due_at is not null) as count`,
      );
      if (left!.count === 0) break;
      await wait(200);
    }
    return {
      jobs: await rows(
        `select substring(callback_url from '[^/]*$') as name, uid, environment, job_id as "jobId", order_number as "orderNumber", status,
                price_cents as "priceCents", failure from jobs`,
      ),
      transfers: await rows(
        `select job_id as "jobId", environment, kind, debit, credit, amount_cents as cents from transfers`,
      ),
      deliveries: await rows(
        `select delivery_id as "deliveryId", job_id as "jobId", status,
                (select count(*) from (
                   select started_at, finished_at, lead(started_at) over (order by attempt) as next from attempts a
                    where a.delivery_id = d.delivery_id) a
                  where finished_at is null or (finished_at > next and next > started_at + interval '2.5 s')) as "unfinishedAttempts"
           from deliveries d`,
      ),
      balances: await rows(`select environment, available_cents as "availableCents" from balances`),
    };
  } finally {
    await client.end();
  }
}

/** The last fault may have met PostgreSQL, which starts again then. */
async function connect(connection: Connection): Promise<pg.Client> {
  for (const end = Date.now() + SETTLE_MILLISECONDS; ; await wait(200)) {
    const client = createConnection(connection);
    try {
      await client.connect();
      return client;
    } catch (error) {
      await client.end();
      if (Date.now() > end) throw error;
    }
  }
}
