/**
 * `npm run prove -- text --files FOLDER [--from L --to L --lines N]` sends lines of real texts through the service and
 * counts what a translation must not do to them, whatever its words are. Without `--files`, the texts are those that
 * the packages of the repository ship. `--sentences FOLDER` compares sentences instead; see `sentences.ts`.
 */
import { type Figure, type Flags, goalAtMost, goalZero, type Report } from '../../bench/figures.ts';
import { runProof } from '../harness/run.ts';
import { runText, type TextHistory } from './run.ts';
import { proveSentences } from './sentences.ts';

export async function proveText({ words, numbers }: Flags): Promise<Report> {
  const { figures } = await runProof('text', { names: [], json: false, words, numbers }, async (options) => {
    if (words.sentences) return proveSentences(words.sentences, options.say);
    const history = await runText({
      ...options,
      files: words.files ?? new URL('../../node_modules', import.meta.url).pathname,
      from: words.from ?? 'en',
      to: words.to ?? 'es',
      most: numbers.lines ?? 1_000,
    });
    for (const kind of FAULTS) {
      for (const { source, target } of history.pairs
        .filter(isFaulty(kind, words.to))
        .slice(0, MOST_PRINTED)) {
        options.say(`${kind}:\n  ${source}\n  ${target}`);
      }
    }
    return judge(history, words.to);
  });
  return { figures };
}

type Fault = keyof ReturnType<typeof faultsOf>;

/** What a translation may do to a line, and how often in 1,000 lines. The others are counted without a goal. */
const GOALS: Record<Fault, number | undefined> = {
  'protected texts changed': 0,
  'capitals gained in mid-sentence': 3,
  'spaces lost or gained round marks': 0,
  'numbers changed': undefined,
  'text moved over a separator': 0,
};
const FAULTS = Object.keys(GOALS) as Fault[];
/** The number of faulty lines of each kind that are printed. */
const MOST_PRINTED = 20;

const isFaulty =
  (kind: Fault, to?: string) =>
  ({ source, target }: { source: string; target: string }) =>
    faultsOf(source, target, to)[kind] > 0;

export function judge({ lines, jobs, failedJobs, untranslated, pairs }: TextHistory, to?: string): Figure[] {
  const thousand = Math.max(1, lines) / 1_000;
  return [
    { name: 'text, lines', value: lines, unit: `lines in ${jobs} jobs` },
    goalZero('text, failed jobs', failedJobs, lines > 0 && pairs.length > lines / 2),
    goalAtMost('text, untranslated segments of 1,000 lines', untranslated / thousand, 1),
    ...FAULTS.map((kind): Figure => {
      const found = pairs.filter(isFaulty(kind, to)).length;
      const most = GOALS[kind];
      return most === undefined
        ? { name: `text, ${kind} (${(found / thousand).toFixed(1)} of 1,000)`, value: found, unit: 'lines' }
        : goalAtMost(`text, ${kind} (${found} lines), of 1,000`, found / thousand, most);
    }),
  ];
}

