import { createInterface } from 'node:readline/promises';
import { findApertium, installApertium } from '@dragoman/engines';
import type { Settings } from '../settings/settings.ts';
import { apertiumRoot } from '../translation/engines.ts';
import { CommandError, say } from './output.ts';

/**
 * Installs the offline engine if it is missing. On a terminal the command asks first, unless `yes` is true. Elsewhere
 * `yes` or the environment variable `CI=true` is required.
 * @throws CommandError when the engine is missing and must not be installed
 * @throws InstallError when the engine cannot be installed
 */
export async function ensureEngine(settings: Settings, yes: boolean): Promise<void> {
  const { missing } = await findApertium({ root: apertiumRoot(settings) });
  if (missing.length === 0) return;
  const goAhead = yes || process.env.CI === 'true' || (await ask(missing.length));
  if (!goAhead) {
    throw new CommandError('The offline engine is not installed. Run: dragoman engine install');
  }
  await installEngine(settings);
}

/**
 * Installs the offline engine: for the whole system when run as root or with sudo, otherwise in the data
 * directory.
 */
export async function installEngine(settings: Settings): Promise<void> {
  say('Installing the offline engine from Debian’s packages, up to 37 MB …');
  await installApertium({ root: apertiumRoot(settings), onProgress: (line) => say(`  ${line}`) });
}

async function ask(packages: number): Promise<boolean> {
  if (!process.stdin.isTTY || !process.stderr.isTTY) return false;
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  const answer = await terminal.question(
    `The offline engine (Apertium) needs ${packages} Debian packages, up to 37 MB. Install them now? [Y/n] `,
  );
  terminal.close();
  return /^(y(es)?)?$/i.test(answer.trim());
}
