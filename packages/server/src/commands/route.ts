/** The command `dragoman route`: manages engine routes. */
import { Option } from 'commander';
import { accountNamed } from '../access/accounts.ts';
import type { AccountRef } from '../base/account.ts';
import type { Database } from '../database/database.ts';
import { ENGINE_NAMES_TEXT, type EngineName, routableEngines } from '../settings/engine-names.ts';
import type { EngineRoute, EngineRouteTier } from '../translation/engine-routes.ts';
import { removeEngineRoute, setEngineRoute } from '../translation/engine-routes.ts';
import { listReportedEngines } from '../translation/report.ts';
import { listEngineRoutes } from '../translation/translator.ts';
import { type Command, engineNames, settingsWith, withStore } from './options.ts';
import { CommandError, print, printJson, printTable, say } from './output.ts';

interface Selectors {
  from: string;
  to: string;
  tier: EngineRouteTier | '*';
  account?: string;
  brand?: string;
  data?: string;
  json?: boolean;
}

export function addRouteCommands(program: Command): void {
  const route = program.command('route').description('manage engine routes: which engines translate what');
  route
    .command('list')
    .description('list the engine routes; everything else uses DRAGOMAN_ENGINES')
    .onStore()
    .action((options: { data?: string; json?: boolean }) =>
      withStore(options, async ({ database }) => {
        const rules = await listEngineRoutes(database);
        if (options.json) {
          const routes = rules.map(({ account_id: _, username, ...rule }) => ({
            ...rule,
            account: username,
          }));
          return printJson({ routes });
        }
        printTable(
          ['from', 'to', 'tier', 'account', 'brand', 'engines'],
          rules.map((rule) => [
            rule.source_language,
            rule.target_language,
            rule.tier,
            rule.username ?? '*',
            rule.brand ?? '*',
            rule.engines.join(', '),
          ]),
          'There are no engine routes. Everything uses DRAGOMAN_ENGINES.',
        );
      }),
    );
  withSelectors(route.command('set').description('set the engines of a route, in order of preference'))
    .argument('<engines>', `comma-separated: ${ENGINE_NAMES_TEXT}`, engineNames)
    .action((engines: EngineName[], options: Selectors) =>
      withStore(options, async ({ database }) => {
        const { rule, account } = await selected(database, options);
        const known = routableEngines(settingsWith(options));
        const unknown = engines.find((name) => !known.includes(name));
        if (unknown !== undefined) {
          throw new CommandError(
            `There is no engine ${unknown}: DRAGOMAN_ENGINES of this command does not name it. A route can name ${known.join(', ')}.`,
          );
        }
        await database.transaction((transaction) =>
          setEngineRoute(transaction, 'command', account, { ...rule, engines }),
        );
        if (options.json) printJson({ engines });
        else print(`${describe(rule, options.account)}: ${engines.join(', ')}`);
        await warnOfMissing(database, engines);
      }),
    );
  withSelectors(route.command('remove').description('remove the route with exactly these options')).action(
    (options: Selectors) =>
      withStore(options, async ({ database }) => {
        const { rule, account } = await selected(database, options);
        const removed = await database.transaction((transaction) =>
          removeEngineRoute(transaction, 'command', account, rule),
        );
        if (!removed) throw new CommandError(`There is no route for ${describe(rule, options.account)}.`);
        if (options.json) printJson({ removed: true });
        else print(`Removed the route for ${describe(rule, options.account)}.`);
      }),
  );
}

/** Says which engines no running worker has. Says nothing while no worker runs. */
async function warnOfMissing(database: Database, engines: readonly EngineName[]): Promise<void> {
  const reported = await listReportedEngines(database);
  const missing = engines.filter((name) => !reported.includes(name));
  if (reported.length === 0 || missing.length === 0) return;
  say(`No worker has ${missing.join(', ')}: name them in DRAGOMAN_ENGINES of a worker.`);
}

function withSelectors(command: Command): Command {
  return command
    .option('--from <language>', 'only this source language', '*')
    .option('--to <language>', 'only this target language', '*')
    .addOption(
      new Option('--tier <tier>', 'only this tier').choices(['*', 'human', 'machine', 'chat']).default('*'),
    )
    .option('--account <name>', 'only this account')
    .option('--brand <brand>', 'only this brand of the account')
    .onStore();
}

async function selected(
  database: Database,
  options: Selectors,
): Promise<{ rule: Omit<EngineRoute, 'engines'>; account: AccountRef | undefined }> {
  const { brand } = options;
  if (brand !== undefined && options.account === undefined) {
    throw new CommandError('Name the account of the brand with --account.');
  }
  const account =
    options.account === undefined ? undefined : (await accountNamed(database, options.account)).ref;
  const rule = {
    source_language: options.from,
    target_language: options.to,
    tier: options.tier,
    account_id: account?.accountId ?? null,
    brand: brand ?? null,
  };
  return { rule, account };
}

function describe(rule: Omit<EngineRoute, 'engines'>, account: string | null | undefined): string {
  const parts = [
    `${rule.source_language}>${rule.target_language}`,
    ...(rule.tier === '*' ? [] : [rule.tier]),
    ...(account === null || account === undefined ? [] : [`account ${account}`]),
    ...(rule.brand === null ? [] : [`brand ${rule.brand}`]),
  ];
  return parts.join(', ');
}
