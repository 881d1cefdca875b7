import type { Check, Range } from './finding.ts';
import { base } from './language.ts';
import { stretches } from './pieces.ts';

interface Fault {
  problem: string;
  mark: string;
  wanted?: string;
  range: Range;
}

type Rule = (text: string) => Fault[];

/** Half-width marks and the full-width marks that Chinese and Japanese texts must use instead. */
const WIDE: Record<string, string> = { ',': '，', '.': '。', '!': '！', '?': '？', ':': '：', ';': '；' };
const ARABIC: Record<string, string> = { ',': '،', '?': '؟', ';': '؛' };

const wide: Rule = (text) =>
  marks(
    text,
    /(?<=[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}])[,.!?:;](?![\w.])/gu,
    'wrong-mark',
    (mark) => WIDE[mark],
  );
const arabic: Rule = (text) =>
  marks(text, /(?<=\p{sc=Arab}[\s"»)]?)[,?;](?![\w])/gu, 'wrong-mark', (mark) => ARABIC[mark]);
const greek: Rule = (text) => marks(text, /(?<=\p{sc=Grek}["»)]?)\?/gu, 'wrong-mark', () => ';');

/**
 * French requires a space before `?`, `!`, `;` and `:` and inside guillemets. Any space character is
 * accepted.
 */
const french: Rule = (text) => [
  ...marks(text, /(?<=[\p{L}\p{Nd})\]"])(?:[?!;](?![\w/=&])|»|:(?=[\s\u00a0]|$))/gu, 'space-missing'),
  ...marks(text, /«(?=[^\s\u00a0\u202f])/gu, 'space-missing'),
];
const canadian: Rule = (text) => [
  ...marks(text, /(?<=[\p{L}\p{Nd})\]"])(?:»|:(?=[\s\u00a0]|$))/gu, 'space-missing'),
  ...marks(text, /«(?=[^\s\u00a0\u202f])/gu, 'space-missing'),
];

/**
 * Rejects a space before a mark, and no space after the end of a sentence, for English and languages with the same rule.
 * A space before `:)`, `.NET` and ` ...` is accepted.
 */
const close: Rule = (text) => [
  ...marks(text, /(?<=\p{L})[ \u00a0\u202f](?:[,!?;:]|\.(?!\.))(?=[\s\u00a0]|$)/gu, 'space-before'),
  ...marks(text, /(?<=\p{Ll}{3})[.!?](?=\p{Lu}\p{Ll}{2})/gu, 'space-missing'),
];

/** Spanish questions must start with `¿` and exclamations with `¡`. */
const spanish: Rule = (text) => {
  const faults: Fault[] = [];
  let open = '';
  for (const { 0: found, index } of text.matchAll(/[¿¡]+|[?!]+|\n/gu)) {
    if (/^[¿¡]/.test(found)) open += found;
    else if (/^[?!]/.test(found)) {
      // `¡Qué?`, `¿Cómo!` and `¿¡Qué!?` are all accepted in Spanish. A mark inside an address or without a
      // word before it does not end a sentence.
      const isSentence =
        /[\p{L}\p{Nd}"'»)\]]/u.test(text[index - 1] ?? '') &&
        !/[\w/=&]/.test(text[index + found.length] ?? '');
      if (open === '' && isSentence) {
        const wanted = found.startsWith('?') ? '¿' : '¡';
        const range = { start: index, end: index + found.length };
        faults.push({ problem: 'opening-missing', mark: found.slice(0, 3), wanted, range });
      }
      open = '';
    } else open = '';
  }
  return faults;
};

const RULES: Record<string, readonly Rule[]> = {
  fr: [french],
  'fr-ca': [canadian],
  es: [spanish, close],
  ast: [spanish, close],
  zh: [wide],
  ja: [wide],
  el: [greek, close],
  ar: [arabic],
  fa: [arabic],
  ur: [arabic],
  ps: [arabic],
  // The following languages put spaces before punctuation marks or use other marks, so no rule applies to them.
  th: [],
  lo: [],
  km: [],
  my: [],
  hi: [],
  bn: [],
};

/** In a finding, `problem` is `wrong-mark`, `space-missing`, `space-before` or `opening-missing`. */
export const punctuation: Check = {
  id: 'punctuation',
  severity: 'warning',
  question: 'Do punctuation and the spaces around it follow the rules of the target language?',
  find({ target, to }) {
    const language = to.toLowerCase().replace('_', '-');
    const rules = RULES[language] ?? RULES[base(language)] ?? [close];
    return stretches(target).flatMap(({ text, start }) =>
      rules
        .flatMap((rule) => rule(text))
        .map(({ range, ...values }) => ({
          values,
          range: { start: start + range.start, end: start + range.end },
        })),
    );
  },
};

function marks(
  text: string,
  pattern: RegExp,
  problem: string,
  wantedFor: (mark: string) => string | undefined = () => undefined,
): Fault[] {
  return Array.from(text.matchAll(pattern), ({ 0: found, index }) => {
    const mark = found.trim();
    const wanted = wantedFor(mark);
    return {
      problem,
      mark,
      ...(wanted === undefined ? {} : { wanted }),
      range: { start: index, end: index + found.length },
    };
  });
}
