/** Creates the headers of a delivery, including its signatures. */
import { createSecretKey, type KeyObject } from 'node:crypto';
import { MAX_LIVE_SECRETS, type SecretUse } from '../access/secrets.ts';
import type { AccountRef } from '../base/account.ts';
import type { Log } from '../base/log.ts';
import { VERSION } from '../base/version.ts';
import { isUnavailable } from '../database/database.ts';
import type { DeliveryLease } from './queue.ts';
import { parseSecret, signatureHeadersInTurns } from './signature.ts';
import type { DeliveryRow } from './store.ts';

export interface DeliverySignerOptions {
  /** Returns the active webhook secrets of an account for one use in the form `whsec_…`, newest first. */
  secrets(account: AccountRef, use: SecretUse): Promise<string[]>;
  log: Log;
  now(): Date;
}

export interface DeliverySigner {
  /**
   * Returns the headers to send; undefined if the account has no usable secret; `unwanted` if the webhook endpoint was
   * deleted with its secrets after the attempt began.
   */
  headersOf(
    lease: DeliveryLease,
    delivery: DeliveryRow,
  ): Promise<Record<string, string> | undefined | 'unwanted'>;
}

/** The minimum number of milliseconds between two logged warnings about unusable secrets. */
const QUIET_MILLISECONDS = 60_000;

export function createDeliverySigner({ secrets, log, now }: DeliverySignerOptions): DeliverySigner {
  const keys = new WeakMap<readonly string[], readonly KeyObject[]>();
  let quietUntil = 0;

  function logUnsigned(error: unknown, { id, account }: DeliveryLease): void {
    if (now().getTime() < quietUntil) return;
    quietUntil = now().getTime() + QUIET_MILLISECONDS;
    const fields = { error, delivery: id, account: account.accountId };
    log.error(fields, 'deliveries wait because they cannot be signed; run dragoman doctor');
  }

  /** Prepares the keys of a list of secrets once, for all deliveries that share the list. */
  function keysOf(given: readonly string[]): readonly KeyObject[] {
    const ready = keys.get(given) ?? given.slice(0, MAX_LIVE_SECRETS).flatMap(toKey);
    keys.set(given, ready);
    return ready;
  }

  return {
    async headersOf(lease, delivery) {
      let live: string[];
      try {
        const { environment, endpoint_id: endpointId } = delivery;
        live = await secrets(lease.account, { environment, endpointId });
        if (endpointId !== null && live.length === 0) return 'unwanted';
      } catch (error) {
        if (isUnavailable(error)) throw error;
        logUnsigned(error, lease);
        return undefined;
      }
      try {
        return {
          ...fixedHeaders(delivery.headers, delivery.content_type),
          ...(await signatureHeadersInTurns(keysOf(live), lease.id, now(), delivery.body)),
        };
      } catch (error) {
        logUnsigned(error, lease);
        return undefined;
      }
    },
  };
}

/** Returns the headers that are the same in every attempt of a delivery. */
export function fixedHeaders(headers: Record<string, string>, contentType: string): Record<string, string> {
  return {
    // Headers are sorted, so that every attempt sends them in the same order, whether they come from memory or the
    // database.
    ...Object.fromEntries(Object.entries(headers).sort()),
    'content-type': contentType,
    'user-agent': `dragoman/${VERSION}`,
  };
}

function toKey(secret: string): KeyObject[] {
  const bytes = parseSecret(secret);
  return bytes === undefined ? [] : [createSecretKey(bytes)];
}
