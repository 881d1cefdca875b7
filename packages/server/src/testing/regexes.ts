/**
 * Finds regular expressions whose running time can grow quadratically with the length of their input, or
 * faster.
 */
import { globSync, readFileSync } from 'node:fs';
import { analyse } from 'scslre';
import { parseSync } from 'vite';

export interface FoundRegex {
  /** Path relative to the searched folder. */
  file: string;
  line: number;
  /** The literal as `/pattern/flags`, or the expression that creates the regular expression. */
  written: string;
  literal: { source: string; flags: string } | undefined;
}

/** Collects every regular expression in the packages, without tests. @param root the folder of the repository */
export function collectRegexes(root: string): FoundRegex[] {
  const files = globSync('packages/*/src/**/*.{ts,tsx}', { cwd: root })
    .filter((file) => !/\.test\.tsx?$|\/testing\//.test(file))
    .sort();
  return files.flatMap((file) => regexesOf(file, readFileSync(`${root}/${file}`, 'utf8')));
}

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

/** The parts of a syntax tree node that this file reads. */
interface Node {
  type?: string;
  start: number;
  end: number;
  regex?: { pattern: string; flags: string };
  callee?: { name?: string };
}

/**
 * Returns whether there are inputs whose matching time grows faster than their length. `scslre` finds three causes: a
 * quantifier that can match a text in several ways, two quantifiers that compete for characters, and a quantifier at
 * the start that is retried at every character (`/\s+$/`).
 */
export function isSuperlinear(literal: { source: string; flags: string }): boolean {
  const reportTypes = { Self: true, Trade: true, Move: true };
  return analyse(literal, { reportTypes, maxReports: 1 }).reports.length > 0;
}
