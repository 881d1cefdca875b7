/** The engine that commands and roles use, and getting it onto the machine. */
import { join } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { createApertium, type Engine, findApertium, installApertium } from '@dragoman/engines';
import type { Settings } from '../settings.ts';
import { CommandError, say } from './output.ts';

/** The folder for a private Apertium; where there is none in it, the system's is used. */
export function apertiumRoot(settings: Settings): string {
  return settings.apertiumRoot ?? join(settings.data, 'apertium');
}

/** Makes the engine of the settings. No pipeline is started before the first draft or self-test. */
export function createEngine(settings: Settings): Engine {
  return createApertium({ root: apertiumRoot(settings), memoryMebibytes: settings.apertiumMebibytes });
}

/**
 * Installs the offline engine where it is missing. On a terminal it asks first, unless `yes`; without a
 * terminal it goes ahead with `yes` or in CI.
 * @throws CommandError when it is missing and may not be installed
 * @throws InstallError when it cannot be installed
 */
export async function ensureEngine(settings: Settings, yes: boolean): Promise<void> {
  const { missing } = await findApertium({ root: apertiumRoot(settings) });
  if (missing.length === 0) return;
  const goAhead = yes || process.env.CI === 'true' || (await ask(missing.length));
  if (!goAhead) {
    throw new CommandError('The offline engine is not installed. Run: npx dragoman engine install');
  }
  await installEngine(settings);
}

/** Installs the offline engine: for the whole system as root or with sudo, else in the data directory. */
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
