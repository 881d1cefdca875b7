/** `dragoman memory`: what an account has translated before. */
import { createReadStream, createWriteStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { accountNamed } from '../accounts/accounts.ts';
import { readEntry, restore, retract, searchMemory, summarizeMemory } from '../memory/entries.ts';
import { exportTmx, importTmx, TmxError } from '../memory/exchange.ts';
import { recordAudit } from '../operations/audit.ts';
import { data, json, withStore } from './options.ts';
import { CommandError, print, printJson } from './output.ts';

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
  const memory = program.command('memory').description('what a customer has translated before');

  memory
    .command('list')
    .description('how much there is, by pair and brand')
    .argument('<account>', 'the username')
    .addOption(data())
    .addOption(json())
    .action((username: string, options: Common) =>
      withStore(options, async ({ database }) => {
        const { ref } = await accountNamed(database, username);
        const rows = await summarizeMemory(database, ref);
        if (options.json) return printJson({ memory: rows });
        for (const { source_language, target_language, brand, entries, retracted } of rows) {
          const pair = `${source_language} → ${target_language}`.padEnd(16);
          const taken = retracted === 0 ? '' : `, ${retracted} of them not used any more`;
          print(`${pair} ${(brand ?? 'every brand').padEnd(20)} ${entries} entries${taken}`);
        }
      }),
    );

  filtered(memory.command('search'))
    .description('entries that have all the words in their source or target, the last made first')
    .argument('<account>', 'the username')
    .argument('[words...]', 'in any case and order; without them, all')
    .addOption(
      new Option('--state <state>', 'which of them').choices(['live', 'retracted', 'all']).default('live'),
    )
    .option('--limit <count>', `at most ${MAX_FOUND}`, count, 20)
    .action(
      (
        username: string,
        words: string[],
        options: Filter & { state: 'live' | 'retracted' | 'all'; limit: number },
      ) =>
        withStore(options, async ({ database }) => {
          const { ref } = await accountNamed(database, username);
          const { from, to, brand, state, limit } = options;
          const search = { q: words.join(' '), from, to, brand, state, limit };
          const entries = await searchMemory(database, ref, search);
          if (options.json) return printJson({ entries });
          for (const one of entries) {
            const note = one.retracted === null ? '' : `  taken back by ${one.retracted.by}`;
            print(
              `${one.memory_id}  ${one.source_language} → ${one.target_language}  weight ${one.weight}${note}`,
            );
            print(`  ${one.source}`);
            print(`  ${one.target}`);
          }
        }),
    );

  memory
    .command('retract')
    .description('take an entry back, and list the jobs that it came from or went to; it is never used again')
    .argument('<account>', 'the username')
    .argument('<entry>', 'its id, as search shows it')
    .option('--reason <text>', 'why')
    .option('--restore', 'use it again instead', false)
    .addOption(data())
    .addOption(json())
    .action((username: string, id: string, options: Common & { reason?: string; restore: boolean }) =>
      withStore(options, async ({ database }) => {
        const { ref } = await accountNamed(database, username);
        const found = UUID.test(id) ? await readEntry(database, ref, id) : undefined;
        if (found === undefined) throw new CommandError(`${username} has no entry ${id}.`);
        const changed = options.restore
          ? await restore(database, ref, id)
          : await retract(database, ref, id, { by: 'operator', reason: options.reason });
        const { touched } = found;
        if (changed) {
          const action = options.restore ? 'memory.restored' : 'memory.retracted';
          const detail = { jobs: touched.length };
          await recordAudit(database, 'command', { action, account: ref, subject: id, detail });
        }
        if (options.json) return printJson({ memory_id: id, changed, touched });
        const now = options.restore ? 'in use' : 'taken back';
        print(changed ? `It is ${now}.` : `It was ${now} before.`);
        for (const { uid, environment, status, position, how } of touched) {
          print(`${how.padEnd(8)} ${environment.padEnd(10)} ${uid}  segment ${position}  ${status}`);
        }
      }),
    );

  memory
    .command('import')
    .description('bring a TMX file in; a sentence that is in it is never sent to an engine again')
    .argument('<account>', 'the username')
    .argument('<file>', 'a TMX 1.4 file')
    .requiredOption('--from <language>', 'source language, such as en; en-US in the file counts as en')
    .requiredOption('--to <language>', 'target language')
    .option('--brand <brand>', 'only for this brand of the account')
    .option('--dry-run', 'read it and tell; write nothing', false)
    .addOption(data())
    .addOption(json())
    .action(
      (
        username: string,
        file: string,
        options: Common & { from: string; to: string; brand?: string; dryRun: boolean },
      ) =>
        withStore(options, async ({ database }) => {
          const { ref } = await accountNamed(database, username);
          const pair = { from: options.from, to: options.to, brand: options.brand };
          const text = createReadStream(file, 'utf8');
          const counts = await importTmx(database, ref, pair, text, options.dryRun).catch(
            (error: unknown) => {
              throw fileError(error, file, 'read');
            },
          );
          if (!options.dryRun) {
            const { from, to } = pair;
            await recordAudit(database, 'command', {
              ...{ action: 'memory.imported', account: ref, subject: `${from}>${to}` },
              detail: { brand: pair.brand ?? null, ...counts },
            });
          }
          if (options.json) return printJson(counts);
          const { read, written, skipped } = counts;
          const done = options.dryRun ? 'would be written' : 'written';
          print(`${written} entries ${done} of ${read}; ${skipped} without the pair.`);
        }),
    );

  filtered(memory.command('export'))
    .description('write what is in use as TMX 1.4')
    .argument('<account>', 'the username')
    .argument('<file>', 'where to; written over')
    .action((username: string, file: string, options: Filter) =>
      withStore(options, async ({ database }) => {
        const { ref } = await accountNamed(database, username);
        const { from, to, brand } = options;
        const tmx = exportTmx(database, ref, { from, to, brand });
        await pipeline(tmx, createWriteStream(file, { mode: 0o600 })).catch((error: unknown) => {
          throw fileError(error, file, 'written');
        });
        if (options.json) printJson({ file });
        else print(`${file} is written.`);
      }),
    );
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

function filtered(command: Command): Command {
  return command
    .option('--from <language>', 'of this source language')
    .option('--to <language>', 'into this target language')
    .option('--brand <brand>', 'of this brand')
    .addOption(data())
    .addOption(json());
}

function count(written: string): number {
  const value = Number(written);
  if (!/^\d{1,4}$/.test(written) || value < 1 || value > MAX_FOUND) {
    throw new InvalidArgumentError(`It must be a whole number from 1 to ${MAX_FOUND}.`);
  }
  return value;
}

/** What is wrong with the file is for the person who named it. */
function fileError(error: unknown, file: string, done: 'read' | 'written'): unknown {
  if (error instanceof TmxError) return new CommandError(`${file}: ${error.message}.`);
  if ((error as NodeJS.ErrnoException).syscall === undefined) return error;
  return new CommandError(`${file} cannot be ${done}: ${(error as Error).message}`);
}
