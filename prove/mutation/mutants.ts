/**
 * Mutants of a source file, on its syntax tree: the classical operators, and those of SQL in `statement(name, sql)`.
 * The tree is made by the parser that Vite brings (oxc): it reads TypeScript, and its places are those of the text.
 * `instrument` writes them all into one file, each behind a question, so that the file is built and loaded as it is.
 */
import { type ParseResult, parseSync } from 'vite';
import { type Change, changesOfSql } from './sql.ts';

export interface Mutant {
  /** From the root of the project. */
  file: string;
  /** Counted from 1. */
  line: number;
  /** The line as it stands, without its indentation. */
  text: string;
  /** `< → <=`; the same for the same change of the same line. */
  mutation: string;
  /** The expression or statement that is exchanged, and for what. */
  start: number;
  end: number;
  replacement: string;
  /** A statement is left out, a call of `statement` gets other SQL, or an expression takes the place of another. */
  kind: 'expression' | 'statement' | 'sql';
}

type Node = { type: string; start: number; end: number } & Record<string, unknown>;
type Body = ParseResult['program'];

const BINARY: Record<string, readonly string[]> = {
  '<': ['<=', '>='],
  '<=': ['<', '>'],
  '>': ['>=', '<='],
  '>=': ['>', '<'],
  '===': ['!=='],
  '!==': ['==='],
  '+': ['-'],
  '-': ['+'],
  '*': ['/'],
  '/': ['*'],
  '%': ['*'],
  '&': ['|'],
  '|': ['&'],
  '<<': ['>>'],
  '>>': ['<<'],
  '>>>': ['<<'],
};
const METHODS = new Map(
  Object.entries({
    ...{ some: 'every', every: 'some', startsWith: 'endsWith', endsWith: 'startsWith' },
    ...{ min: 'max', max: 'min', floor: 'ceil', ceil: 'floor', round: 'floor' },
    ...{ trimStart: 'trimEnd', trimEnd: 'trimStart', indexOf: 'lastIndexOf', lastIndexOf: 'indexOf' },
  }),
);
/** `x.NAME(…)` as `x`. */
const IDENTITIES = new Set(['trim', 'toLowerCase', 'toUpperCase', 'normalize', 'filter', 'sort', 'reverse']);
/** Above it a number is a time or a size, which no test should measure: only its absence is tried. */
const EXACT = 1_000;

