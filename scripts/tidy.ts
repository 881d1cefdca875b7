/**
 * Reads the source code: imports between modules, tables used by other modules, lengths, duplicate names, unwanted words
 * in texts.
 */
import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseSync } from 'vite';
import { readComments, readLines, readMessages, readTitles, type Text } from './texts.ts';

export interface Source {
  /** The path relative to the root of the repository. */
  path: string;
  code: string;
  lines: number;
  /** True for a test and for a helper of tests. */
  test: boolean;
  generated: boolean;
  program: Node;
}

/** A node of a syntax tree, with the fields that this file reads (ESTree, as the parser returns it). */
export interface Node {
  type: string;
  start: number;
  end: number;
  [key: string]: unknown;
}

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const SERVER = 'packages/server/src/';
const TEST = /\.test\.tsx?$|(?:^|\/)testing(?:\/|[-.\w]*\.tsx?$)/;

/**
 * Returns every TypeScript file of the repository, parsed.
 *
 * @throws Error for a file with a syntax error
 */
export function readSources(): Source[] {
  const paths = globSync('**/*.{ts,tsx}', { cwd: ROOT, exclude: isIgnored });
  return paths
    .filter((path) => path !== BUILT)
    .sort()
    .map(readSource);
}

const isIgnored = (path: string): boolean => /(?:^|\/)(?:node_modules|dist|\.\w+)$|\.d\.ts$/.test(path);
/** Written by the build of the web app, and not committed. */
const BUILT = 'packages/web/src/api/generated.ts';

function readSource(path: string): Source {
  const code = readFileSync(join(ROOT, path), 'utf8');
  return parseSource(path, code);
}

/**
 * Parses one source file.
 *
 * @throws Error when it has a syntax error
 */
export function parseSource(path: string, code: string): Source {
  const { program, errors } = parseSync(path, code);
  if (errors.length > 0) throw new Error(`${path}: ${errors[0]!.message}`);
  return {
    path,
    code,
    lines: countLines(code),
    test: TEST.test(path),
    generated: /(?:^|\/)generated\.ts$/.test(path),
    program: program as unknown as Node,
  };
}

const countLines = (text: string): number => text.split('\n').length - (text.endsWith('\n') ? 1 : 0);

/**
 * Returns the source files of the server, without tests and generated files. Their paths become relative to
 * `packages/server/src`.
 */
export const serverSources = (sources: Source[]): Source[] => sourcesUnder(sources, SERVER);

/** Returns the source files under a folder, without tests and generated files. Their paths become relative to it. */
export function sourcesUnder(sources: Source[], folder: string): Source[] {
  return sources
    .filter(({ path, test, generated }) => path.startsWith(folder) && !test && !generated)
    .map((source) => ({ ...source, path: source.path.slice(folder.length) }));
}

/** Returns the module of a server file: its top folder, or the file's own name if it is in the root. */
export const moduleOf = (path: string): string => (path.includes('/') ? path.split('/', 1)[0]! : path);

/** An import of one server file by another. */
export interface Import {
  from: string;
  to: string;
}

/** Returns the imports between files of the server, including `import type` and re-exports. */
export function importsOf(sources: Source[]): Import[] {
  return sources.flatMap(({ path, program }) =>
    importedPaths(program)
      .filter((specifier) => specifier.startsWith('.'))
      .map((specifier) => ({ from: path, to: join(dirname(path), specifier) }))
      .filter(({ to }) => !to.startsWith('..')),
  );
}

function importedPaths(program: Node): string[] {
  const found: string[] = [];
  visit(program, (node) => {
    const source = node.source as Node | null | undefined;
    const imports = /^(?:Import|ExportNamed|ExportAll)(?:Declaration|Expression)$/.test(node.type);
    if (imports && typeof source?.value === 'string') found.push(source.value);
  });
  return found;
}

