/** Runs the same checks as the server on one segment. */
import {
  check,
  type Finding,
  glossary,
  keyOf,
  similarity,
  subtitleFigures,
  type Term,
} from '@dragoman/checks';
import { type Piece, plainText, withoutCuts } from '../text/pieces.ts';
import type { Segment, Task } from './task.ts';

export type { Finding };
export { glossary, keyOf as keyOfFinding, subtitleFigures };

/** The lowest similarity by words of two sources of which one may be a match for the other. */
const LEAST_ALIKE = 0.3;

/** Returns true if the translation of one source may be a match for the other. */
export const isAlike = (one: readonly Piece[], other: readonly Piece[]): boolean =>
  similarity(plainText(one), plainText(other), 'word', LEAST_ALIKE) > 0;

/** Returns the glossary of a task in the form that the checks need. */
export function termsOf(task: Task): Term[] {
  return task.terms.map(({ source, target, case_sensitive, forbidden, do_not_translate, note }) => ({
    source,
    target,
    caseSensitive: case_sensitive,
    forbidden,
    doNotTranslate: do_not_translate,
    ...(note === undefined ? {} : { note }),
  }));
}

export function findingsOf(
  { job }: Task,
  terms: readonly Term[],
  segment: Segment,
  target: readonly Piece[],
): readonly Finding[] {
  return check({
    source: withoutCuts(segment.source),
    target: withoutCuts(target),
    from: job.source_language,
    to: job.target_language,
    format: job.format,
    terms,
    kept: segment.kept !== undefined,
    ...(segment.max_length === undefined ? {} : { maxLength: segment.max_length }),
    ...(segment.time ? { time: segment.time } : {}),
  });
}
