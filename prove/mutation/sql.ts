/**
 * Mutants of SQL: a condition less, a lock less, a border moved, a status less. The conditions that hold a statement to
 * its account are left alone: `walls.test.ts` reads every statement for them, and is shown to miss none.
 */

/** A change of one place of a text. */
export interface Change {
  start: number;
  end: number;
  replacement: string;
  /** What it does, in words that say which place it was: `<= → <`. */
  mutation: string;
}

const SWAPS: readonly [pattern: RegExp, replacement: string][] = [
  [/ <= /g, ' < '],
  [/ >= /g, ' > '],
  [/ < /g, ' <= '],
  [/ > /g, ' >= '],
  [/ <> /g, ' = '],
  [/ \+ /g, ' - '],
  [/ - /g, ' + '],
  [/\bor\b/g, 'and'],
  [/\bis not null\b/g, 'is null'],
  [/\bis null\b/g, 'is not null'],
  [/\bnot exists\b/g, 'exists'],
  [/(?<!not )\bexists\b/g, 'not exists'],
  [/\bnot in\b/g, 'in'],
  [/\bgreatest\b/g, 'least'],
  [/\bleast\b/g, 'greatest'],
  [/\bmin\(/g, 'max('],
  [/\bmax\(/g, 'min('],
  [/\bcount\(distinct /g, 'count('],
  [/ desc\b/g, ''],
  [/\bfor (?:no key )?update(?: of \w+(?:, \w+)*)?(?: skip locked| nowait)?/g, ''],
  [/\bfor (?:key )?share(?: of \w+(?:, \w+)*)?/g, ''],
  [/ skip locked\b/g, ''],
  [/\bon conflict (?:\([^)]*\) )?do nothing/g, ''],
  [/\btrue\b/g, 'false'],
  [/\bfalse\b/g, 'true'],
];

/** Where a condition ends, outside of its brackets. */
const CONDITION_END =
  /^(?:\b(?:and|or|returning|order|group|limit|offset|for|union|where|on|join|left|having|when|then|else|end|window)\b|,|;)/;

/** @param text SQL, as it stands in the source */
export function changesOfSql(text: string): Change[] {
  return [...conditionsOf(text), ...swapsOf(text), ...statusesOf(text)];
}

function swapsOf(text: string): Change[] {
  return SWAPS.flatMap(([pattern, replacement]) =>
    [...text.matchAll(pattern)].map((match) => ({
      ...{ start: match.index, end: match.index + match[0].length, replacement },
      mutation: `${match[0].trim()} → ${replacement.trim() || 'nothing'}`,
    })),
  );
}

/** Every condition after `where` and `and`, made to hold always; its parameters keep their types. */
function conditionsOf(text: string): Change[] {
  return [...text.matchAll(/\b(?:where|and)\s+/g)].flatMap((match) => {
    const start = match.index + match[0].length;
    const end = endOfCondition(text, start);
    const condition = text.slice(start, end);
    if (/^(?:\w+\.)?(?:part|account_id)\b/.test(condition) || isBetween(text, match.index)) return [];
    if (condition === '' || condition.startsWith('$') || condition.startsWith('(part,')) return [];
    const replacement = `((${condition}) or true)`;
    return [{ start, end, replacement, mutation: `${condition.replaceAll(/\s+/g, ' ')} → true` }];
  });
}

/** The `and` of a `between … and …` joins no conditions. */
function isBetween(text: string, at: number): boolean {
  const before = text.slice(0, at);
  const between = before.lastIndexOf(' between ');
  return between >= 0 && !/\b(?:and|where|or)\b/.test(before.slice(between + 9));
}

function endOfCondition(text: string, start: number): number {
  let depth = 0;
  for (let at = start; at < text.length; at++) {
    const character = text[at]!;
    if (character === '(') depth++;
    if (character === ')' && --depth < 0) return trimmed(text, start, at);
    const atWord = !/\w/.test(text[at - 1] ?? ' ');
    if (depth === 0 && at > start && atWord && CONDITION_END.test(text.slice(at, at + 12))) {
      if (/^and\b/.test(text.slice(at)) && isBetween(text, at)) continue;
      return trimmed(text, start, at);
    }
  }
  return trimmed(text, start, text.length);
}

function trimmed(text: string, start: number, end: number): number {
  return start + text.slice(start, end).trimEnd().length;
}

/** `status in ('a', 'b')`, without each in turn. */
function statusesOf(text: string): Change[] {
  return [...text.matchAll(/\bin \(('\w+'(?:,\s*'\w+')+)\)/g)].flatMap((list) => {
    const first = list.index + list[0].indexOf(list[1]!);
    return [...list[1]!.matchAll(/'\w+'/g)].map((one) => ({
      start: first + one.index,
      end: first + one.index + one[0].length,
      replacement: `''`,
      mutation: `${one[0]} → ''`,
    }));
  });
}
