/**
 * The distinct sentences of a text. A sentence that occurs several times is translated once; each occurrence gets the
 * translation with its own code numbers.
 */
import type { Piece, Segment } from '@dragoman/documents';
import { createTurns } from '../base/turns.ts';
import type { CachedDraft } from './cache.ts';
import { type Canonical, canonical } from './canonical.ts';
import { type Drafted, keepSegment, type Retry } from './drafts.ts';
import type { MemoryMatch, TranslationRequest } from './request.ts';
import type { Glossary } from './terms.ts';

export interface Sentence {
  /** The id of the first segment with this sentence. */
  id: string;
  canonical: Canonical;
  key: string;
  /** Number of characters in the sentence's visible text. */
  length: number;
  /** The text before the first occurrence of the sentence, for engines that read context. */
  before: string | undefined;
  /** The translation; undefined while the sentence has no translation. */
  done?: CachedDraft;
  /** The reason why the sentence has no translation: the failure of the last engine that serves the pair. */
  reason: string;
  /**
   * How to retry the sentence. Of the values of the engines that serve the pair, the one that is most likely to
   * succeed; `wait` if no engine serves the pair.
   */
  retry: Retry;
}

/** An occurrence of a sentence: one segment. */
export interface Occurrence {
  sentence: Sentence;
  own: Canonical;
  /**
   * The memory match of this occurrence. An in-context match depends on the neighbouring segments, so
   * occurrences of a sentence may have different matches.
   */
  match: MemoryMatch | undefined;
  /** The draft of a segment that is not translated, which is its source text. */
  kept: Drafted | undefined;
}

/** The failure reason of a sentence whose language pair no engine serves. */
export const UNSUPPORTED = 'unsupported';

/**
 * The maximum number of characters of preceding text that engines with context support get with a segment.
 */
const BEFORE_CHARACTERS = 600;

/** Returns every distinct sentence of a text once, and for each segment the sentence that it contains. */
export async function findSentences(
  segments: readonly Segment[],
  request: Pick<TranslationRequest, 'before' | 'signal'>,
): Promise<{ sentences: Sentence[]; occurrences: Occurrence[] }> {
  const byKey = new Map<string, Sentence>();
  const occurrences: Occurrence[] = [];
  let before = request.before ?? '';
  const turn = createTurns(request.signal);
  for (const segment of segments) {
    await turn(segment.pieces.length + 1);
    const own = canonical(segment.pieces);
    const key = JSON.stringify(own.pieces);
    const text = visibleText(own.pieces);
    let sentence = byKey.get(key);
    if (sentence === undefined) {
      sentence = {
        id: segment.id,
        canonical: own,
        key,
        length: text.length,
        before: before === '' ? undefined : before,
        reason: UNSUPPORTED,
        retry: 'wait',
      };
      byKey.set(key, sentence);
    }
    occurrences.push({ sentence, own, match: undefined, kept: keepSegment(segment) });
    before = `${before} ${text}`.slice(-BEFORE_CHARACTERS).trimStart();
  }
  return { sentences: [...byKey.values()], occurrences };
}

/** Whether an occurrence gets its draft without an engine. */
export const needsNoEngine = ({ match, kept }: Occurrence): boolean =>
  match !== undefined || kept !== undefined;

/**
 * Counts the segments that have a draft: segments that are not translated, memory matches, and every
 * occurrence of a translated sentence.
 * @returns a function to call with each sentence that has been translated
 */
export function countProgress(
  occurrences: readonly Occurrence[],
  progress: (drafted: number) => void,
): (sentence: Sentence) => void {
  const counts = new Map<Sentence, number>();
  let drafted = 0;
  for (const occurrence of occurrences) {
    const { sentence } = occurrence;
    if (needsNoEngine(occurrence)) drafted++;
    else counts.set(sentence, (counts.get(sentence) ?? 0) + 1);
  }
  return (sentence) => {
    drafted += counts.get(sentence) ?? 0;
    progress(drafted);
  };
}

/**
 * Returns the draft of a segment: its source text if it is not translated, its memory match, or the
 * translation of its sentence.
 */
export function draftOf(
  segment: Segment,
  { sentence, own, match, kept }: Occurrence,
  glossary: Glossary,
): Drafted {
  if (kept !== undefined) return kept;
  const { done } = sentence;
  if (match !== undefined) {
    const { kind, memoryId, pieces } = match;
    const notes = glossary.empty ? [] : glossary.check(segment.pieces, pieces);
    return { segment, status: 'translated', pieces, route: `memory:${kind}`, notes, memoryId };
  }
  if (done === undefined) {
    return { segment, status: 'failed', reason: sentence.reason, retry: sentence.retry };
  }
  const notes = glossary.empty ? done.notes : [...done.notes, ...glossary.check(own.pieces, done.pieces)];
  return { ...done, segment, status: 'translated', pieces: own.back(done.pieces), notes };
}

/** Returns the text of a segment without its codes. */
export function visibleText(pieces: readonly Piece[]): string {
  return pieces.map((piece) => ('text' in piece ? piece.text : '')).join('');
}