/** Returns groups of modules that reach each other through imports (strongly connected components of two or more). */
export function cyclesOf(imports: Import[]): string[][] {
  const reach = new Map<string, Set<string>>();
  for (const { from, to } of imports) {
    const [one, other] = [moduleOf(from), moduleOf(to)];
    if (one !== other) reach.set(one, (reach.get(one) ?? new Set()).add(other));
  }
  const reachable = (start: string): Set<string> => {
    const seen = new Set<string>();
    const queue = [start];
    for (let module = queue.pop(); module !== undefined; module = queue.pop()) {
      for (const next of reach.get(module) ?? []) if (!seen.has(next)) seen.add(next) && queue.push(next);
    }
    return seen;
  };
  const sets = new Map([...reach.keys()].map((module) => [module, reachable(module)]));
  const groups = new Map<string, string[]>();
  for (const [module, seen] of sets) {
    const group = [...seen].filter((other) => sets.get(other)?.has(module)).sort();
    if (group.length > 1) groups.set(group.join(), group);
  }
  return [...groups.values()];
}

/** Returns the imports from a module to another that is not in a lower layer. @param layers modules, from the bottom up */
export function upwardImports(
  imports: Import[],
  layers: readonly (readonly string[])[],
  of: (path: string) => string,
): string[] {
  const level = (path: string) => layers.findIndex((layer) => layer.includes(of(path)));
  return imports
    .filter(({ from, to }) => of(from) !== of(to) && level(to) >= level(from))
    .map(({ from, to }) => `${from} → ${to}`);
}

/** Returns the pairs of modules that import each other directly, written as `a ⇄ b`. */
export function mutualPairs(imports: Import[]): string[] {
  const pairs = new Set(imports.map(({ from, to }) => `${moduleOf(from)} ${moduleOf(to)}`));
  return [...pairs].flatMap((pair) => {
    const [one, other] = pair.split(' ') as [string, string];
    return one < other && pairs.has(`${other} ${one}`) ? [`${one} ⇄ ${other}`] : [];
  });
}

/** One SQL statement, with its name and the file that defines it. */
export interface Sql {
  path: string;
  name: string;
  text: string;
}

/** Returns the statements that are made by `statement(name, text)`. */
export function statementsOf(sources: Source[]): Sql[] {
  return sources.flatMap(({ path, program, code }) => {
    const found: Sql[] = [];
    visit(program, (node) => {
      const callee = node.callee as Node | undefined;
      const [name, text] = (node.arguments ?? []) as (Node | undefined)[];
      if (node.type === 'CallExpression' && callee?.name === 'statement' && name && text) {
        found.push({ path, name: literalOf(name, code), text: code.slice(text.start, text.end) });
      }
    });
    return found;
  });
}

const literalOf = (node: Node, code: string): string =>
  typeof node.value === 'string' ? node.value : code.slice(node.start, node.end);

/** Returns the tables that a statement writes, and the tables that it only reads. */
export function tablesOf({ text }: Sql): { written: string[]; read: string[] } {
  const named = (pattern: RegExp) => [...new Set([...text.matchAll(pattern)].map(([, table]) => table!))];
  const written = named(
    /\b(?:insert\s+into|update(?!\s+(?:of|set|skip)\b)|delete\s+from|merge\s+into)\s+(\w+)/gi,
  );
  const read = named(/\b(?:from|join)\s+(\w+)/gi).filter((table) => !written.includes(table));
  return { written, read };
}

export interface Length {
  path: string;
  name: string;
  lines: number;
}

/**
 * Returns functions, methods and closures with their lengths. A closure without a name is named by its first line.
 */
export function functionsOf({ path, program, code }: Source): Length[] {
  const found: Length[] = [];
  visit(program, (node, parent) => {
    if (!/^(?:FunctionDeclaration|FunctionExpression|ArrowFunctionExpression)$/.test(node.type)) return;
    const lines = countLines(code.slice(node.start, node.end));
    const named = (node.id ?? parent?.id ?? parent?.key) as Node | null | undefined;
    const name = named ? code.slice(named.start, named.end) : `line ${countLines(code.slice(0, node.start))}`;
    found.push({ path, name, lines });
  });
  return found;
}

/** Returns the line numbers of needless spreads of an array or object literal, such as `...[a, b]`. */
export function literalSpreads({ program, code }: Source): number[] {
  const found: number[] = [];
  visit(program, (node) => {
    const inner = node.type === 'SpreadElement' ? (node.argument as Node) : undefined;
    if (inner && /^(?:Array|Object)Expression$/.test(inner.type)) {
      found.push(countLines(code.slice(0, node.start)));
    }
  });
  return found;
}

