import type { Check } from './finding.ts';
import { glossary } from './glossary.ts';
import { base } from './language.ts';
import { translatable } from './pieces.ts';

/** A name with at most this many words may stay untranslated. */
const NAME_WORDS = 4;

export const untranslated: Check = {
  id: 'untranslated',
  severity: 'warning',
  question: 'Is the translation the same text as the source, although the source has text to translate?',
  find({ source, target, from, to, terms }) {
    if (base(from) === base(to)) return [];
    const text = tidy(translatable(source));
    if (text !== tidy(translatable(target))) return [];
    let rest = '';
    let position = 0;
    for (const { term, range } of glossary(terms, from, to).find(text)) {
      if (!term.doNotTranslate) continue;
      rest += text.slice(position, range.start);
      position = range.end;
    }
    rest += text.slice(position);
    return isNameOrSign(rest) ? [] : [{ values: {} }];
  },
};

const tidy = (text: string) => text.normalize('NFC').replace(/\s+/gu, ' ').trim();

/**
 * Returns true if a text has only numbers, addresses, abbreviations and words that begin with a capital
 * letter.
 */
function isNameOrSign(text: string): boolean {
  const words = text.split(' ').filter((word) => /\p{L}/u.test(word) && !/[@/\d]|\.\w/.test(word));
  return (
    words.length <= NAME_WORDS &&
    words.every((word) => /^[^\p{L}]*\p{Lu}/u.test(word) || /^\P{L}*\p{L}\P{L}*$/u.test(word))
  );
}
