/** `dragoman account keep`, `export` and `erase`: how long a customer's data is kept, and how it ends. */
import { createWriteStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { isDeepStrictEqual } from 'node:util';
import { type Command, InvalidArgumentError } from 'commander';
import { accountNamed } from '../accounts/accounts.ts';
import { recordAudit } from '../operations/audit.ts';
import { eraseAccount, exportAccount } from '../retention/erase.ts';
import { MAX_DAYS, readKeeping, writeKeeping } from '../retention/retention.ts';
import { data, json, withStore } from './options.ts';
import { CommandError, print, printJson } from './output.ts';

interface Common {
  data?: string;
  json?: boolean;
}

export function addRetentionCommands(account: Command): void {
  account
    .command('keep')
    .description('how long its data is kept; without options, show it')
    .argument('<name>', 'the username')
    .option('--attempts <days>', 'attempts of ended deliveries; a number of days, or forever', days)
    .option('--events <days>', 'events of the feed, with their deliveries', days)
    .option('--texts <days>', 'texts of finished jobs and of messages', days)
    .addOption(data())
    .addOption(json())
    .action((username: string, options: Common & { attempts?: Days; events?: Days; texts?: Days }) =>
      withStore(options, async ({ database }) => {
        const { ref } = await accountNamed(database, username);
        const before = await readKeeping(database, ref);
        const after = (what: 'attempts' | 'events' | 'texts') => {
          const given = options[what];
          return given === undefined ? before[what] : given === 'forever' ? null : given;
        };
        const keeping = { attempts: after('attempts'), events: after('events'), texts: after('texts') };
        if (!isDeepStrictEqual(keeping, before)) {
          await database.transaction(async (transaction) => {
            await writeKeeping(transaction, ref, keeping);
            await recordAudit(transaction, 'command', {
              ...{ action: 'account.keeping', account: ref, subject: username, detail: keeping },
            });
          });
        }
        if (options.json) return printJson({ username, keep_days: keeping });
        for (const [what, kept] of Object.entries(keeping)) {
          print(`${what.padEnd(9)} ${kept === null ? 'for ever' : `${kept} days`}`);
        }
      }),
    );

  account
    .command('export')
    .description('write all that is kept of an account, a JSON object a line; secrets are left out')
    .argument('<name>', 'the username')
    .argument('<file>', 'where to; written over')
    .addOption(data())
    .addOption(json())
    .action((username: string, file: string, options: Common) =>
      withStore(options, async ({ database }) => {
        const { ref } = await accountNamed(database, username);
        // Before anything is read: what has left is on record though the file was not finished.
        await recordAudit(database, 'command', {
          ...{ action: 'account.exported', account: ref, subject: username, detail: {} },
        });
        const to = createWriteStream(file, { mode: 0o600 });
        await pipeline(exportAccount(database, ref), to).catch((error: NodeJS.ErrnoException) => {
          if (error.syscall === undefined) throw error;
          throw new CommandError(`${file} cannot be written: ${error.message}`);
        });
        if (options.json) printJson({ username, file });
        else print(`${file} is written.`);
      }),
    );

  account
    .command('erase')
    .description('delete all that an account and its people said, for good; what the books need stays')
    .argument('<name>', 'the username; it is free for another afterwards')
    .option('--yes', 'really', false)
    .addOption(data())
    .addOption(json())
    .action((username: string, options: Common & { yes: boolean }) =>
      withStore(options, async ({ database }) => {
        const { ref } = await accountNamed(database, username);
        if (!options.yes) {
          throw new CommandError(`Nothing was done. To erase ${username} for good, add --yes.`);
        }
        const deleted = await eraseAccount(database, ref);
        await recordAudit(database, 'command', {
          ...{ action: 'account.erased', account: ref, subject: username, detail: deleted },
        });
        if (options.json) return printJson({ username, deleted });
        const rows = Object.values(deleted).reduce((sum, count) => sum + count, 0);
        print(`${username} is erased: ${rows} rows.`);
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
