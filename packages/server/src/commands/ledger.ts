/** The command `dragoman ledger`: statements, refunds and adjustments. */
import { InvalidArgumentError, Option } from 'commander';
import { accountNamed } from '../access/accounts.ts';
import { recordAudit } from '../audit/audit.ts';
import type { Environment } from '../base/account.ts';
import { counted } from '../base/text.ts';
import { statementAsCsv } from '../ledger/csv.ts';
import { adjust, readStatement, refund, verifyLedger } from '../ledger/ledger.ts';
import { type Command, date, environment, withStore } from './options.ts';
import { print, printJson, printTable } from './output.ts';

export function addLedgerCommands(program: Command): void {
  const ledger = program
    .command('ledger')
    .description('check the ledger, print statements, refund and correct charges');
  addVerify(ledger);
  addStatement(ledger);
  addRefund(ledger);
  addAdjust(ledger);
}

function addVerify(ledger: Command): void {
  ledger
    .command('verify')
    .description('check every balance and every job’s price against the transfers')
    .onStore()
    .action((options: { data?: string; json?: boolean }) =>
      withStore(options, async ({ database }) => {
        const { discrepancies, ...totals } = await verifyLedger(database);
        if (options.json) printJson({ ok: discrepancies.length === 0, ...totals, discrepancies });
        else {
          const [transfers, accounts] = [
            counted(totals.transfers, 'transfer'),
            counted(totals.accounts, 'account'),
          ];
          print(`${transfers} of ${accounts}, ${counted(totals.cents, 'cent')} in total`);
          for (const { rule, account_id, subject, detail } of discrepancies) {
            print(`FAIL  ${rule} ${account_id} ${subject}: ${detail}`);
          }
          const found = counted(discrepancies.length, 'discrepancy', 'discrepancies');
          print(discrepancies.length === 0 ? 'The ledger is consistent.' : `${found}.`);
        }
        if (discrepancies.length > 0) process.exitCode = 1;
      }),
    );
}

function addStatement(ledger: Command): void {
  ledger
    .command('statement')
    .description('print a statement: opening balance, transfers with their jobs, closing balance; in cents')
    .argument('<account>', 'the username')
    .addOption(environment().default('production'))
    .option('--from <date>', 'the start, in UTC; by default the first transfer', date)
    .option('--until <date>', 'the end, exclusive; now by default', date)
    .addOption(new Option('--csv', 'print CSV for a spreadsheet').conflicts('json'))
    .onStore()
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
          printTable(
            ['at', 'change', 'balance', 'kind', 'job', 'memo'],
            lines.map(({ at, kind, uid, memo, change, balance }) => [
              at.toISOString(),
              String(change),
              String(balance),
              kind,
              uid ?? '-',
              memo ?? '-',
            ]),
            'There are no transfers in this period.',
          );
          print(`closing ${closing}`);
        }),
    );
}

function addRefund(ledger: Command): void {
  ledger
    .command('refund')
    .description('refund everything that was charged for a job, once')
    .argument('<account>', 'the username')
    .argument('<uid>', 'the uid of the job')
    .requiredOption('--memo <text>', 'the reason, shown on the statement')
    .addOption(environment().default('production'))
    .onStore()
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
            const given = await refund(transaction, ref, entry);
            const detail = { ...entry, ...given };
            const action = 'money.refund';
            await recordAudit(transaction, 'command', { action, account: ref, subject: username, detail });
            return given;
          });
          if (options.json)
            return printJson({ username, environment: options.environment, uid, ...refunded });
          print(
            `Refunded ${counted(refunded.cents, 'cent')}; ${username} has ${counted(refunded.balance, 'cent')}.`,
          );
        }),
    );
}

function addAdjust(ledger: Command): void {
  ledger
    .command('adjust')
    .description('correct a balance')
    .argument('<account>', 'the username')
    .argument('<cents>', 'the amount; negative to take it off the balance', signedCents)
    .requiredOption('--memo <text>', 'the reason, shown on the statement')
    .addOption(environment().default('production'))
    .onStore()
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
          print(`${username} has ${counted(balance, 'cent')} in ${options.environment}.`);
        }),
    );
}

function signedCents(written: string): number {
  if (!/^[+-]?\d{1,12}$/.test(written) || Number(written) === 0) {
    throw new InvalidArgumentError('It must be a whole number of cents other than zero.');
  }
  return Number(written);
}
