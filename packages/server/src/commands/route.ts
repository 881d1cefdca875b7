/** `dragoman route`: which engines serve what, in which order. */
import { type Command, InvalidArgumentError, Option } from 'commander';
import type { AccountRef } from '../account.ts';
import { accountNamed } from '../accounts/accounts.ts';
import type { Database } from '../database/database.ts';
import { recordAudit } from '../operations/audit.ts';
import { ENGINE_NAMES, type EngineName } from '../translation/names.ts';
import type { RouteRule, RouteTier } from '../translation/routes.ts';
import { listRoutes, removeRoute, setRoute } from '../translation/translator.ts';
import { data, json, withStore } from './options.ts';
import { CommandError, print, printJson } from './output.ts';

interface Selectors {
  from: string;
  to: string;
  tier: RouteTier | '*';
  account?: string;
  brand?: string;
  data?: string;
  json?: boolean;
}

export function addRouteCommands(program: Command): void {
  const route = program.command('route').description('which engines serve what, in which order');
  route
    .command('list')
    .description('list the routes; where none fits, DRAGOMAN_ENGINES is the order')
    .addOption(data())
    .addOption(json())
    .action((options: { data?: string; json?: boolean }) =>
      withStore(options, async ({ database }) => {
        const rules = await listRoutes(database);
        if (options.json) {
          const routes = rules.map(({ account_id: _, username, ...rule }) => ({
            ...rule,
            account: username,
          }));
          return printJson({ routes });
        }
        for (const rule of rules) print(`${describe(rule, rule.username)}: ${rule.engines.join(', ')}`);
        if (rules.length === 0) print('There are no routes; DRAGOMAN_ENGINES is the order for everything.');
      }),
    );
  withSelectors(route.command('set').description('have these engines tried, in this order'))
    .argument('<engines>', `a comma list of ${ENGINE_NAMES.join(', ')}`, engineNames)
    .action((engines: EngineName[], options: Selectors) =>
      withStore(options, async ({ database }) => {
        const { rule, account } = await selected(database, options);
        await database.transaction(async (transaction) => {
          await setRoute(transaction, { ...rule, engines });
          await recordAudit(transaction, 'command', {
            ...{ action: 'route.set', account, subject: subjectOf(rule), detail: { engines } },
          });
        });
        if (options.json) printJson({ engines });
        else print(`${describe(rule, options.account)}: ${engines.join(', ')}`);
      }),
    );
  withSelectors(route.command('remove').description('remove the route for exactly this')).action(
    (options: Selectors) =>
      withStore(options, async ({ database }) => {
        const { rule, account } = await selected(database, options);
        await database.transaction(async (transaction) => {
          if (!(await removeRoute(transaction, rule))) {
            throw new CommandError(`There is no route for ${describe(rule, options.account)}.`);
          }
          await recordAudit(transaction, 'command', {
            ...{ action: 'route.removed', account, subject: subjectOf(rule), detail: {} },
          });
        });
        if (options.json) printJson({ removed: true });
        else print(`Removed the route for ${describe(rule, options.account)}.`);
      }),
  );
}

function withSelectors(command: Command): Command {
  return command
    .option('--from <language>', 'only this source language', '*')
    .option('--to <language>', 'only this target language', '*')
    .addOption(
      new Option('--tier <tier>', 'only this').choices(['*', 'human', 'machine', 'chat']).default('*'),
    )
    .option('--account <name>', 'only this account')
    .option('--brand <brand>', 'only this brand of the account')
    .addOption(data())
    .addOption(json());
}

async function selected(
  database: Database,
  options: Selectors,
): Promise<{ rule: Omit<RouteRule, 'engines'>; account: AccountRef | undefined }> {
  const { brand } = options;
  if (brand !== undefined && options.account === undefined) {
    throw new CommandError('A brand belongs to an account: name it with --account.');
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

/** As the console's audit names it. */
function subjectOf({ source_language, target_language, tier }: Omit<RouteRule, 'engines'>): string {
  return `${source_language}>${target_language} ${tier}`;
}

function describe(rule: Omit<RouteRule, 'engines'>, account: string | null | undefined): string {
  const parts = [
    `${rule.source_language}>${rule.target_language}`,
    ...(rule.tier === '*' ? [] : [rule.tier]),
    ...(account === null || account === undefined ? [] : [`account ${account}`]),
    ...(rule.brand === null ? [] : [`brand ${rule.brand}`]),
  ];
  return parts.join(', ');
}

function engineNames(written: string): EngineName[] {
  return written.split(',').map((name) => {
    const found = ENGINE_NAMES.find((known) => known === name.trim());
    if (found === undefined) throw new InvalidArgumentError(`There is ${ENGINE_NAMES.join(', ')}.`);
    return found;
  });
}
