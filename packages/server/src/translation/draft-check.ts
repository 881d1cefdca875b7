/**
 * Decides whether an engine's draft is a translation of the sentence, and whether a failed draft is worth a
 * retry.
 */
import { isCorrect, type Piece, repair } from '@dragoman/documents';
import { type Draft, type Engine, faultOf } from '@dragoman/engines';
import type { CachedDraft } from './cache.ts';
import type { Retry } from './drafts.ts';
import { type Sentence, UNSUPPORTED } from './sentences.ts';
import type { PlacedTerms } from './terms.ts';

export type FailedDraft = { status: 'failed'; reason: string; retry: Retry };
export type CheckedDraft = ({ status: 'translated' } & CachedDraft) | FailedDraft;

/**
 * Checks the draft of one sentence, after its codes were repaired and its terms replaced.
 * @param draft undefined when the engine returned fewer drafts than it was sent sentences
 * @param away true when the engine itself is failing, rather than this text
 */
export function checkDraft(
  { sentence, placed }: { sentence: Sentence; placed: PlacedTerms | undefined },
  draft: Draft | undefined,
  away: boolean,
  { from, to }: { from: string; to: string },
  { deterministic }: Engine['capabilities'],
): CheckedDraft {
  if (draft === undefined || draft.id !== sentence.id)
    return { status: 'failed', reason: 'lost', retry: 'soon' };
  if (draft.status === 'unsupported') return { status: 'failed', reason: UNSUPPORTED, retry: 'wait' };
  const garbled: FailedDraft = {
    status: 'failed',
    reason: 'garbled',
    retry: deterministic ? 'never' : 'soon',
  };
  if (draft.status === 'failed') {
    const { reason } = draft;
    if (away || reason === 'stopped' || reason === 'unavailable')
      return { status: 'failed', reason, retry: 'wait' };
    if (reason === 'garbled') return garbled;
    return { status: 'failed', reason, retry: reason === 'too long' ? 'never' : 'soon' };
  }
  const sent = placed?.pieces ?? sentence.canonical.pieces;
  const { pieces, notes } = repair(sent, draft.pieces);
  const taken = placed === undefined ? pieces : placed.take(pieces);
  if (!isCorrect(sentence.canonical.pieces, taken)) return garbled;
  if (faultOf(taken, sentence.canonical.pieces, { from, to }) !== null) return garbled;
  return {
    status: 'translated',
    pieces: joinText(taken),
    route: draft.route,
    notes: [...notes, ...(placed?.notes ?? [])],
    confidence: draft.confidence,
  };
}

/** The values of `Retry`, from the least likely to succeed to the most likely. */
const RETRIES: readonly Retry[] = ['never', 'soon', 'wait'];

/**
 * Records why a sentence failed, and chooses its retry. Of the retries of several engines, the one that is most
 * likely to succeed counts. The failure of an engine that does not serve the language pair counts only if no engine
 * serves it.
 */
export function recordFailure(sentence: Sentence, { reason, retry }: FailedDraft): void {
  if (reason === UNSUPPORTED) return;
  const isFirst = sentence.reason === UNSUPPORTED;
  if (isFirst || RETRIES.indexOf(retry) > RETRIES.indexOf(sentence.retry)) sentence.retry = retry;
  sentence.reason = reason;
}

function joinText(pieces: readonly Piece[]): Piece[] {
  const out: Piece[] = [];
  for (const piece of pieces) {
    const last = out.at(-1);
    const isText = 'text' in piece && !('keep' in piece);
    if (isText && last !== undefined && 'text' in last && !('keep' in last)) {
      out[out.length - 1] = { text: last.text + piece.text };
    } else out.push(piece);
  }
  return out;
}