export function mutantsOf(file: string, source: string): Mutant[] {
  const { program, errors } = parseSync(file, source);
  if (errors.length > 0) throw new Error(`${file}: ${errors[0]!.message}`);
  const found: Mutant[] = [];
  const starts = lineStarts(source);

  const add = (
    node: Node,
    replacement: string,
    mutation: string,
    kind: Mutant['kind'] = 'expression',
    at = node.start,
  ) => {
    const line = lineOf(starts, at);
    const text = source.slice(starts[line - 1], starts[line] ?? source.length).trim();
    found.push({ file, line, text, mutation, start: node.start, end: node.end, replacement, kind });
  };
  /** A part of the node exchanged. */
  const change = (node: Node, part: Omit<Change, 'mutation'>, mutation: string, kind?: Mutant['kind']) => {
    const before = source.slice(node.start, part.start);
    add(node, before + part.replacement + source.slice(part.end, node.end), mutation, kind, part.start);
  };
  const written = (node: Node) => source.slice(node.start, node.end);

  function visit(node: Node, parent: Node | undefined, key: string): void {
    if (isSkipped(node, parent)) return;
    const visitor = VISITORS[node.type];
    visitor?.(node, parent, key);
    for (const [name, child] of childrenOf(node)) {
      if (!isLeftAlone(node, name, child)) visit(child, node, name);
    }
  }

  const operator = (node: Node, replacements: readonly string[]) => {
    const { left, right, operator: sign } = node as unknown as { left: Node; right: Node; operator: string };
    const start = left.end + source.slice(left.end, right.start).indexOf(sign);
    for (const replacement of replacements) {
      change(node, { start, end: start + sign.length, replacement }, `${sign} → ${replacement}`);
    }
  };
  const condition = (test: Node) => {
    add(test, 'true', `${short(written(test))} → true`);
    add(test, 'false', `${short(written(test))} → false`);
  };
  const value = (node: Node) => {
    if (written(node) === 'undefined') return;
    if (isTruth(node)) condition(node);
    else add(node, 'undefined', `return ${short(written(node))} → undefined`);
  };

  const VISITORS: Record<string, (node: Node, parent: Node | undefined, key: string) => void> = {
    BinaryExpression(node) {
      const {
        left,
        right,
        operator: sign,
      } = node as unknown as {
        left: Node;
        right: Node;
        operator: string;
      };
      if (sign === '+' && (isText(left) || isText(right))) return;
      operator(node, Object.hasOwn(BINARY, sign) ? BINARY[sign]! : []);
    },
    LogicalExpression(node) {
      // Without brackets `??` stands beside no other.
      if (node.operator !== '??') return operator(node, [node.operator === '&&' ? '||' : '&&']);
      const [left, right] = [node.left as Node, node.right as Node];
      add(node, `(${written(left)}) && (${written(right)})`, '?? → &&', 'expression', left.end);
    },
    AssignmentExpression(node) {
      const sign = node.operator as string;
      if (sign === '+=') operator(node, ['-=']);
      if (sign === '-=') operator(node, ['+=']);
    },
    UnaryExpression(node) {
      const argument = node.argument as Node;
      if (node.operator === '!' || node.operator === '-') {
        add(node, written(argument), `${node.operator}x → x`);
      }
    },
    UpdateExpression(node) {
      const [from, to] = node.operator === '++' ? ['++', '--'] : ['--', '++'];
      add(node, written(node).replace(from, to), `${from} → ${to}`);
    },
    Literal(node) {
      const raw = String(node.raw);
      if (typeof node.value === 'boolean') add(node, String(!node.value), `${raw} → ${!node.value}`);
      if (typeof node.value === 'number') {
        const other = node.value < EXACT ? String(node.value + 1) : '0';
        add(node, other, `${raw} → ${other}`);
      }
      if (typeof node.value === 'bigint') add(node, `${node.value + 1n}n`, `${raw} → ${node.value + 1n}n`);
      if (typeof node.value === 'string' && node.value !== '' && !isProse(node.value)) {
        add(node, `''`, `${short(raw)} → ''`);
      }
      if (node.regex !== undefined) {
        for (const part of changesOfPattern(raw)) {
          change(
            node,
            { ...part, start: node.start + part.start, end: node.start + part.end },
            part.mutation,
          );
        }
      }
    },
    TemplateLiteral(node) {
      if (written(node).length > 2 && !isProse(written(node))) {
        add(node, '``', `${short(written(node))} → \`\``);
      }
    },
    ArrayExpression(node) {
      if ((node.elements as unknown[]).length > 0) add(node, '[]', `${short(written(node))} → []`);
    },
    AwaitExpression(node) {
      add(
        node,
        written(node.argument as Node),
        `await ${short(written(node.argument as Node))} → not awaited`,
      );
    },
    CallExpression(node, parent) {
      const callee = node.callee as Node;
      if (callee.type !== 'MemberExpression' || callee.computed === true) return;
      // In a chain of `?.`, brackets would end the chain.
      if (parent?.type !== 'ExpressionStatement' && written(callee).includes('?.')) return;
      const property = callee.property as Node;
      const name = written(property);
      const other = METHODS.get(name);
      if (other !== undefined) {
        change(node, { start: property.start, end: property.end, replacement: other }, `${name} → ${other}`);
      }
      if (IDENTITIES.has(name) && parent?.type !== 'ExpressionStatement') {
        add(node, written(callee.object as Node), `.${name}() → nothing`);
      }
    },
    IfStatement: (node) => condition(node.test as Node),
    ConditionalExpression: (node) => condition(node.test as Node),
    WhileStatement: (node) => add(node.test as Node, 'false', `${short(written(node.test as Node))} → false`),
    ForStatement(node) {
      const test = node.test as Node | null;
      if (test !== null) add(test, 'false', `${short(written(test))} → false`);
    },
    ReturnStatement(node) {
      const argument = node.argument as Node | null;
      if (argument === null) add(node, '', 'return → nothing', 'statement');
      else value(argument);
    },
    ArrowFunctionExpression(node) {
      const body = node.body as Node;
      if (body.type !== 'BlockStatement') value(body);
    },
    ThrowStatement: (node) => add(node, '', `${short(written(node))} → nothing`, 'statement'),
    BreakStatement: (node) => add(node, '', 'break → nothing', 'statement'),
    ContinueStatement: (node) => add(node, '', 'continue → nothing', 'statement'),
    ExpressionStatement: (node) => add(node, '', `${short(written(node))} → nothing`, 'statement'),
  };

  /** @param node a call of `statement`; what takes the place of its text is the replacement */
  const sqlOf = (node: Node) => {
    const sql = (node.arguments as Node[])[1]!;
    for (const piece of piecesOfSql(sql)) {
      const raw =
        piece.type === 'Literal' ? written(piece).slice(1, -1) : (piece.value as { raw: string }).raw;
      const from = piece.start + written(piece).indexOf(raw);
      for (const one of changesOfSql(raw)) {
        const start = from + one.start;
        const before = source.slice(sql.start, start);
        const text = before + one.replacement + source.slice(from + one.end, sql.end);
        add(node, text, one.mutation, 'sql', start);
      }
    }
  };

  /** What is never mutated, with all that is in it. */
  function isSkipped(node: Node, parent: Node | undefined): boolean {
    if (node.type.startsWith('TS') && !TRANSPARENT.has(node.type)) return true;
    if (node.type.startsWith('Import') || node.type.startsWith('ExportAll')) return true;
    if (node.type === 'TaggedTemplateExpression' || node.type === 'TemplateElement') return true;
    if (node.type === 'ExpressionStatement' && typeof node.directive === 'string') return true;
    if (node.type !== 'CallExpression' && node.type !== 'NewExpression') return false;
    const callee = written(node.callee as Node);
    if (isStatement(node)) {
      sqlOf(node);
      return true;
    }
    // What is logged, and the words of an error, are for people.
    const said = /^(?:log|\w+\.log)\.\w+$|^process\.std\w+\.write$|(?:^|\.)\w*Error$|^super$|^Type\./.test(
      callee,
    );
    return said || (parent?.type === 'PropertyDefinition' && callee === 'Symbol');
  }

  for (const node of (program as Body).body) visit(node as unknown as Node, undefined, '');
  return once(found);
}

