/**
 * Measures the source code: its lengths, its structure, and the facts that it states more than once, such as lists of the
 * fields of a job. `npm run tidy` prints each figure with its goal. `packages/server/src/tidy.test.ts` fails when a figure
 * gets worse.
 */
import { dirname } from 'node:path';
import {
  cyclesOf,
  FILE_LINES,
  FUNCTION_LINES,
  functionsOf,
  importsOf,
  literalSpreads,
  moduleOf,
  mutualPairs,
  type Node,
  readSources,
  readTexts,
  type Source,
  serverSources,
  sharedNames,
  statementsOf,
  unwantedWords,
  visit,
} from './tidy.ts';

/** A measure of the whole source code, and the highest value that it should have. */
export interface Figure {
  measure: string;
  value: number;
  goal: number;
}

/** The fields of a job. A list that names eight of them, in one of their two spellings, is a list of a job's fields. */
const JOB_FIELDS = new Set(
  [
    'tier uid dialect status source_language target_language text_format tone topics brand default_brand',
    'callback_url words cents_per_word price_cents order_number document_settings hold_until',
  ].flatMap((names) => names.split(' ').flatMap((name) => [name, camel(name)])),
);
const LEAST_JOB_FIELDS = 8;

function camel(name: string): string {
  return name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

/** Matches names with commas in between, as SQL lists columns and parameters. */
const SQL_LIST = /:?[\w.]+(?:::\w+(?:\[\])?)?(?:,\s+:?[\w.]+(?:::\w+(?:\[\])?)?)+/g;

/** Returns how often the fields of a job are listed: in objects, types, arrays and SQL. */
export function jobFieldLists({ program }: Source): number {
  let lists = 0;
  const count = (names: Iterable<unknown>) => {
    const fields = new Set([...names].filter((name) => JOB_FIELDS.has(String(name))));
    if (fields.size >= LEAST_JOB_FIELDS) lists++;
  };
  visit(program, (node) => {
    const keys = (list: unknown) => (list as Node[]).map(({ key }) => (key as Node | undefined)?.name);
    if (['ObjectExpression', 'ObjectPattern'].includes(node.type)) count(keys(node.properties));
    else if (node.type === 'TSInterfaceBody') count(keys(node.body));
    else if (node.type === 'TSTypeLiteral') count(keys(node.members));
    else if (node.type === 'ArrayExpression')
      count((node.elements as (Node | null)[]).map((one) => one?.value));
    const quasi = node.type === 'TemplateElement' ? (node.value as { cooked: string }).cooked : node.value;
    if (typeof quasi !== 'string') return;
    for (const [list] of quasi.matchAll(SQL_LIST))
      count(list.split(',').map((name) => /(\w+)(?:::\w+(?:\[\])?)?$/.exec(name.trim())?.[1]));
  });
  return lists;
}

/** Returns the functions that do nothing but run one statement. */
export function wrappersOf({ program, code }: Source): string[] {
  const found: string[] = [];
  visit(program, (node) => {
    if (node.type !== 'FunctionDeclaration' || !node.body) return;
    const body = node.body as Node;
    const text = code.slice(body.start, body.end);
    const queries = text.match(/\.query\(\s*[A-Z][A-Z_]*\b/g) ?? [];
    if (queries.length === 1 && (body.body as Node[]).length <= 2) found.push(String((node.id as Node).name));
  });
  return found;
}

/** Returns the number of lines of the interfaces in files with SQL. */
export function rowLines({ path, program, code }: Source): number {
  let lines = 0;
  if (!path.endsWith('store.ts')) return 0;
  visit(program, ({ type, start, end }) => {
    if (type === 'TSInterfaceDeclaration') lines += code.slice(start, end).split('\n').length;
  });
  return lines;
}

/** Returns groups of files that reach each other through imports. */
export function fileCircles(sources: Source[]): string[][] {
  const { groups } = condense(sources);
  return groups.filter((group) => group.length > 1);
}

/** Returns the number of floors of each module: the longest chain of its files that import each other. */
export function floorsOf(sources: Source[]): Map<string, number> {
  const { groups, groupOf, next } = condense(sources);
  const heights = new Map<string[], number>();
  // Groups come after the groups that they import.
  for (const group of groups) {
    const below = group.flatMap((path) => (next.get(path) ?? []).map((to) => groupOf.get(to)!));
    const inside = below.filter((one) => one !== group && moduleOf(one[0]!) === moduleOf(group[0]!));
    heights.set(group, 1 + Math.max(0, ...inside.map((one) => heights.get(one) ?? 0)));
  }
  const floors = new Map<string, number>();
  for (const [[path], height] of heights)
    floors.set(moduleOf(path!), Math.max(height, floors.get(moduleOf(path!)) ?? 0));
  return floors;
}

/** Divides files into groups that reach each other (Tarjan's algorithm). */
function condense(sources: Source[]) {
  const next = new Map<string, string[]>(sources.map(({ path }) => [path, []]));
  for (const { from, to } of importsOf(sources)) if (next.has(to)) next.get(from)!.push(to);
  const groups: string[][] = [];
  const groupOf = new Map<string, string[]>();
  const index = new Map<string, number>();
  const low = new Map<string, number>();
  const open: string[] = [];
  const enter = (path: string): void => {
    index.set(path, index.size);
    low.set(path, index.get(path)!);
    open.push(path);
    for (const to of next.get(path)!) {
      if (!index.has(to)) enter(to);
      if (!groupOf.has(to)) low.set(path, Math.min(low.get(path)!, low.get(to)!));
    }
    if (low.get(path) !== index.get(path)) return;
    const group = open.splice(open.indexOf(path));
    for (const one of group) groupOf.set(one, group);
    groups.push(group);
  };
  for (const { path } of sources) if (!index.has(path)) enter(path);
  return { groups, groupOf, next };
}

const COPIED_LINES = 6;

/** Returns the pairs of places that have at least six equal lines, without imports and lines of marks alone. */
export function copiedPlaces(sources: Source[]): string[] {
  const places = new Map<string, { path: string; at: number }[]>();
  for (const { path, code } of sources) {
    const lines = code
      .split('\n')
      .map((line, index) => ({ text: line.trim(), number: index + 1 }))
      .filter(({ text }) => /\w{2}/.test(text) && !/^(?:import|export \{|\} from|\/?\*)/.test(text));
    for (let at = 0; at + COPIED_LINES <= lines.length; at++) {
      const key = lines
        .slice(at, at + COPIED_LINES)
        .map(({ text }) => text)
        .join('\n');
      places.set(key, [...(places.get(key) ?? []), { path, at }]);
    }
  }
  const pairs = new Set<string>();
  const known = new Set<string>();
  for (const found of places.values()) {
    for (const [index, one] of found.entries())
      for (const other of found.slice(index + 1)) {
        const name = (by: number) => `${one.path}:${one.at + by} ${other.path}:${other.at + by}`;
        known.add(name(0));
        // The following lines of the same place are the same pair.
        if (!known.has(name(-1))) pairs.add(name(0));
      }
  }
  return [...pairs];
}

/** Returns how many source files each folder has. */
export function filesByFolder(sources: Source[]): Map<string, number> {
  const folders = Map.groupBy(sources, ({ path }) => dirname(path));
  return new Map([...folders].map(([folder, files]) => [folder, files.length]));
}

/** The files that tell a resource to one audience. */
const FACES = /(?:^|\/|-)(?:customer|console|overview)(?:-\w+)?\.ts$/;

/** Measures the source code. @param sources all files of the repository */
export function measureSource(sources: Source[]): Figure[] {
  const figures = [...structureOf(sources), ...restatedIn(sources)];
  return figures.map(([measure, value, goal]) => ({ measure, value, goal }));
}

type Row = [measure: string, value: number, goal: number];

function structureOf(sources: Source[]): Row[] {
  const program = sources.filter(isProgram);
  const server = serverSources(sources);
  const imports = importsOf(server);
  const lengths = program.flatMap(functionsOf).map(({ lines }) => lines);
  return [
    ['modules of the server in import cycles', cyclesOf(imports).flat().length, 0],
    ['pairs of modules that import each other', mutualPairs(imports).length, 0],
    ['circles of files', fileCircles(server).length, 0],
    ['floors of the tallest module', Math.max(...floorsOf(server).values()), 9],
    ['files in one folder', Math.max(...filesByFolder(program).values()), 35],
    ['longest file', Math.max(...program.map(({ lines }) => lines)), FILE_LINES],
    ['longest function', Math.max(...lengths), FUNCTION_LINES],
    ['names exported by two files of the server', sharedNames(server).size, 25],
    ['spreads of a literal', program.flatMap(literalSpreads).length, 0],
    [
      'statements with ten or more parameters',
      statementsOf(server).filter(({ text }) => /\$10\b/.test(text)).length,
      0,
    ],
    ['unwanted words', unwantedWords(readTexts(sources)).length, 0],
  ];
}

function restatedIn(sources: Source[]): Row[] {
  const program = sources.filter(isProgram);
  const server = serverSources(sources);
  const faces = server.filter(({ path }) => FACES.test(path));
  const lines = (files: Source[]) => files.reduce((sum, one) => sum + one.lines, 0);
  const under = (folder: string) => lines(program.filter(({ path }) => path.startsWith(folder)));
  const count = (of: (source: Source) => number) => server.reduce((sum, source) => sum + of(source), 0);
  return [
    ['lines of source', lines(program), 112_000],
    ['lines of tests', lines(sources.filter(({ test }) => test)), 66_000],
    ['lines of the server', under('packages/server/'), 54_000],
    ['lines of the web app', under('packages/web/'), 25_000],
    ['lines of the proofs', under('prove/'), 9_500],
    ['lines of generated files', lines(sources.filter(({ generated }) => generated)), 1_300],
    ['lists of the fields of a job', count(jobFieldLists), 4],
    ['functions that only run one statement', count((source) => wrappersOf(source).length), 20],
    ['lines of interfaces in files with SQL', count(rowLines), 200],
    [
      'properties that rename a column of a row',
      count(({ code }) => code.match(/\b\w+: row\.\w+/g)?.length ?? 0),
      100,
    ],
    ['files for one audience', faces.length, 10],
    ['lines of files for one audience', lines(faces), 2_000],
    ['pairs of copied places', copiedPlaces(program).length, 5],
  ];
}

const isProgram = ({ test, generated }: Source): boolean => !test && !generated;

if (import.meta.main) {
  for (const { measure, value, goal } of measureSource(readSources())) {
    console.log(`tidy, ${measure}: ${value}, goal at most ${goal}, ${value <= goal ? 'held' : 'missed'}`);
  }
}
