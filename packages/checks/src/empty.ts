import type { Check } from './finding.ts';
import { translatable } from './pieces.ts';

/** An error: the document would lack the segment. */
export const empty: Check = {
  id: 'empty',
  severity: 'error',
  question: 'Is there a translation?',
  find: ({ source, target }) =>
    isEmpty(translatable(target)) && !isEmpty(translatable(source)) ? [{ values: {} }] : [],
};

/** Whether a text has only white space and invisible characters. */
export const isEmpty = (text: string): boolean => !/[^\s\p{Cf}\p{Cc}]/u.test(text);
