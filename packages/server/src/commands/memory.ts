/** `dragoman memory`: what an account has translated before. */
import { createReadStream } from 'node:fs';
import type { Command } from 'commander';
import type { AccountRef } from '../account.ts';
import { accountNamed } from '../accounts/accounts.ts';
import type { Database } from '../database/database.ts';
import { importEntries, type MemoryEntry, type MemoryPair } from '../memory/memory.ts';
import { readTmx, TmxError, type TmxUnit } from '../memory/tmx.ts';
import { data, json, withStore } from './options.ts';
import { CommandError, print, printJson } from './output.ts';

interface ImportOptions {
  from: string;
  to: string;
  brand?: string;
  data?: string;
  json?: boolean;
}

/** Entries of one statement. */
const BATCH = 1_000;

export function addMemoryCommands(program: Command): void {
  program
    .command('memory')
    .description('what a customer has translated before')
    .command('import')
    .description('bring a TMX file in; a sentence that is in it is never sent to an engine again')
    .argument('<account>', 'the username')
    .argument('<file>', 'a TMX 1.4 file')
    .requiredOption('--from <language>', 'source language, such as en; en-US in the file counts as en')
    .requiredOption('--to <language>', 'target language')
    .option('--brand <brand>', 'only for this brand of the account')
    .addOption(data())
    .addOption(json())
    .action((username: string, file: string, options: ImportOptions) =>
      withStore(options, async ({ database }) => {
        const { ref } = await accountNamed(database, username);
        const counts = await importFile(database, ref, file, options);
        if (options.json) printJson(counts);
        else
          print(`${counts.written} entries written of ${counts.read}; ${counts.skipped} without the pair.`);
      }),
    );
}

async function importFile(
  database: Database,
  account: AccountRef,
  file: string,
  { from, to, brand }: ImportOptions,
): Promise<{ read: number; written: number; skipped: number }> {
  const pair: MemoryPair = { from, to, brand };
  const counts = { read: 0, written: 0, skipped: 0 };
  let batch: MemoryEntry[] = [];
  const flush = async () => {
    if (batch.length > 0) counts.written += await importEntries(database, account, pair, batch);
    batch = [];
  };
  try {
    for await (const unit of readTmx(createReadStream(file, 'utf8'))) {
      counts.read++;
      const entry = entryOf(unit, pair);
      if (entry === undefined) counts.skipped++;
      else if (batch.push(entry) >= BATCH) await flush();
    }
  } catch (error) {
    if (error instanceof TmxError) throw new CommandError(`${file}: ${error.message}.`);
    if ((error as NodeJS.ErrnoException).syscall === undefined) throw error;
    throw new CommandError(`${file} cannot be read: ${(error as Error).message}`);
  }
  await flush();
  return counts;
}

function entryOf({ variants }: TmxUnit, { from, to }: MemoryPair): MemoryEntry | undefined {
  const find = (wanted: string) =>
    variants.find(({ language }) => language === wanted) ??
    variants.find(({ language }) => language.split(/[-_]/, 1)[0] === wanted);
  const [source, target] = [find(from), find(to)];
  if (source === undefined || target === undefined || source === target) return undefined;
  if (source.pieces.length === 0 || target.pieces.length === 0) return undefined;
  return { source: source.pieces, target: target.pieces };
}
