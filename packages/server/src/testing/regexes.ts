/** Finds regular expressions whose time can grow with the square of their input, or worse. */
import { globSync, readFileSync } from 'node:fs';
import { analyse } from 'scslre';
import { parseSync } from 'vite';

/** A regular expression in the sources, by where it stands. */
export interface FoundRegex {
  /** Below the folder that was looked through. */
  file: string;
  line: number;
  /** Of a literal, `/pattern/flags`; else the expression that makes it. */
  written: string;
  literal: { source: string; flags: string } | undefined;
}

/** Every regular expression in the packages' programs, tests left out. @param root the repository's folder */
export function collectRegexes(root: string): FoundRegex[] {
  const files = globSync('packages/*/src/**/*.{ts,tsx}', { cwd: root })
    .filter((file) => !/\.test\.tsx?$|\/testing\//.test(file))
    .sort();
  return files.flatMap((file) => regexesOf(file, readFileSync(`${root}/${file}`, 'utf8')));
}

/** The same of one source. */
export function regexesOf(file: string, code: string): FoundRegex[] {
  const { program, errors } = parseSync(file, code);
  if (errors.length > 0) throw new Error(`${file}: ${errors[0]!.message}`);
  const found: FoundRegex[] = [];
  const visit = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return;
    const node = value as Node;
    const makes = node.type === 'NewExpression' || node.type === 'CallExpression';
    if (node.regex !== undefined || (makes && node.callee?.name === 'RegExp')) {
      found.push({
        file,
        line: code.slice(0, node.start).split('\n').length,
        written: code.slice(node.start, node.end).replaceAll(/\s+/g, ' '),
        literal: node.regex && { source: node.regex.pattern, flags: node.regex.flags },
      });
    }
    for (const inner of Object.values(node)) visit(inner);
  };
  visit(program);
  return found;
}

/** As much of a syntax tree as is looked at. */
interface Node {
  type?: string;
  start: number;
  end: number;
  regex?: { pattern: string; flags: string };
  callee?: { name?: string };
}

/**
 * Whether some input lets it take time that grows faster than the input's length. `scslre` looks for three causes: one
 * quantifier whose text can be matched in several ways, two that take characters from each other, and one at the
 * beginning that is tried again at every character (`/\s+$/`).
 */
export function isSuperlinear(literal: { source: string; flags: string }): boolean {
  const reportTypes = { Self: true, Trade: true, Move: true };
  return analyse(literal, { reportTypes, maxReports: 1 }).reports.length > 0;
}