const TRANSPARENT = new Set(['TSAsExpression', 'TSNonNullExpression', 'TSSatisfiesExpression']);

export function isStatement(node: Record<string, unknown>): boolean {
  const callee = node.callee as Node & { name?: string };
  const given = node.arguments as Node[];
  return callee.type === 'Identifier' && callee.name === 'statement' && given.length === 2;
}

/** The SQL of a statement's second argument, piece by piece where values are written into it. */
function piecesOfSql(node: Node): Node[] {
  if (node.type === 'TemplateLiteral') return node.quasis as Node[];
  if (node.type === 'BinaryExpression')
    return [...piecesOfSql(node.left as Node), ...piecesOfSql(node.right as Node)];
  return node.type === 'Literal' ? [node] : [];
}

function* childrenOf(node: Node): Generator<[string, Node]> {
  for (const [name, child] of Object.entries(node)) {
    for (const one of Array.isArray(child) ? child : [child]) {
      if (one !== null && typeof one === 'object' && typeof one.type === 'string') yield [name, one];
    }
  }
}

/** Names of properties, what is exported from elsewhere, labels: text that is no value. */
function isLeftAlone(node: Node, name: string, child: Node): boolean {
  if (name === 'key' && node.computed !== true) return true;
  if (name === 'source' || name === 'label' || name === 'directive') return true;
  return name === 'property' && node.computed !== true && child.type === 'Identifier';
}

function isText(node: Node): boolean {
  return node.type === 'TemplateLiteral' || (node.type === 'Literal' && typeof node.value === 'string');
}

/** A sentence for people: which words it has is no promise. */
function isProse(text: string): boolean {
  return (text.match(/[a-z,]+ (?=[a-z])/gi)?.length ?? 0) >= 2;
}

function isTruth(node: Node): boolean {
  if (node.type === 'UnaryExpression') return node.operator === '!';
  if (node.type === 'LogicalExpression')
    return node.operator !== '??' && isTruth(node.left as Node) && isTruth(node.right as Node);
  return node.type === 'BinaryExpression' && /^[<>]=?$|^[!=]==$|^in(stanceof)?$/.test(String(node.operator));
}

