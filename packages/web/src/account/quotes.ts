/**
 * Quotes documents. A document is uploaded once for all target languages that ask for its price at the same time,
 * and only a few documents are uploaded at a time.
 */
import { useQueries } from '@tanstack/react-query';
import { CallError, call, refusalOf, retryDelayOf } from '../api/client.ts';
import type { DocumentQuote } from '../api/generated.ts';
import { type Shipment, sendingsIn } from './document-list.ts';

/** The maximum number of uploads at a time. More would only compete for the connection and for the server. */
const MAX_UPLOADS = 2;
/** The maximum number of target languages of one upload. The server allows no more. */
const MAX_TARGETS = 20;

interface Asked {
  /** Equal for the target languages of a document that one upload can quote. */
  key: string;
  shipment: Shipment;
  /** Aborted when nothing shows this quote any more. */
  signal: AbortSignal;
  resolve(quote: DocumentQuote): void;
  reject(error: unknown): void;
}

let asked: Asked[] = [];
let uploads = 0;

/** Returns the key of a document with the options on which its price depends. It has no text, which may be long. */
function keyOf({ document, body }: Shipment): string {
  const { environment, tier, source_language, brand, tone, retranslate } = body;
  return JSON.stringify([document.id, environment, tier, source_language, brand, tone, retranslate]);
}

/** Quotes the documents that were not sent, in the order of the shipments. */
export function useQuotes(shipments: readonly Shipment[]) {
  return useQueries({
    queries: shipments.map((shipment) => {
      const { document, target, body } = shipment;
      const { state = 'failed' } = sendingsIn(body, document)[target] ?? {};
      return {
        queryKey: ['quoteDocument', keyOf(shipment), target],
        queryFn: ({ signal }: { signal: AbortSignal }) => quote(shipment, signal),
        enabled: state === 'failed',
        staleTime: Number.POSITIVE_INFINITY,
        retry: (failures: number, error: Error) =>
          retryDelayOf(error) !== undefined || (failures < 1 && isLost(error)),
        retryDelay: (_: number, error: Error) => retryDelayOf(error) ?? 1_000,
      };
    }),
  });
}

const isLost = (error: Error) => error instanceof CallError && (error.status === 0 || error.status >= 500);

function quote(shipment: Shipment, signal: AbortSignal): Promise<DocumentQuote> {
  return new Promise((resolve, reject) => {
    asked.push({ key: keyOf(shipment), shipment, signal, resolve, reject });
    // The other target languages of the document ask in the same turn of the event loop.
    setTimeout(startUploads);
  });
}

function startUploads(): void {
  while (uploads < MAX_UPLOADS) {
    asked = asked.filter(({ signal }) => !signal.aborted);
    const [first] = asked;
    if (first === undefined) return;
    const batch = asked.filter(({ key }) => key === first.key).slice(0, MAX_TARGETS);
    asked = asked.filter((one) => !batch.includes(one));
    uploads++;
    void upload(first.shipment, batch).finally(() => {
      uploads--;
      startUploads();
    });
  }
}

/** Quotes a document for the target languages of a batch. Every error settles the whole batch. */
async function upload({ body }: Shipment, batch: readonly Asked[]): Promise<void> {
  const abandoned = new AbortController();
  for (const { signal } of batch) {
    signal.addEventListener('abort', () => batch.every((one) => one.signal.aborted) && abandoned.abort());
  }
  // Only what can change the price or be refused is sent. The tone decides which entries of the memory match.
  const { target_language: _, instructions: __, mail: ___, set_lang: ____, ...document } = body;
  const target_languages = batch.map(({ shipment }) => shipment.target);
  try {
    const { quotes } = await call(
      'quoteDocument',
      { body: { ...document, target_languages } },
      { signal: abandoned.signal },
    );
    const byTarget = new Map(quotes.map((one) => [one.target_language, one]));
    for (const { shipment, resolve, reject } of batch) {
      const { quote, refusal } = byTarget.get(shipment.target)!;
      if (quote !== null) resolve(quote);
      else reject(refusalOf({ error: refusal! }, { status: 400 }));
    }
  } catch (error) {
    for (const { reject } of batch) reject(error);
  }
}