/** Returns the names that two or more files export, with these files. Re-exports do not count. */
export function sharedNames(sources: Source[]): Map<string, string[]> {
  const files = new Map<string, string[]>();
  for (const source of sources) {
    for (const name of new Set(exportedNames(source.program))) {
      files.set(name, [...(files.get(name) ?? []), source.path]);
    }
  }
  return new Map([...files].filter(([, paths]) => paths.length > 1));
}

function exportedNames(program: Node): string[] {
  return (program.body as Node[]).flatMap((node) => {
    if (node.type !== 'ExportNamedDeclaration' || node.source) return [];
    const declaration = node.declaration as Node | null;
    const declared = (declaration?.declarations as { id: Node }[] | undefined)?.map(({ id }) => id);
    const ids = declared ?? (declaration?.id ? [declaration.id as Node] : []);
    const listed = ((node.specifiers ?? []) as { exported: Node }[]).map(({ exported }) => exported);
    return [...ids, ...listed].map((id) => String(id.name ?? ''));
  });
}

/** Words that texts must not use, as patterns, each with the words to write instead. */
const UNWANTED_WORDS: Record<string, string> = {
  anew: 'again',
  'asker|askers': 'actor',
  'beside|besides': 'next to, also, apart from',
  'crew|crews': 'process pool',
  '(?<!help )(?:desk|desks)': 'the name of what is settled',
  'doorkeeper|doorkeepers': 'authenticator',
  'examiner|examiners': 'page checker',
  hurry: 'immediate',
  'live lane': 'interactive lane',
  'look on|looks on|looked on|looking on|onlooker|onlookers': 'subscribe, subscriber',
  'of whom': 'whose, or a second sentence',
  "one[’']s own": 'a noun',
  'purse|purses': 'account balance',
  '(?:the|a|this|editing) (?:room|rooms)': 'module, editing context',
  'station|stations': 'engine runner',
  'tally|tallies': 'statistics',
  told: 'notified, or the active voice',
  'undecided|unsound': 'languageUndetermined, invalid',
  'what is so|what is more': 'a noun',
  whoever: 'the noun, such as the caller',
};

/**
 * Returns all comments, test titles, English messages and pages, except conformance tests and their page, because
 * these quote the specification.
 */
export function readTexts(sources: Source[]): Text[] {
  const read = (patterns: string[], readFile: (path: string, content: string) => Text[]) =>
    globSync(patterns, { cwd: ROOT, exclude: isIgnored })
      .sort()
      .flatMap((path) => readFile(path, readFileSync(join(ROOT, path), 'utf8')));
  const written = sources.filter(
    ({ path, generated }) => !generated && !path.endsWith('.conformance.test.ts'),
  );
  return [
    ...written.flatMap(({ path, code }) => readComments(path, code)),
    ...written.flatMap(({ path, code }) => (path.endsWith('.test.ts') ? readTitles(path, code) : [])),
    ...read(['packages/web/src/**/messages/en.json'], readMessages),
    ...read(['*.md', '{docs,examples}/**/*.md'], readLines).filter(
      ({ where }) => !/conformance\.md/.test(where),
    ),
  ];
}

/** Lists the unwanted words of texts as `where: word, write …`. Code in backquotes does not count. */
export function unwantedWords(texts: Text[]): string[] {
  const patterns = Object.entries(UNWANTED_WORDS).map(
    ([word, better]) => [new RegExp(`(?<![\\w-])(?:${word})(?![\\w-])`, 'i'), better] as const,
  );
  return texts.flatMap(({ where, text }) =>
    patterns.flatMap(([pattern, better]) => {
      const found = pattern.exec(text.replace(/`[^`]*`/g, '').replace(/\s+/g, ' '));
      return found === null ? [] : [`${where}: ${found[0]}, write ${better}`];
    }),
  );
}

/** Calls `look` with a node and all nodes inside it, each with its parent. */
export function visit(node: Node, look: (node: Node, parent: Node | undefined) => void, parent?: Node): void {
  look(node, parent);
  for (const value of Object.values(node)) {
    const inner: unknown[] = Array.isArray(value) ? value : [value];
    for (const child of inner) if (isNode(child)) visit(child, look, node);
  }
}

const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && typeof (value as Node).type === 'string';

/** The guard rails of lengths. Nothing should be cut for them: a design that they shape is wrong. */
export const FILE_LINES = 800;
export const FUNCTION_LINES = 120;
