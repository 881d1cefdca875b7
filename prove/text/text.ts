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
      for (const { source, target } of history.pairs.filter(isFaulty(kind)).slice(0, MOST_PRINTED)) {
        options.say(`${kind}:\n  ${source}\n  ${target}`);
      }
    }
    return judge(history);
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
  (kind: Fault) =>
  ({ source, target }: { source: string; target: string }) =>
    faultsOf(source, target)[kind] > 0;

export function judge({ lines, jobs, failedJobs, untranslated, pairs }: TextHistory): Figure[] {
  const thousand = Math.max(1, lines) / 1_000;
  return [
    { name: 'text, lines', value: lines, unit: `lines in ${jobs} jobs` },
    goalZero('text, failed jobs', failedJobs, lines > 0 && pairs.length > lines / 2),
    goalAtMost('text, untranslated segments of 1,000 lines', untranslated / thousand, 1),
    ...FAULTS.map((kind): Figure => {
      const found = pairs.filter(isFaulty(kind)).length;
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

/** Counts the faults of one translated line: 1 or 0 of each kind. */
export function faultsOf(source: string, target: string) {
  const count = (text: string, pattern: RegExp) => text.match(pattern)?.length ?? 0;
  const isLost = (part: string) => target.split(part).length < source.split(part).length;
  const bare = (text: string) => text.replace(KEPT, 'x');
  const marks =
    /[\p{L}\p{N}]["([{«“»”)\]}][\p{L}\p{N}]| ["”»)\]}](?: |[,;.!?])|(?:^| )["«“([{] | [,;.!?](?!\S)/gu;
  const capitals = /(?<=[\p{L},] |\p{L}['’-])\p{Lu}\p{Ll}/gu;
  const digits = (text: string) => (text.match(/\d+/g) ?? []).sort().join(' ');
  const [before, after] = [source.split(SEPARATOR), target.split(SEPARATOR)];
  const isMoved =
    before.length !== after.length || before.some((part, at) => digits(part) !== digits(after[at]!));
  return {
    'protected texts changed': Number((source.match(KEPT) ?? []).some(isLost)),
    'capitals gained in mid-sentence': Number(count(bare(target), capitals) > count(bare(source), capitals)),
    'spaces lost or gained round marks': Number(count(bare(target), marks) > count(bare(source), marks)),
    'numbers changed': Number(digits(source) !== digits(target)),
    'text moved over a separator': Number(before.length > 1 && isMoved),
  };
}
