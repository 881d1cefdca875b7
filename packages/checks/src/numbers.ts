/**
 * Compares numbers across the notations of languages: `1,234.5` equals `1.234,5`, `1 234,5` and `١٬٢٣٤٫٥`.
 * Ambiguous forms (dates, times, versions) are compared by their runs of digits.
 */
import type { Check, Range } from './finding.ts';
import { base } from './language.ts';
import { stretches } from './pieces.ts';

interface Found {
  text: string;
  range: Range;
  /** The values that the number may have. An ambiguous form has several values. */
  values: string[];
  /** The number's runs of digits: `12` and `30` for `12:30`. */
  parts: string[];
  /**
   * True for a number with thousands separators, such as `1,234`. Its runs of digits are not compared,
   * because they could match another value.
   */
  grouped: boolean;
  /** True if a translation may write the number as a word or as the name of a month. */
  loose: boolean;
}

const NUMBER =
  /(?<![\p{Lu}\p{Ll}\p{Nd}])\p{Nd}+(?:[.,'’٫٬\u00a0\u202f\u2009]\p{Nd}+| \p{Nd}{3}(?!\p{Nd}))*/gu;
/** Suffixes of ordinal numbers, such as `th` in `4th`. */
const ORDINAL = /^(?:st|nd|rd|th|er|re|ère|e|ème|[ºª]|-?(?:й|я|е|го|му|ый|ая|ое))(?!\p{L})/iu;
const HALF_DAY = /^(?::\d\d)?[\s\u00a0\u202f]?([ap])\.?m\b/i;
const DECIMAL_COMMA = new Set(
  'ar az be bg bs ca cs da de el et eu fi fo fr gl hr hu hy id is it ka kk ky lt lv mk nb nl nn no pl ro ru sk sl sq sr sv tr tt uk uz vi'.split(
    ' ',
  ),
);
/** Languages that use a decimal point in some countries and a decimal comma in others. */
const EITHER = new Set(['es', 'pt', 'ar', 'fr', 'sw', 'af']);
/**
 * Languages that count in ten thousands (`150万` is 1.5 million). For them, only the non-zero digits are
 * compared.
 */
const MYRIADS = new Set(['zh', 'ja', 'ko']);
const LARGEST_WORD = 12;

/**
 * In a finding, `problem` is `missing` or `unknown`, and `number` is the number as it is written in the text.
 */
export const numbers: Check = {
  id: 'numbers',
  severity: 'warning',
  question: 'Does the translation have the numbers of the source, in the notation of its language?',
  find({ source, target, from, to }) {
    let wanted = numbersIn(source, from);
    let found = numbersIn(target, to);
    if (wanted.length + found.length === 0) return [];
    [wanted, found] = without(wanted, found, (one) => one.values);
    if (MYRIADS.has(base(from)) || MYRIADS.has(base(to))) {
      [wanted, found] = without(wanted, found, ({ values }) => values.map(significant));
    }
    const [missing, unknown] = byParts(wanted, found);
    const strict = missing.filter(({ loose }) => !loose);
    return [
      ...(unknown.length === 0 ? strict : missing).map(({ text, range }) => ({
        values: { problem: 'missing', number: text },
        source: range,
      })),
      ...unknown
        // A small number that only the target has is accepted: the source may have a month name or a numeral
        // word.
        .filter(({ parts }) => missing.length > 0 || parts.some((part) => Number(part) > LARGEST_WORD))
        .map(({ text, range }) => ({ values: { problem: 'unknown', number: text }, range })),
    ];
  },
};

function numbersIn(pieces: Parameters<typeof stretches>[0], language: string): Found[] {
  return stretches(pieces).flatMap(({ text, start }) =>
    Array.from(text.matchAll(NUMBER), ({ 0: found, index }): Found => {
      const end = index + found.length;
      const after = text.slice(end, end + 8);
      const digits = inAscii(found);
      const { values, grouped } = read(digits, base(language));
      const half = HALF_DAY.exec(after)?.[1]?.toLowerCase();
      const parts = digits.split(/\D+/).map(plain);
      if (half !== undefined && parts.length === 1) {
        const hour = Number(parts[0]) % 12;
        values.push(String(half === 'p' ? hour + 12 : hour));
      }
      return {
        text: found,
        range: { start: start + index, end: start + end },
        values,
        parts,
        grouped,
        loose: ORDINAL.test(after) && parts.every((part) => Number(part) <= LARGEST_WORD),
      };
    }),
  );
}

/** Pairs equal numbers of both lists and returns the numbers that have no equal number in the other list. */
function without(
  wanted: Found[],
  found: Found[],
  valuesOf: (one: Found) => readonly string[],
): [Found[], Found[]] {
  const byValue = new Map<string, Found[]>();
  for (const one of found) {
    for (const value of valuesOf(one)) {
      const same = byValue.get(value);
      if (same === undefined) byValue.set(value, [one]);
      else same.push(one);
    }
  }
  const used = new Set<Found>();
  const taken = new Map<string, number>();
  const missing = wanted.filter((one) => {
    for (const value of valuesOf(one)) {
      const same = byValue.get(value) ?? [];
      let next = taken.get(value) ?? 0;
      while (next < same.length && used.has(same[next]!)) next++;
      taken.set(value, next + 1);
      if (next < same.length) {
        used.add(same[next]!);
        return false;
      }
    }
    return true;
  });
  return [missing, found.filter((one) => !used.has(one))];
}

/**
 * Returns the numbers whose runs of digits have no counterpart. `03.10.2024` and `10/3/2024` have the same
 * runs.
 */
function byParts(wanted: Found[], found: Found[]): [Found[], Found[]] {
  const counts = new Map<string, number>();
  const add = (list: Found[], by: number) => {
    for (const { parts, grouped } of list) {
      if (!grouped) for (const part of parts) counts.set(part, (counts.get(part) ?? 0) + by);
    }
  };
  add(wanted, 1);
  add(found, -1);
  const over = (list: Found[], sign: number) =>
    list.flatMap((one) => {
      const parts = one.grouped ? one.parts : one.parts.filter((part) => counts.get(part)! * sign > 0);
      return parts.length === 0 ? [] : [{ ...one, parts }];
    });
  return [over(wanted, 1), over(found, -1)];
}

function read(text: string, language: string): { values: string[]; grouped: boolean } {
  const marks: string[] = text.match(/\D/g) ?? [];
  const groups = text.split(/\D/);
  if (marks.length === 0) return { values: [plain(text)], grouped: false };
  const last = marks.at(-1)!;
  const whole = groups.slice(0, -1);
  const fraction = withoutLastZeros(groups.at(-1)!);
  const decimal = plain(whole.join('')) + (fraction === '' ? '' : `.${fraction}`);
  const together = plain(groups.join(''));
  const inGroups = (all: string[]) =>
    all[0]!.length <= 3 && all.slice(1).every((group) => /^\d{2,3}$/.test(group));
  const kinds = new Set(marks);
  if (kinds.size === 2 && marks.indexOf(last) === marks.length - 1 && inGroups(whole)) {
    return { values: [decimal], grouped: false };
  }
  if (kinds.size > 1) return { values: [], grouped: false };
  if (marks.length > 1)
    return { values: inGroups(groups) && groups.at(-1)!.length === 3 ? [together] : [], grouped: false };
  const isPoint = last === '.' || last === ',';
  if (last === '٫') return { values: [decimal], grouped: false };
  if (groups[1]!.length !== 3 || groups[0]!.length > 3)
    return { values: isPoint ? [decimal] : [], grouped: false };
  if (!isPoint) return { values: [together], grouped: false };
  if (EITHER.has(language)) return { values: [together, decimal], grouped: true };
  const comma = DECIMAL_COMMA.has(language);
  return { values: [(last === ',') === comma ? decimal : together], grouped: true };
}

const plain = (digits: string) => digits.replace(/^0+(?=\d)/, '');

/** Returns the significant digits: `15` for `1500000`, `1.5` and `150`. */
const significant = (value: string) => withoutLastZeros(value.replace('.', '').replace(/^0+/, ''));

/**
 * Uses a loop, because a regular expression for trailing zeros would take quadratic time on a long run of
 * zeros.
 */
function withoutLastZeros(digits: string): string {
  let end = digits.length;
  while (digits.charCodeAt(end - 1) === 48) end -= 1;
  return digits.slice(0, end);
}

function inAscii(text: string): string {
  if (!/[^\x00-\x7f]/.test(text)) return text;
  return text.replace(/\p{Nd}/gu, (digit) => String(worth(digit.codePointAt(0)!)));
}

/**
 * Returns the value of a digit in any script. In Unicode, the ten digits of a script are consecutive code
 * points.
 */
function worth(digit: number): number {
  let zero = digit;
  while (/\p{Nd}/u.test(String.fromCodePoint(zero - 1)) && digit - zero < 50) zero--;
  return (digit - zero) % 10;
}
