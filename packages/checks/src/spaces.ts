import type { Check } from './finding.ts';
import { stretches, visible } from './pieces.ts';

const DOUBLED = /[ \u00a0]{2,}/g;

export const doubledSpaces: Check = {
  id: 'doubled-spaces',
  severity: 'warning',
  question: 'Are there several consecutive spaces, although the source has none?',
  find({ source, target }) {
    if (visible(source).search(DOUBLED) >= 0) return [];
    return stretches(target).flatMap(({ text, start }) =>
      Array.from(text.matchAll(DOUBLED), ({ 0: found, index }) => ({
        values: {},
        range: { start: start + index, end: start + index + found.length },
      })),
    );
  },
};
