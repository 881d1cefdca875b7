/**
 * Disables webhook endpoints whose deliveries all fail, because a receiver that no longer exists would get requests
 * forever. The owners of the account are notified.
 */
import { lockAccount } from '../access/accounts.ts';
import { recordAudit } from '../audit/audit.ts';
import type { AccountRef } from '../base/account.ts';
import type { Log } from '../base/log.ts';
import type { Database } from '../database/database.ts';
import { hostOf } from './deliveries.ts';
import type { Endpoint } from './endpoint-schemas.ts';
import { listFailingEndpoints, setFailedEndpoint } from './endpoint-store.ts';
import { ENDPOINT_MOVES } from './states.ts';

const ROUND_MILLISECONDS = 3_600_000;
/** The number of dead deliveries in the period that disables an endpoint, if none was delivered. */
export const MIN_DEAD = 10;
const PERIOD_MILLISECONDS = 5 * 86_400_000;

/** Called after an endpoint was disabled. */
export type OnEndpointFailed = (account: AccountRef, endpoint: Endpoint) => Promise<void>;

/** Disables all endpoints that fail. @param ended returns true when the worker stops */
export async function disableFailing(
  database: Database,
  onFailed: OnEndpointFailed,
  ended = () => false,
): Promise<void> {
  const since = new Date(Date.now() - PERIOD_MILLISECONDS);
  for (const { at, part, account_id, endpoint_id } of await listFailingEndpoints(database, since, MIN_DEAD)) {
    if (ended()) return;
    const account = { part, accountId: account_id } as AccountRef;
    const failed = await database.transaction(async (transaction) => {
      await lockAccount(transaction, account);
      const endpoint = await setFailedEndpoint(transaction, { account, endpointId: endpoint_id, at });
      if (endpoint === undefined) return undefined;
      const { environment, url } = endpoint;
      const { action } = ENDPOINT_MOVES.fail;
      const detail = { environment, host: hostOf(url) };
      await recordAudit(transaction, 'program', { action, account, subject: endpoint_id, detail });
      return endpoint;
    });
    if (failed !== undefined) await onFailed(account, failed);
  }
}

/** Starts a loop that disables failing endpoints, once an hour. */
export function startEndpointUpkeep(
  database: Database,
  onFailed: OnEndpointFailed,
  log: Log,
): { stop(): Promise<void> } {
  let stopping = false;
  let running: Promise<void> | undefined;
  const timer = setInterval(() => {
    running ??= disableFailing(database, onFailed, () => stopping)
      .catch((error: unknown) => log.warn({ error }, 'could not disable failing webhook endpoints'))
      .finally(() => {
        running = undefined;
      });
  }, ROUND_MILLISECONDS);
  return {
    async stop() {
      stopping = true;
      clearInterval(timer);
      await running;
    },
  };
}
