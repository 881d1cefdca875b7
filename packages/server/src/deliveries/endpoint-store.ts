/** The SQL statements about webhook endpoints. */
import type { AccountRef, Environment } from '../base/account.ts';
import { firstIdOf } from '../base/ids.ts';
import type { Queryable } from '../database/database.ts';
import { statement } from '../database/statements.ts';
import { ofActiveAccount } from '../work/queue.ts';
import type { FilterType } from './event-types.ts';
import type { EndpointStatus } from './states.ts';

/** The maximum number of webhook endpoints of an account in one environment. An event can have a delivery to each. */
export const MAX_ENDPOINTS = 10;

export interface EndpointRow {
  endpoint_id: string;
  environment: Environment;
  url: string;
  /** The event types that the endpoint gets; null for every type, also those that later versions add. */
  events: FilterType[] | null;
  description: string;
  /** The API key that set the URL, which may be revoked by now; null if a user set it. */
  key_id: string | null;
  status: EndpointStatus;
  created_at: Date;
}

const LIST = statement<EndpointRow>(
  'deliveries.list_endpoints',
  `select endpoint_id, environment, url, events, description, key_id, status, created_at from webhook_endpoints
    where part = $1 and account_id = $2 and ($3::text is null or environment = $3) order by endpoint_id`,
);

/** Lists the webhook endpoints of an account, oldest first. @param environment undefined for both */
export function listEndpoints(
  on: Queryable,
  account: AccountRef,
  environment: Environment | undefined,
): Promise<EndpointRow[]> {
  return on.query(LIST, [account.part, account.accountId, environment ?? null]);
}

const SAVE = statement<EndpointRow>(
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
   returning endpoint_id, environment, url, events, description, key_id, status, created_at`,
);

/** Inserts or updates a webhook endpoint. @param host the host and port of its URL */
export async function saveEndpoint(
  on: Queryable,
  account: AccountRef,
  { endpoint_id, environment, url, events, description, key_id, status }: Omit<EndpointRow, 'created_at'>,
  host: string,
): Promise<EndpointRow> {
  const key = { part: account.part, account_id: account.accountId, endpoint_id };
  const once = events && [...new Set(events)];
  const values = { environment, url, host, events: once, description, key_id, status };
  const [row] = await on.query(SAVE, { ...key, ...values });
  return row!;
}

const DELETE = statement(
  'deliveries.delete_endpoint',
  'delete from webhook_endpoints where part = $1 and account_id = $2 and endpoint_id = $3',
);

/** Deletes a webhook endpoint with its secrets. Its deliveries stay. */
export async function deleteEndpointRow(
  on: Queryable,
  account: AccountRef,
  endpointId: string,
): Promise<void> {
  await on.query(DELETE, [account.part, account.accountId, endpointId]);
}

/** Counts the webhook endpoints of each environment that were disabled because their deliveries failed. */
export async function countFailedEndpoints(
  on: Queryable,
  account: AccountRef,
): Promise<Record<Environment, number>> {
  const failed = (await listEndpoints(on, account, undefined)).filter(({ status }) => status === 'failed');
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

const SET_FAILED = statement<EndpointRow>(
  'deliveries.set_failed_endpoint',
  `update webhook_endpoints set status = 'failed'
    where part = $1 and account_id = $2 and endpoint_id = $3 and status = 'active' and active_since < $4
   returning endpoint_id, environment, url, events, description, key_id, status, created_at`,
);

/** Sets an endpoint to `failed` if it was active at a moment and still is. @returns the endpoint; undefined if not */
export async function setFailedEndpoint(
  on: Queryable,
  account: AccountRef,
  endpointId: string,
  at: Date,
): Promise<EndpointRow | undefined> {
  const [row] = await on.query(SET_FAILED, [account.part, account.accountId, endpointId, at]);
  return row;
}
