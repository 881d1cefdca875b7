/** `dragoman ledger`: money, as the operator looks after it. */
import type { Command } from 'commander';
import { verifyLedger } from '../ledger/ledger.ts';
import { data, json, withStore } from './options.ts';
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
}
