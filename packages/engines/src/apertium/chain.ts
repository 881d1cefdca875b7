/**
 * Reads the commands of a mode as one argument list per stage, so that each stage is spawned without a shell. With
 * `bash -c 'a | b | c'`, the shell keeps the last stdout open, and only a timeout reveals a crash.
 */

import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { keepTestOrder } from './constraint-grammar.ts';
import { completeTaggerModel } from './tagger-model.ts';
import type { Tree } from './tree.ts';
import { DATA_PREFIX, modePath, toolPath } from './tree.ts';
import { UnknownFormat } from './unknown-format.ts';

export interface Stage {
  command: string;
  args: string[];
  /** The contents of the file that the stage opens as {@link DATA_FILE}. */
  data?: Buffer;
}

/** The path under which a stage opens its `data`: file descriptor 3 of its process. */
const DATA_FILE = '/dev/fd/3';

const run = promisify(execFile);

/**
 * Reads the programs of a mode with the tool `apertium-wblank-mode`, which adds the programs for word-bound
 * blanks and the option `-z` (a NUL ends each segment).
 *
 * @param mode a name of {@link MODES}; it becomes part of a path
 * @throws Error when the mode's file is missing or contains other shell syntax than a chain of commands
 */
export async function readChain(tree: Tree, mode: string): Promise<Stage[]> {
  const { stdout } = await run(toolPath(tree, 'apertium-wblank-mode'), ['-z', modePath(tree, mode)], {
    env: tree.env,
    timeout: 10_000,
  });
  return Promise.all(parseChain(stdout, tree).map(withoutState));
}

/**
 * Gives a stage that would keep state between segments a changed data file. Otherwise a translation would depend on the
 * texts that the process has translated before (docs/decisions/0028). A file of an unknown format is used unchanged.
 */
async function withoutState(stage: Stage): Promise<Stage> {
  const { args } = stage;
  const change = changeFor(stage);
  const at = args.findLastIndex((arg) => arg.startsWith('/'));
  if (change === undefined || at === -1) return stage;
  try {
    return { ...stage, args: args.with(at, DATA_FILE), data: change(await readFile(args[at]!)) };
  } catch (error) {
    if (error instanceof UnknownFormat) return stage;
    throw error;
  }
}

function changeFor({ command, args }: Stage): ((file: Buffer) => Buffer) | undefined {
  if (command.endsWith('/cg-proc')) return keepTestOrder;
  // `-g` alone uses a hidden Markov model. With `-gx`, the tagger is a perceptron, which keeps no state.
  return command.endsWith('/apertium-tagger') && args.includes('-g') ? completeTaggerModel : undefined;
}

/**
 * Parses one line such as `program 'file' -option | program …`. Replaces `$1` by `-n`, which generates
 * unknown words without marks, and removes `$2`.
 * @throws Error when the line has shell syntax other than quotes and `|`
 */
export function parseChain(line: string, tree: Tree): Stage[] {
  const stages: Stage[] = [];
  let words: string[] = [];
  const finish = (): void => {
    const [tool, ...args] = words;
    if (tool === undefined) throw new Error('a mode file has an empty stage');
    if (!/^[a-z][a-z0-9-]*$/.test(tool)) throw new Error(`a mode file names an invalid program: ${tool}`);
    stages.push({ command: toolPath(tree, tool), args: args.map((arg) => relocate(arg, tree)) });
    words = [];
  };
  for (const [token] of line.trim().matchAll(/'[^']*'|\||[^\s'|]+/g)) {
    if (token === '|') finish();
    else if (token.startsWith("'")) words.push(token.slice(1, -1));
    else if (token === '$1') words.push('-n');
    else if (token === '$2') continue;
    else if (/[`$;&<>(){}*?~#!"\\]/.test(token)) throw new Error(`a mode file needs a shell: ${token}`);
    else words.push(token);
  }
  finish();
  return stages;
}

const relocate = (arg: string, tree: Tree): string =>
  tree.root !== '' && arg.startsWith(DATA_PREFIX) ? tree.root + arg : arg;