/** Words that any reader would leave as they are. The patterns are not those of the service. */
const KEPT =
  /`(?:(?!\$\{)[^`\n])+`|\b[a-z][a-z+]*:\/\/[^\s<>()"'`]*[^\s<>()"'`.,;:!?\]}*_|]|[\w.+-]+@\w[\w-]*\.[\w.-]*\w|\$?\{\{?[\w.]+\}?\}|%(?:\d\$)?[sd]\b|\b[^\W_]+_\w*[^\W_]\b|(?<![\w-])--[a-z][\w-]+/g;
const SEPARATOR = / [|>→] /;

/** A tag of HTML. Its attributes are no text. */
const TAG = /<\/?[a-z][^<>]*>/gi;
/** A word with a capital behind another word or number of its sentence. */
const CAPITALIZED = /(?<=[\p{L}\p{N},] |\p{L}['’-])\p{Lu}\p{L}[\p{L}\p{M}]*/gu;
/** The names of languages, months and days, which English alone writes with a capital. */
const ENGLISH_NAMES = new Set(englishNames());

function* englishNames(): Iterable<string> {
  const letters = [...'abcdefghijklmnopqrstuvwxyz'];
  const names = new Intl.DisplayNames('en', { type: 'language', fallback: 'none' });
  const pairs = letters.flatMap((one) => letters.map((other) => one + other));
  for (const code of [...pairs, ...pairs.flatMap((pair) => letters.map((third) => pair + third))])
    yield* (names.of(code) ?? '').split(' ');
  for (let day = 0; day < 366; day += 5) {
    const date = new Date(2026, 0, 1 + day);
    yield date.toLocaleString('en', { month: 'long' });
    yield date.toLocaleString('en', { weekday: 'long' });
  }
}

const LETTERS = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ'];
const countries = new Map<string, string[]>();

/** Returns the names of countries in a language, the longest first. */
function countriesIn(language: string): string[] {
  let names = countries.get(language);
  if (names === undefined) {
    const namer = new Intl.DisplayNames(language, { type: 'region', fallback: 'none' });
    names = LETTERS.flatMap((one) => LETTERS.map((other) => namer.of(one + other) ?? ''))
      .filter((name) => name !== '')
      .sort((a, b) => b.length - a.length);
    countries.set(language, names);
  }
  return names;
}

/** Returns whether an English word is the adjective of a country's people, such as Moroccan. */
function isOfPeople(word: string): boolean {
  const stem = word.replace(/(?:an|ese|ish|i)s?$/, '');
  const begin = stem.slice(0, Math.max(4, stem.length - 2));
  return stem !== word && stem.length >= 4 && countriesIn('en').some((name) => name.startsWith(begin));
}

/**
 * Counts the words that gained a capital. A name that stands at another place has not gained its own. Countries and, in
 * English, peoples have capitals whatever the source has.
 */
function gainedCapitals(source: string, translation: string, to: string | undefined): number {
  const target = countriesIn(to ?? 'en').reduce(
    (text, name) => (text.includes(name) ? text.replaceAll(name, 'x') : text),
    translation,
  );
  const namesOf = (text: string) => new Set(text.match(/\p{Lu}[\p{L}\p{M}]*/gu));
  const others = (text: string, names: ReadonlySet<string>) =>
    (text.match(CAPITALIZED) ?? []).filter((word) => !names.has(word));
  const gained = others(target, namesOf(source)).filter(
    (word) => word !== word.toUpperCase() && !(to === 'en' && (ENGLISH_NAMES.has(word) || isOfPeople(word))),
  );
  return gained.length - others(source, namesOf(target)).length;
}

/** Counts the faults of one translated line: 1 or 0 of each kind. @param to the language of the translation */
export function faultsOf(source: string, target: string, to?: string) {
  const count = (text: string, pattern: RegExp) => text.match(pattern)?.length ?? 0;
  const isLost = (part: string) => target.split(part).length < source.split(part).length;
  const bare = (text: string) => text.replace(KEPT, 'x');
  const read = (text: string) => bare(text.replace(TAG, ''));
  const marks =
    /[\p{L}\p{N}]["([{«“»”)\]}][\p{L}\p{N}]| ["”»)\]}](?: |[,;.!?])|(?:^| )["«“([{] | [,;.!?](?!\S)/gu;
  const digits = (text: string) => (text.match(/\d+/g) ?? []).sort().join(' ');
  const [before, after] = [source.split(SEPARATOR), target.split(SEPARATOR)];
  const isMoved =
    before.length !== after.length || before.some((part, at) => digits(part) !== digits(after[at]!));
  return {
    'protected texts changed': Number((source.match(KEPT) ?? []).some(isLost)),
    'capitals gained in mid-sentence': Number(gainedCapitals(read(source), read(target), to) > 0),
    'spaces lost or gained round marks': Number(count(bare(target), marks) > count(bare(source), marks)),
    'numbers changed': Number(digits(source) !== digits(target)),
    'text moved over a separator': Number(before.length > 1 && isMoved),
  };
}