/** A regular expression without an anchor, with once for often, or the other way round. */
function changesOfPattern(raw: string): Change[] {
  const found: Change[] = [];
  const end = raw.lastIndexOf('/');
  const add = (start: number, length: number, replacement: string, mutation: string) =>
    found.push({ start, end: start + length, replacement, mutation });
  if (raw[1] === '^') add(1, 1, '', `${short(raw)} without ^`);
  if (raw[end - 1] === '$' && raw[end - 2] !== '\\') add(end - 1, 1, '', `${short(raw)} without $`);
  let inClass = false;
  for (let at = 1; at < end; at++) {
    const character = raw[at]!;
    if (character === '\\') {
      const other = { d: 'D', D: 'd', s: 'S', S: 's', w: 'W', W: 'w' }[raw[at + 1]!];
      if (other !== undefined)
        add(at + 1, 1, other, `\\${raw[at + 1]} → \\${other} at ${at} of ${short(raw)}`);
      at++;
    } else if (inClass) inClass = character !== ']';
    else if (character === '[') {
      inClass = true;
      if (raw[at + 1] === '^') add(at + 1, 1, '', `[^ → [ at ${at} of ${short(raw)}`);
    } else if (character === '+' || character === '*') {
      add(at, 1, '', `${character} → once at ${at} of ${short(raw)}`);
    }
  }
  return found;
}

function short(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ');
  return line.length <= 60 ? line : `${line.slice(0, 57)}…`;
}

/** Two operators may come to the same change. */
function once(mutants: readonly Mutant[]): Mutant[] {
  const seen = new Set<string>();
  return mutants.filter(({ start, end, replacement }) => {
    const key = `${start} ${end} ${replacement}`;
    return !seen.has(key) && seen.add(key);
  });
}

function lineStarts(source: string): number[] {
  return [0, ...[...source.matchAll(/\n/g)].map(({ index }) => index + 1)];
}

function lineOf(starts: readonly number[], at: number): number {
  let line = 0;
  while (line < starts.length && starts[line]! <= at) line++;
  return line;
}

/** On the first line, so that the others keep their numbers. Programs that tests start are told in their environment. */
const PRELUDE = [
  'const { is: __m, sql: __sql } = (globalThis as any).__mutants ??',
  '{ is: (...ids: number[]) => ids.includes(Number(process.env.DRAGOMAN_MUTANT)), sql: (made: any) => made }; ',
].join(' ');

/**
 * The file with every mutant in it. On each place the running program asks whether its mutant is the one of today; so
 * it also says, without any, which places it came by.
 * @param first the number of the first mutant; the others follow in order
 */
export function instrument(source: string, mutants: readonly Mutant[], first: number): string {
  const sites = new Map<string, { start: number; end: number; ids: number[]; kind: Mutant['kind'] }>();
  mutants.forEach(({ start, end, kind }, index) => {
    const key = `${start} ${end} ${kind}`;
    const site = sites.get(key) ?? { start, end, ids: [], kind };
    site.ids.push(first + index);
    sites.set(key, site);
  });
  // From the outside to the inside, a statement before the expression that it is all of.
  const order = [...sites.values()].sort(
    (a, b) => a.start - b.start || b.end - a.end || (a.kind === 'statement' ? -1 : 1),
  );
  let next = 0;

  function render(start: number, end: number): string {
    let text = '';
    let at = start;
    while (next < order.length && order[next]!.start >= at && order[next]!.end <= end) {
      const site = order[next++]!;
      text += source.slice(at, site.start) + exchange(site, render(site.start, site.end));
      at = site.end;
    }
    return text + source.slice(at, end);
  }

  function exchange({ ids, kind }: { ids: number[]; kind: Mutant['kind'] }, original: string): string {
    if (kind === 'statement') return `{ if (!__m(${ids.join()})) { ${original} } }`;
    if (kind === 'sql') {
      const texts = ids.map((id) => `${id}: ${mutants[id - first]!.replacement}`).join(', ');
      return `__sql(${original}, { ${texts} })`;
    }
    const others = ids.map((id) => `__m(${id}) ? (${mutants[id - first]!.replacement}) : `).join('');
    return `(${others}(${original}))`;
  }

  const body = render(0, source.length);
  return PRELUDE + body;
}
