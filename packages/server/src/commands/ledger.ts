/** `dragoman ledger`: money, as the operator looks after it. */
import { type Command, InvalidArgumentError, Option } from 'commander';
import type { Environment } from '../account.ts';
import { accountNamed } from '../accounts/accounts.ts';
import { statementAsCsv } from '../ledger/csv.ts';
import { adjust, readStatement, refundWithin, verifyLedger } from '../ledger/ledger.ts';
import { recordAudit } from '../operations/audit.ts';
import { data, date, environment, json, withStore } from './options.ts';
import { print, printJson } from './output.ts';

export function addLedgerCommands(program: Command): void {
  const ledger = program.command('ledger').description('money');
  ledger
    .command('verify')
    .description('re-add every balance and every job’s price from the transfers')
    .addOption(data())
    .addOption(json())
    .action((options: { data?: string; json?: boolean }) =>
      withStore(options, async ({ database }) => {
        const { discrepancies, ...totals } = await verifyLedger(database);
        if (options.json) printJson({ ok: discrepancies.length === 0, ...totals, discrepancies });
        else {
          print(`${totals.transfers} transfers of ${totals.accounts} accounts, ${totals.cents} cents in all`);
          for (const { rule, account_id, subject, detail } of discrepancies) {
            print(`FAIL  ${rule} ${account_id} ${subject}: ${detail}`);
          }
          print(
            discrepancies.length === 0 ? 'The ledger is sound.' : `${discrepancies.length} discrepancies.`,
          );
        }
        if (discrepancies.length > 0) process.exitCode = 1;
      }),
    );
  ledger
    .command('statement')
    .description('a balance over time: opening, every transfer with its job, closing; in cents')
    .argument('<account>', 'the username')
    .addOption(environment().default('production'))
    .option('--from <date>', 'from this moment on, in UTC; from the beginning where not given', date)
    .option('--until <date>', 'to before this moment; to now where not given', date)
    .addOption(new Option('--csv', 'as CSV, for a spreadsheet').conflicts('json'))
    .addOption(data())
    .addOption(json())
    .action(
      (
        username: string,
        options: {
          environment: Environment;
          from?: Date;
          until?: Date;
          csv?: boolean;
          data?: string;
          json?: boolean;
        },
      ) =>
        withStore(options, async ({ database }) => {
          const { ref } = await accountNamed(database, username);
          const period = { from: options.from ?? new Date(0), until: options.until ?? new Date() };
          const statement = await readStatement(database, ref, options.environment, period);
          const { opening, lines, closing } = statement;
          if (options.csv) {
            process.stdout.write(statementAsCsv(statement));
            return;
          }
          if (options.json) {
            return printJson({
              username,
              environment: options.environment,
              from: options.from ?? null,
              until: period.until,
              opening,
              lines,
              closing,
            });
          }
          print(`opening ${opening}`);
          for (const { at, kind, uid, memo, change, balance } of lines) {
            const what = [kind.padEnd(10), uid ?? '', memo ?? ''].join(' ').trimEnd();
            print(
              `${at.toISOString()} ${String(change).padStart(10)} ${String(balance).padStart(12)} ${what}`,
            );
          }
          print(`closing ${closing}`);
        }),
    );

  ledger
    .command('refund')
    .description('give back what was charged for a job, once')
    .argument('<account>', 'the username')
    .argument('<uid>', 'the job')
    .requiredOption('--memo <text>', 'why, as the statement shows it')
    .addOption(environment().default('production'))
    .addOption(data())
    .addOption(json())
    .action(
      (
        username: string,
        uid: string,
        options: { memo: string; environment: Environment; data?: string; json?: boolean },
      ) =>
        withStore(options, async ({ database }) => {
          const { ref } = await accountNamed(database, username);
          const entry = { environment: options.environment, uid, memo: options.memo };
          const refunded = await database.transaction(async (transaction) => {
            const given = await refundWithin(transaction, ref, entry);
            const detail = { ...entry, ...given };
            const action = 'money.refund';
            await recordAudit(transaction, 'command', { action, account: ref, subject: username, detail });
            return given;
          });
          if (options.json)
            return printJson({ username, environment: options.environment, uid, ...refunded });
          print(`${refunded.cents} cents were given back; ${username} has ${refunded.balance} cents.`);
        }),
    );

  ledger
    .command('adjust')
    .description('put a balance right, for a reason')
    .argument('<account>', 'the username')
    .argument('<cents>', 'how much; below zero to take it away', signedCents)
    .requiredOption('--memo <text>', 'why, as the statement shows it')
    .addOption(environment().default('production'))
    .addOption(data())
    .addOption(json())
    .action(
      (
        username: string,
        cents: number,
        options: { memo: string; environment: Environment; data?: string; json?: boolean },
      ) =>
        withStore(options, async ({ database }) => {
          const { ref } = await accountNamed(database, username);
          const entry = { environment: options.environment, cents, memo: options.memo };
          const balance = await database.transaction(async (transaction) => {
            const left = await adjust(transaction, ref, entry);
            const detail = { ...entry, balance: left };
            const action = 'money.adjustment';
            await recordAudit(transaction, 'command', { action, account: ref, subject: username, detail });
            return left;
          });
          if (options.json) return printJson({ username, environment: options.environment, balance });
          print(`${username} has ${balance} cents in ${options.environment}.`);
        }),
    );
}

function signedCents(written: string): number {
  if (!/^[+-]?\d{1,12}$/.test(written) || Number(written) === 0) {
    throw new InvalidArgumentError('It must be a whole number of cents, and not zero.');
  }
  return Number(written);
}
