/** The SQL statements about webhook endpoints. */
import type { AccountRef, Environment } from '../base/account.ts';
import { firstIdOf } from '../base/ids.ts';
import type { Queryable } from '../database/database.ts';
import { statement } from '../database/statements.ts';
import { ofActiveAccount } from '../work/queue.ts';
import type { Endpoint } from './endpoint-schemas.ts';

const COLUMNS = 'endpoint_id as id, environment, url, events, description, key_id, status, created_at';

/** Lists the webhook endpoints of an account, oldest first. @param environment null for both */
export const listEndpoints = statement<Endpoint, { account: AccountRef; environment: Environment | null }>(
  'deliveries.list_endpoints',
  `select ${COLUMNS} from webhook_endpoints
    where part = :part and account_id = :account_id
      and (:environment::text is null or environment = :environment) order by endpoint_id`,
).rows;

const SAVE = statement<Endpoint>(
  'deliveries.save_endpoint',
  `insert into webhook_endpoints (part, account_id, endpoint_id, environment, url, host, events, description,
                                  key_id, status)
   values (:part, :account_id, :endpoint_id, :environment, :url, :host, :events, :description, :key_id, :status)
   on conflict (part, account_id, endpoint_id) do update
      set url = excluded.url, host = excluded.host, events = excluded.events, description = excluded.description,
          key_id = excluded.key_id, status = excluded.status,
          active_since = case when excluded.url <> webhook_endpoints.url
                                or excluded.status = 'active' and webhook_endpoints.status <> 'active' then excluded.active_since
                              else webhook_endpoints.active_since end
   returning ${COLUMNS}`,
);

/** Inserts or updates a webhook endpoint. @param host the host and port of its URL */
export async function saveEndpoint(
  on: Queryable,
  account: AccountRef,
  { id, environment, url, events, description, key_id, status }: Omit<Endpoint, 'created_at'>,
  host: string,
): Promise<Endpoint> {
  const key = { part: account.part, account_id: account.accountId, endpoint_id: id };
  const once = events && [...new Set(events)];
  const values = { environment, url, host, events: once, description, key_id, status };
  const [row] = await on.query(SAVE, { ...key, ...values });
  return row!;
}

/** Deletes a webhook endpoint with its secrets. Its deliveries stay. */
export const deleteEndpointRow = statement<never, { account: AccountRef; endpointId: string }>(
  'deliveries.delete_endpoint',
  'delete from webhook_endpoints where part = :part and account_id = :account_id and endpoint_id = :endpointId',
).run;

/** Counts the webhook endpoints of each environment that were disabled because their deliveries failed. */
export async function countFailedEndpoints(
  on: Queryable,
  account: AccountRef,
): Promise<Record<Environment, number>> {
  const failed = (await listEndpoints(on, { account, environment: null })).filter(
    ({ status }) => status === 'failed',
  );
  const of = (environment: Environment) => failed.filter((one) => one.environment === environment).length;
  return { production: of('production'), sandbox: of('sandbox') };
}

// The index of dead deliveries finds those of the last days. Only an endpoint with enough of them needs the second
// subquery, which may read all its deliveries of these days.
const FAILING = statement<{ at: Date; part: number; account_id: string; endpoint_id: string }>(
  'deliveries.failing_endpoints',
  `select now() as at, w.part, w.account_id, w.endpoint_id from webhook_endpoints w
    where w.status = 'active' and ${ofActiveAccount('w')}
      and (select count(*) from (
             select from deliveries d
              where d.part = w.part and d.account_id = w.account_id and d.environment = w.environment
                and d.status = 'dead' and d.delivery_id > $1 and d.endpoint_id = w.endpoint_id
                and d.failure in ('gone', 'out of time') and d.event <> 'test' and d.created_at > w.active_since
              limit $2) dead) = $2
      and not exists (
        select from deliveries d
         where d.part = w.part and d.account_id = w.account_id and d.delivery_id > $1
           and d.endpoint_id = w.endpoint_id and d.status = 'delivered')`,
);

/**
 * Lists the active endpoints of all accounts to which at least `least` deliveries since a moment are dead, and none was
 * delivered. @returns `at`: the moment of the list
 */
export function listFailingEndpoints(on: Queryable, since: Date, least: number) {
  return on.query(FAILING, [firstIdOf(since.getTime()), least]);
}

/** Sets an endpoint to `failed` if it was active at a moment and still is. @returns the endpoint; undefined if not */
export const setFailedEndpoint = statement<Endpoint, { account: AccountRef; endpointId: string; at: Date }>(
  'deliveries.set_failed_endpoint',
  `update webhook_endpoints set status = 'failed'
    where part = :part and account_id = :account_id and endpoint_id = :endpointId and status = 'active'
      and active_since < :at
   returning ${COLUMNS}`,
).first;
