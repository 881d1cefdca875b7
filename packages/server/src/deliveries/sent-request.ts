/** Presents the request of a delivery to its account and to operators, without its signature. */
import type { AccountRef } from '../base/account.ts';
import type { Queryable } from '../database/database.ts';
import { findSentRequest } from './attempt-store.ts';
import { fixedHeaders } from './delivery-signer.ts';

/** The request that every attempt of a delivery sends. */
export interface SentRequest {
  method: 'POST';
  content_type: string;
  /** The headers, with a masked signature. `webhook-timestamp` is missing, because it differs in each attempt. */
  headers: Record<string, string>;
  /** The first 64 KiB of the body as UTF-8. */
  body: string;
  /** The size of the whole body. */
  body_bytes: number;
}

const SHOWN_BODY_BYTES = 65_536;
/** Within five minutes, a receiver accepts a copied request with its signature. */
const MASKED_SIGNATURE = 'v1,…';

/** Reads the request of a delivery. @returns undefined if the account has no such delivery */
export async function readSentRequest(
  on: Queryable,
  account: AccountRef,
  deliveryId: string,
): Promise<SentRequest | undefined> {
  const row = await findSentRequest(on, { account, deliveryId, most: SHOWN_BODY_BYTES });
  if (row === undefined) return undefined;
  const { content_type, headers, body, body_bytes } = row;
  return {
    method: 'POST',
    content_type,
    headers: {
      ...fixedHeaders(headers, content_type),
      'content-length': String(body_bytes),
      'webhook-id': deliveryId,
      'webhook-signature': MASKED_SIGNATURE,
    },
    // With `stream`, the decoder drops a character that the limit cut in two.
    body: new TextDecoder().decode(body, { stream: body_bytes > body.length }),
    body_bytes,
  };
}
