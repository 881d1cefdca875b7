/**
 * The documents that a customer has added but not sent, and the jobs that were created from sent documents.
 * The list is kept outside React, so that it stays and uploads continue while the user visits another page of
 * the app. It is stored only in memory.
 */
import { useSyncExternalStore } from 'react';
import { type Answer, CallError, call, retryDelayOf } from '../api/client.ts';
import type { DocumentOptions, DocumentQuote, NewDocument, OwnJob } from '../api/generated.ts';

/** Why the page does not send a file. The server checks everything else. */
export type Problem = 'type' | 'size' | 'encoding' | 'empty' | 'unreadable';

interface Added {
  id: number;
  /** The name of the file; undefined for a pasted text. */
  name: string | undefined;
}
export interface LocalDocument extends Added {
  text: string;
  format: NonNullable<NewDocument['text_format']>;
}
/** A file that cannot be sent. */
export interface ProblemFile extends Added {
  problem: Problem;
}

/**
 * The state of sending a document for one target language. `quote` is the quote with which it is sent: that of the page
 * depends on the choices, which the customer may change.
 */
export type Sending =
  | { state: 'sending'; sent: number; quote: DocumentQuote }
  /** The server was busy. The document is sent again in a moment. */
  | { state: 'waiting'; quote: DocumentQuote }
  | { state: 'failed'; error: Error }
  | { state: 'done'; job: OwnJob; repeated: boolean; quote: DocumentQuote };

interface DocumentList {
  /** The id of the user; empty before the first visit. */
  user: string;
  documents: readonly (LocalDocument | ProblemFile)[];
  /** The state of each document that is or was sent, by `keyOf`. */
  sendings: Readonly<Record<string, Sending>>;
  busy: boolean;
}

let list: DocumentList = { user: '', documents: [], sendings: {}, busy: false };
let lastId = 0;
const listeners = new Set<() => void>();

function change(next: Partial<DocumentList>): void {
  list = { ...list, ...next };
  for (const notify of listeners) notify();
}

/**
 * Returns the list of a user. If the list belongs to another user, starts an empty one.
 * @param user the id of the user; if empty because the session has ended, the list is kept
 */
export function useDocuments(user: string): DocumentList {
  if (user !== '' && list.user !== user) list = { user, documents: [], sendings: {}, busy: false };
  return useSyncExternalStore(watch, () => list);
}

