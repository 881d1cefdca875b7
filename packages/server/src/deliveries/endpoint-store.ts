/** The SQL statements about webhook endpoints. */
import type { AccountRef, Environment } from '../base/account.ts';
import type { Queryable } from '../database/database.ts';
import { statement } from '../database/statements.ts';
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
          key_id = excluded.key_id, status = excluded.status
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
