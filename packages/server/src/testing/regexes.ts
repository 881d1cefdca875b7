/** Finds regular expressions whose time can grow quadratically with their input, or faster. */
import { globSync, readFileSync } from 'node:fs';
import { analyse } from 'scslre';
import { parseSync } from 'vite';

/** A regular expression in the sources. */
export interface FoundRegex {
  /** Relative to the searched folder. */
  file: string;
  line: number;
  /** A literal, `/pattern/flags`; otherwise the expression that creates it. */
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

/** Collects the regular expressions of one source. */
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

/** The part of a syntax tree that is read here. */
interface Node {
  type?: string;
  start: number;
  end: number;
  regex?: { pattern: string; flags: string };
  callee?: { name?: string };
}

/**
 * Whether some input makes it take time that grows faster than the input. `scslre` finds three causes: a quantifier
 * that can match text in several ways, two that compete for characters, and one at the beginning that is retried at
 * every character (`/\s+$/`).
 */
export function isSuperlinear(literal: { source: string; flags: string }): boolean {
  const reportTypes = { Self: true, Trade: true, Move: true };
  return analyse(literal, { reportTypes, maxReports: 1 }).reports.length > 0;
}
