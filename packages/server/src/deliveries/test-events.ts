/** Test events: an API key sends one like any other event, a user tests a URL with one attempt. */
import type { Vault } from '../access/secrets.ts';
import { limitAttempts } from '../access/sessions.ts';
import { recordAudit } from '../audit/audit.ts';
import type { Caller, Person } from '../base/account.ts';
import type { Database, Transaction } from '../database/database.ts';
import { hostOf, type NewEvent, recordEvents } from './deliveries.ts';
import { listEndpoints } from './endpoint-store.ts';
import { halfOpen } from './queue.ts';
import { LIFETIME_SECONDS } from './retry-after.ts';
import { TEST_HEADER } from './schedule.ts';

/** The account and the environment whose secrets sign the test. */
export type TestedAccount = Pick<Caller, 'account' | 'username' | 'environment'>;

/**
 * The limit of tests per account: twenty free tests, then delays of 1, 3, 7 … seconds, up to 10 minutes. A day without
 * tests resets it.
 */
const TESTS = { free: 20, mostSeconds: 600 };

/**
 * Records a test event for a URL that the guard has checked. If the URL is that of a webhook endpoint, the secret of the
 * endpoint signs it, because its receiver verifies events with that secret.
 * @returns the id of its delivery
 */
export async function sendTestEvent(
  transaction: Transaction,
  { account, username, environment }: TestedAccount,
  url: string,
  options: Pick<NonNullable<NewEvent['delivery']>, 'headers' | 'delaySeconds'> = {},
): Promise<string> {
  const body = { type: 'test', account: username, environment, created_at: new Date().toISOString() };
  const endpoints = await listEndpoints(transaction, { account, environment });
  const delivery = {
    url,
    endpointId: endpoints.find((endpoint) => endpoint.url === url)?.id,
    contentType: 'application/json',
    body: Buffer.from(JSON.stringify(body)),
    ...options,
  };
  const subject = { kind: 'none' } as const;
  const [id] = await recordEvents(transaction, [{ account, environment, type: 'test', subject, delivery }]);
  return id!;
}

/**
 * Sends a test event that a user has requested. It is attempted once and at once: before waiting deliveries, and also
 * if the circuit breaker of its host is open, because the user has reason to think that the host works.
 * @returns the id of its delivery
 * @throws ApiError `too_many_attempts`
 */
export async function testUrl(
  { database, vault }: { database: Database; vault: Vault },
  by: Person,
  tested: TestedAccount,
  url: string,
): Promise<string> {
  const { account, environment } = tested;
  await limitAttempts(database, vault.mark(`callback test ${account.accountId}`), TESTS);
  return database.transaction(async (transaction) => {
    const host = hostOf(url);
    const id = await sendTestEvent(transaction, tested, url, {
      headers: { [TEST_HEADER]: 'once' },
      delaySeconds: -LIFETIME_SECONDS,
    });
    await halfOpen(transaction, { account, host });
    const detail = { host, environment };
    await recordAudit(transaction, by, { action: 'callback.tested', account, subject: id, detail });
    return id;
  });
}
