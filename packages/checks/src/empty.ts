import type { Check } from './finding.ts';
import { translatable } from './pieces.ts';

/** Severity is error, because the document would miss this segment. */
export const empty: Check = {
  id: 'empty',
  severity: 'error',
  question: 'Is there a translation?',
  find: ({ source, target }) =>
    isEmpty(translatable(target)) && !isEmpty(translatable(source)) ? [{ values: {} }] : [],
};

/** Returns true if a text has only white space and invisible characters. */
export const isEmpty = (text: string): boolean => !/[^\s\p{Cf}\p{Cc}]/u.test(text);
