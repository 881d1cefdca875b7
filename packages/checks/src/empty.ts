import type { Check } from './finding.ts';
import { translatable } from './pieces.ts';

/** An error: an empty segment would be a hole in the document. */
export const empty: Check = {
  id: 'empty',
  severity: 'error',
  asks: 'Is there a translation at all?',
  find: ({ source, target }) =>
    isEmpty(translatable(target)) && !isEmpty(translatable(source)) ? [{ values: {} }] : [],
};

/** Nothing but white space and characters that nobody sees. */
export const isEmpty = (text: string): boolean => !/[^\s\p{Cf}\p{Cc}]/u.test(text);
