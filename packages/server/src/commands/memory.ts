/** The command `dragoman memory`: manages the translation memory of an account. */
import { createReadStream, createWriteStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { decodeParts, EncodingError } from '@dragoman/documents/encodings';
import { InvalidArgumentError, Option } from 'commander';
import { accountNamed } from '../access/accounts.ts';
import { isId } from '../base/ids.ts';
import { counted } from '../base/text.ts';
import { withdrawTextsOf } from '../editing/votes/undo-votes.ts';
import { readEntry, restore, searchMemory, summarizeMemory, withdraw } from '../memory/entries.ts';
import { exportTmx, importTmx, TmxError } from '../memory/exchange.ts';
import { type Command, withStore } from './options.ts';
import { CommandError, oneLine, print, printJson, printTable } from './output.ts';

interface Common {
  data?: string;
  json?: boolean;
}

interface Filter extends Common {
  from?: string;
  to?: string;
  brand?: string;
}

const MAX_FOUND = 1_000;

export function addMemoryCommands(program: Command): void {
  const memory = program.command('memory').description('manage the translation memory of a customer');
  addList(memory);
  addSearch(memory);
  addWithdraw(memory);
  addImport(memory);
  addExport(memory);
}

function addList(memory: Command): void {
  memory
    .command('list')
    .description('count the entries by pair and brand')
    .argument('<account>', 'the username')
    .onStore()
    .action((username: string, options: Common) =>
      withStore(options, async ({ database }) => {
        const { ref } = await accountNamed(database, username);
        const rows = await summarizeMemory(database, ref);
        if (options.json) return printJson({ memory: rows });
        printTable(
          ['pair', 'brand', 'entries', 'withdrawn'],
          rows.map(({ source_language, target_language, brand, entries, withdrawn }) => [
            `${source_language}>${target_language}`,
            brand ?? 'all brands',
            String(entries),
            String(withdrawn),
          ]),
          `The memory of ${username} is empty.`,
        );
      }),
    );
}

function addSearch(memory: Command): void {
  filtered(memory.command('search'))
    .description('find entries that contain all the words in source or target, newest first')
    .argument('<account>', 'the username')
    .argument('[words...]', 'the words, in any order; without them, all entries')
    .addOption(
      new Option('--state <state>', 'only entries in this state')
        .choices(['live', 'withdrawn', 'all'])
        .default('live'),
    )
    .option('--limit <count>', `the maximum number, up to ${MAX_FOUND}`, count, 20)
    .action(
      (
        username: string,
        words: string[],
        options: Filter & { state: 'live' | 'withdrawn' | 'all'; limit: number },
      ) =>
        withStore(options, async ({ database }) => {
          const { ref } = await accountNamed(database, username);
          const { from, to, brand, state, limit } = options;
          const search = { q: words.join(' '), from, to, brand, state, limit };
          const entries = await searchMemory(database, ref, search);
          if (options.json) return printJson({ entries });
          if (entries.length === 0) print('There are no such entries.');
          for (const one of entries) {
            const note = one.withdrawn === null ? '' : `  withdrawn by ${one.withdrawn.by}`;
            print(
              `${one.memory_id}  ${one.source_language} → ${one.target_language}  weight ${one.weight}${note}`,
            );
            print(`  ${oneLine(one.source)}`);
            print(`  ${oneLine(one.target)}`);
          }
        }),
    );
}

function addWithdraw(memory: Command): void {
  memory
    .command('withdraw')
    .description('withdraw an entry, so that it is never used again, and list the jobs that made or used it')
    .argument('<account>', 'the username')
    .argument('<entry>', 'the id of the entry, as in memory search')
    .option('--reason <text>', 'why')
    .option('--restore', 'restore a withdrawn entry', false)
    .onStore()
    .action((username: string, id: string, options: Common & { reason?: string; restore: boolean }) =>
      withStore(options, async ({ database }) => {
        const { ref } = await accountNamed(database, username);
        const found = isId(id) ? await readEntry(database, ref, id) : undefined;
        if (found === undefined) throw new CommandError(`${username} has no entry ${id}.`);
        const { touched } = found;
        const entry = { memoryId: id, reason: options.reason };
        const changed = await database.transaction((transaction) =>
          options.restore
            ? restore(transaction, 'command', ref, id)
            : withdraw(transaction, 'command', ref, entry, withdrawTextsOf),
        );
        if (options.json) return printJson({ memory_id: id, changed, touched });
        const now = options.restore ? 'in use' : 'withdrawn';
        print(changed ? `The entry is ${now}.` : `The entry was already ${now}.`);
        printTable(
          ['how', 'environment', 'job', 'segment', 'status'],
          touched.map(({ uid, environment, status, position, how }) => [
            how,
            environment,
            uid,
            String(position),
            status,
          ]),
          'No job used it.',
        );
      }),
    );
}

function addImport(memory: Command): void {
  memory
    .command('import')
    .description('import a TMX file; the engines never translate its sentences again')
    .argument('<account>', 'the username')
    .argument('<file>', 'a TMX 1.4 file')
    .requiredOption('--from <language>', 'source language, such as en; en-US in the file counts as en')
    .requiredOption('--to <language>', 'target language')
    .option('--brand <brand>', 'only for this brand of the account')
    .option('--dry-run', 'only count; write nothing', false)
    .onStore()
    .action(
      (
        username: string,
        file: string,
        options: Common & { from: string; to: string; brand?: string; dryRun: boolean },
      ) =>
        withStore(options, async ({ database }) => {
          const { ref } = await accountNamed(database, username);
          const pair = { from: options.from, to: options.to, brand: options.brand };
          const text = decodeParts(createReadStream(file));
          const counts = await importTmx(database, 'command', ref, pair, text, options.dryRun).catch(
            (error: unknown) => {
              throw fileError(error, file, 'read');
            },
          );
          if (options.json) return printJson(counts);
          const { read, written, skipped } = counts;
          const done = options.dryRun ? 'would be written' : 'written';
          print(`${counted(written, 'entry', 'entries')} ${done} of ${read}; ${skipped} without the pair.`);
        }),
    );
}

function addExport(memory: Command): void {
  filtered(memory.command('export'))
    .description('export the entries in use as TMX 1.4')
    .argument('<account>', 'the username')
    .argument('<file>', 'the file, which is overwritten')
    .action((username: string, file: string, options: Filter) =>
      withStore(options, async ({ database }) => {
        const { ref } = await accountNamed(database, username);
        const { from, to, brand } = options;
        const tmx = exportTmx(database, ref, { from, to, brand });
        await pipeline(tmx, createWriteStream(file, { mode: 0o600 })).catch((error: unknown) => {
          throw fileError(error, file, 'written');
        });
        if (options.json) printJson({ file });
        else print(`Wrote ${file}.`);
      }),
    );
}

function filtered(command: Command): Command {
  return command
    .option('--from <language>', 'only this source language')
    .option('--to <language>', 'only this target language')
    .option('--brand <brand>', 'only this brand')
    .onStore();
}

function count(written: string): number {
  const value = Number(written);
  if (!/^\d{1,4}$/.test(written) || value < 1 || value > MAX_FOUND) {
    throw new InvalidArgumentError(`It must be a whole number from 1 to ${MAX_FOUND}.`);
  }
  return value;
}

/** Turns an error about a file into an error for the operator, and returns other errors unchanged. */
function fileError(error: unknown, file: string, done: 'read' | 'written'): unknown {
  if (error instanceof TmxError) return new CommandError(`${file}: ${error.message}.`);
  if (error instanceof EncodingError) return new CommandError(`${file} ${error.message}.`);
  if ((error as NodeJS.ErrnoException).syscall === undefined) return error;
  return new CommandError(`${file} cannot be ${done}: ${(error as Error).message}`);
}
