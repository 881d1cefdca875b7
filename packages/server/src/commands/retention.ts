/** The commands `dragoman account keep`, `export` and `erase`: retention, export and erasure. */
import { createWriteStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { isDeepStrictEqual } from 'node:util';
import { InvalidArgumentError } from 'commander';
import { accountNamed } from '../access/accounts.ts';
import { recordAudit } from '../audit/audit.ts';
import { counted } from '../base/text.ts';
import { beginErasure, eraseAccount, exportAccount } from '../retention/erase.ts';
import { MAX_DAYS, readRetention, setRetention } from '../retention/retention.ts';
import { type Command, withStore } from './options.ts';
import { CommandError, print, printJson } from './output.ts';

interface Common {
  data?: string;
  json?: boolean;
}

export function addRetentionCommands(account: Command): void {
  account
    .command('keep')
    .description('set how long data is kept; without options, show it')
    .argument('<name>', 'the username')
    .option('--attempts <days>', 'attempts of ended deliveries: a number of days, or forever', days)
    .option('--events <days>', 'events and their deliveries', days)
    .option('--texts <days>', 'texts of finished jobs and of messages', days)
    .onStore()
    .action((username: string, options: Common & { attempts?: Days; events?: Days; texts?: Days }) =>
      withStore(options, async ({ database }) => {
        const { ref } = await accountNamed(database, username);
        const before = await readRetention(database, ref);
        const after = (what: 'attempts' | 'events' | 'texts') => {
          const given = options[what];
          return given === undefined ? before[what] : given === 'forever' ? null : given;
        };
        const keeping = { attempts: after('attempts'), events: after('events'), texts: after('texts') };
        if (!isDeepStrictEqual(keeping, before)) {
          await database.transaction((transaction) =>
            setRetention(transaction, 'command', { ref, username }, keeping),
          );
        }
        if (options.json) return printJson({ username, keep_days: keeping });
        for (const [what, kept] of Object.entries(keeping)) {
          print(`${what.padEnd(9)} ${kept === null ? 'forever' : counted(kept, 'day')}`);
        }
      }),
    );

  account
    .command('export')
    .description('write all data of an account, one JSON object per line, without secrets')
    .argument('<name>', 'the username')
    .argument('<file>', 'the file, which is overwritten')
    .onStore()
    .action((username: string, file: string, options: Common) =>
      withStore(options, async ({ database }) => {
        const { ref } = await accountNamed(database, username);
        // The audit entry is written before anything is read, so that an interrupted export is recorded too.
        const entry = { action: 'account.exported', account: ref, subject: username, detail: {} };
        await database.transaction((transaction) => recordAudit(transaction, 'command', entry));
        const to = createWriteStream(file, { mode: 0o600 });
        await pipeline(exportAccount(database, ref), to).catch((error: NodeJS.ErrnoException) => {
          if (error.syscall === undefined) throw error;
          throw new CommandError(`${file} cannot be written: ${error.message}`);
        });
        if (options.json) printJson({ username, file });
        else print(`Wrote ${file}.`);
      }),
    );

  account
    .command('erase')
    .description('delete all texts and personal data of an account permanently; transfers are kept')
    .argument('<name>', 'the username, which can be used again afterwards')
    .option('--yes', 'really', false)
    .onStore()
    .action((username: string, options: Common & { yes: boolean }) =>
      withStore(options, async ({ database }) => {
        const { ref } = await accountNamed(database, username);
        if (!options.yes) {
          throw new CommandError(`Nothing was done. Add --yes to erase ${username} permanently.`);
        }
        await beginErasure(database, 'command', ref);
        const deleted = await eraseAccount(database, 'command', ref);
        if (options.json) return printJson({ username, deleted });
        const rows = Object.values(deleted).reduce((sum, count) => sum + count, 0);
        print(`Erased ${username}: ${counted(rows, 'row')}.`);
      }),
    );
}

type Days = number | 'forever';

function days(written: string): Days {
  if (written === 'forever') return written;
  const value = Number(written);
  if (!/^\d{1,5}$/.test(written) || value < 1 || value > MAX_DAYS) {
    throw new InvalidArgumentError(`It must be a number of days from 1 to ${MAX_DAYS}, or forever.`);
  }
  return value;
}