function watch(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export const isProblem = (one: LocalDocument | ProblemFile): one is ProblemFile => 'problem' in one;

/** The environment and tier of a sent document. A document can be sent once in each combination of both. */
type Place = Pick<NewDocument, 'environment' | 'tier'>;

const prefixOf = (id: number, { environment, tier }: Place): string => `${id} ${environment} ${tier} `;

export const keyOf = ({ document, target, body }: Shipment): string => prefixOf(document.id, body) + target;

/** Reads files and adds them. A file with a problem is added too, so that the page can name the problem. */
export async function addFiles(files: Iterable<File>, options: DocumentOptions): Promise<void> {
  const added = await Promise.all(Array.from(files, (file) => readDocument(file, options)));
  change({ documents: [...list.documents, ...added] });
}

export function addText(text: string): void {
  const document: LocalDocument = { id: ++lastId, name: undefined, text, format: 'text' };
  change({ documents: [...list.documents, document] });
}

export function removeDocument({ id }: Added): void {
  change({ documents: list.documents.filter((one) => one.id !== id) });
}

/** Removes the documents that were sent. Their jobs stay on the page *Jobs*. */
export function clearSent(): void {
  const kept = list.documents.filter(({ id }) => {
    const own = sendingsOf(id);
    return own.length === 0 || own.some(([, { state }]) => state !== 'done');
  });
  change({ documents: kept, sendings: Object.fromEntries(kept.flatMap(({ id }) => sendingsOf(id))) });
}

/**
 * Returns all sendings of a document: the state for each target language, environment and tier, with its key
 * (`keyOf`).
 */
function sendingsOf(id: number): [key: string, sending: Sending][] {
  return Object.entries(list.sendings).filter(([key]) => key.startsWith(`${id} `));
}

/** Returns how far a document is sent in an environment and a tier, by target language. */
export function sendingsIn(place: Place, { id }: Added): Record<string, Sending> {
  const prefix = prefixOf(id, place);
  const own = sendingsOf(id).filter(([key]) => key.startsWith(prefix));
  return Object.fromEntries(own.map(([key, sending]) => [key.slice(prefix.length), sending]));
}

async function readDocument(file: File, options: DocumentOptions): Promise<LocalDocument | ProblemFile> {
  const { name } = file;
  const added = { id: ++lastId, name };
  const extension = name.slice(name.lastIndexOf('.') + 1).toLowerCase();
  const type = options.formats.find(({ extensions }) => extensions.includes(extension));
  if (type === undefined) return { ...added, problem: 'type' };
  if (file.size > options.max_bytes) return { ...added, problem: 'size' };
  try {
    // Throws an error for bytes that are not UTF-8. Replacing them would damage the text.
    const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
    const text = decoder.decode(await file.arrayBuffer());
    return text.trim() === '' ? { ...added, problem: 'empty' } : { ...added, text, format: type.format };
  } catch (error) {
    return { ...added, problem: error instanceof TypeError ? 'encoding' : 'unreadable' };
  }
}

export interface Shipment {
  document: LocalDocument;
  target: string;
  body: NewDocument;
}

interface QuotedShipment extends Shipment {
  quote: DocumentQuote;
}

/** Adds the quote to a shipment, and to its request the price and the source language of the quote. */
export function quoted({ document, target, body }: Shipment, quote: DocumentQuote): QuotedShipment {
  const { price, source_language } = quote;
  return { document, target, quote, body: { ...body, price, source_language } };
}

/** Errors after which the following documents would be refused too. */
const STOPPING = ['not_signed_in', 'conflict'];

/** Ends the run of `sendDocuments`. */
let stopping = new AbortController();

/**
 * Stops sending: an upload in progress still ends, the wait for a busy server ends at once, and all other documents
 * stay ready to send.
 */
export function stopSending(): void {
  stopping.abort();
}

/** The idempotency keys of documents that are sent again on purpose, until they are sent. */
const againKeys = new Map<string, string>();

/** Sends a document again that was sent before, as a new job. */
export function sendAgain(shipment: QuotedShipment): Promise<boolean> {
  const key = keyOf(shipment);
  if (!againKeys.has(key)) againKeys.set(key, crypto.getRandomValues(new Uint32Array(4)).join('-'));
  return sendDocuments([shipment]);
}

/**
 * Sends documents one after another, until the session ends or another user signs in. The server recognizes a
 * document that was sent before, so a retry after a lost answer creates no second job.
 * @returns whether a price has changed, so that the documents must be quoted again
 */
export async function sendDocuments(shipments: readonly QuotedShipment[]): Promise<boolean> {
  if (list.busy) return false;
  let isPriceChanged = false;
  stopping = new AbortController();
  const { signal } = stopping;
  change({ busy: true });
  const { user } = list;
  for (const shipment of shipments) {
    if (list.user !== user) return false;
    if (signal.aborted) break;
    const key = keyOf(shipment);
    const before = list.sendings[key];
    const report = (sending: Sending) => {
      // Another user may have signed in since.
      if (list.user === user) change({ sendings: { ...list.sendings, [key]: sending } });
    };
    try {
      const answer = await sendOne(shipment, user, report, signal);
      againKeys.delete(key);
      report({ state: 'done', ...answer, quote: shipment.quote });
    } catch (error) {
      if (signal.aborted && retryDelayOf(error as Error) !== undefined) {
        // The server was busy, so it has not received the document.
        const { [key]: _, ...others } = list.sendings;
        if (list.user === user)
          change({ sendings: before === undefined ? others : { ...others, [key]: before } });
        break;
      }
      report({ state: 'failed', error: error as Error });
      if (!(error instanceof CallError)) continue;
      isPriceChanged ||= error.code === 'price_changed';
      if (STOPPING.includes(error.code)) break;
    }
  }
  if (list.user === user) change({ busy: false });
  return isPriceChanged;
}

/** Sends a document. While the server is busy, it is sent again after each `Retry-After`. */
async function sendOne(
  shipment: QuotedShipment,
  user: string,
  report: (sending: Sending) => void,
  stopped: AbortSignal,
): Promise<Answer<'sendDocument'>> {
  const { quote } = shipment;
  const idempotencyKey = againKeys.get(keyOf(shipment));
  for (;;) {
    report({ state: 'sending', sent: 0, quote });
    try {
      return await call(
        'sendDocument',
        // All windows share the cookie of the session, so another window may have changed the user.
        { body: { ...shipment.body, user_id: user } },
        {
          onProgress: (sent) => report({ state: 'sending', sent, quote }),
          ...(idempotencyKey === undefined ? {} : { idempotencyKey }),
        },
      );
    } catch (error) {
      const delay = retryDelayOf(error as Error);
      if (delay === undefined || list.user !== user || stopped.aborted) throw error;
      report({ state: 'waiting', quote });
      await pause(delay, stopped);
      if (stopped.aborted) throw error;
    }
  }
}

/** Waits for a time, or until a signal is aborted. */
function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, milliseconds);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve();
    });
  });
}
