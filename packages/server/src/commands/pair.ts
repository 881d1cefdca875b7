/** `dragoman pair`: which pairs are offered, and for how much. */
import { type Command, InvalidArgumentError, Option } from 'commander';
import { accountNamed, usernameOf } from '../accounts/accounts.ts';
import type { Queryable } from '../database/database.ts';
import { listKeptPairs, switchPair } from '../languages/languages.ts';
import { endPrice, listPrices, setPrice } from '../ledger/price-list.ts';
import type { Price, Scope, Tier } from '../ledger/prices.ts';
import { recordAudit } from '../operations/audit.ts';
import { data, date, json, withStore } from './options.ts';
import { CommandError, print, printJson } from './output.ts';

interface Options {
  data?: string;
  json?: boolean;
}

export function addPairCommands(program: Command): void {
  const pair = program.command('pair').description('language pairs and their prices');

  pair
    .command('list')
    .description('every pair that an engine can do or that is closed, and the prices that were set')
    .addOption(data())
    .addOption(json())
    .action((options: Options) =>
      withStore(options, async ({ database }) => {
        const [pairs, prices] = await Promise.all([
          listKeptPairs(database),
          listPrices(database, new Date()),
        ]);
        const priced = await Promise.all(prices.map((price) => presentPrice(database, price)));
        if (options.json) return printJson({ pairs, prices: priced });
        for (const { source_language, target_language, enabled, engines } of pairs) {
          const routes = engines.map(({ route }) => route).join(', ') || 'no engine';
          print(`${`${source_language} ${target_language}`.padEnd(16)} ${enabled ? 'on ' : 'off'} ${routes}`);
        }
        for (const price of priced) print(sayPrice(price));
      }),
    );

  for (const [name, enabled] of [
    ['enable', true],
    ['disable', false],
  ] as const) {
    pair
      .command(name)
      .description(enabled ? 'offer a pair again' : 'refuse new jobs of a pair; those there are are finished')
      .argument('<from>', 'source language', shortname)
      .argument('<to>', 'target language', shortname)
      .addOption(data())
      .addOption(json())
      .action((from: string, to: string, options: Options) =>
        withStore(options, async ({ database }) => {
          await database.transaction(async (transaction) => {
            await switchPair(transaction, from, to, enabled);
            const action = enabled ? 'pair.enabled' : 'pair.disabled';
            await recordAudit(transaction, 'command', { action, subject: `${from}>${to}`, detail: {} });
          });
          if (options.json) return printJson({ source_language: from, target_language: to, enabled });
          print(`${from} ${to} is ${enabled ? 'enabled' : 'disabled'}.`);
        }),
      );
  }

  pair
    .command('price')
    .description('set the price of a word from now or a date on, for a pair or for all (* *)')
    .argument('<from>', 'source language, or *', shortnameOrAll)
    .argument('<to>', 'target language, or *', shortnameOrAll)
    .addOption(
      new Option('--tier <tier>', 'of which jobs').choices(['human', 'machine']).makeOptionMandatory(),
    )
    .addOption(new Option('--cents <cents>', 'whole US cents a word').argParser(centsPerWord))
    .addOption(
      new Option(
        '--end',
        'end the price, and those to come, in favour of the next less specific one',
      ).conflicts(['cents', 'from', 'until']),
    )
    .option('--account <name>', 'for this account alone')
    .option('--from <date>', 'when it begins, in UTC; now where not given', date)
    .option('--until <date>', 'when it ends', date)
    .addOption(data())
    .addOption(json())
    .action(
      (
        from: string,
        to: string,
        options: Options & {
          tier: Tier;
          cents?: number;
          end?: boolean;
          account?: string;
          from?: Date;
          until?: Date;
        },
      ) =>
        withStore(options, async ({ database }) => {
          const now = new Date();
          if ((from === '*') !== (to === '*')) {
            throw new CommandError('A price is for one pair, or for all: * *.');
          }
          const scope: Scope = {
            tier: options.tier,
            account:
              options.account === undefined ? undefined : (await accountNamed(database, options.account)).ref,
            pair: from === '*' ? undefined : { sourceLanguage: from, targetLanguage: to },
          };
          const subject = `${from}>${to} ${options.tier}`;
          if (options.end) {
            if (!(await endPrice(database, scope, now))) throw new CommandError('No such price is set.');
            await recordAudit(database, 'command', {
              ...{ action: 'price.ended', account: scope.account, subject, detail: {} },
            });
            return options.json ? printJson({ ended: now }) : print('The price has ended.');
          }
          if (options.cents === undefined) throw new CommandError('Say --cents, or --end.');
          if (options.from !== undefined && options.from < now) {
            throw new CommandError(
              'A price cannot begin in the past: jobs keep the price of their creation.',
            );
          }
          const begins = options.from ?? now;
          if (options.until !== undefined && options.until <= begins) {
            throw new CommandError('A price must end after it begins.');
          }
          const wanted = { from: begins, until: options.until, centsPerWord: options.cents };
          const price = await presentPrice(database, await setPrice(database, scope, wanted));
          await recordAudit(database, 'command', {
            ...{ action: 'price.set', account: scope.account, subject, detail: price },
          });
          if (options.json) printJson(price);
          else print(sayPrice(price));
        }),
    );
}

interface PresentedPrice {
  source_language: string;
  target_language: string;
  tier: Tier;
  account: string | null;
  cents_per_word: number;
  from: string;
  until: string | null;
}

async function presentPrice(on: Queryable, price: Price): Promise<PresentedPrice> {
  return {
    source_language: price.pair?.sourceLanguage ?? '*',
    target_language: price.pair?.targetLanguage ?? '*',
    tier: price.tier,
    account: price.account === undefined ? null : await usernameOf(on, price.account),
    cents_per_word: price.centsPerWord,
    from: price.from.toISOString(),
    until: price.until?.toISOString() ?? null,
  };
}

function sayPrice(price: PresentedPrice): string {
  const { source_language, target_language, tier, account, cents_per_word, from, until } = price;
  const term = `from ${from}${until === null ? '' : ` until ${until}`}`;
  return `${source_language} ${target_language}, ${tier}, ${account ?? 'every account'}: ${cents_per_word} cents a word ${term}`;
}

function shortname(written: string): string {
  if (!/^[a-z]{2,8}(-[a-z0-9]{1,8})*$/.test(written)) {
    throw new InvalidArgumentError('It must be the shortname of a language, such as pt-br.');
  }
  return written;
}

function shortnameOrAll(written: string): string {
  return written === '*' ? written : shortname(written);
}

function centsPerWord(written: string): number {
  if (!/^\d{1,6}$/.test(written) || Number(written) > 100_000) {
    throw new InvalidArgumentError('It must be a whole number of cents from 0 to 100000.');
  }
  return Number(written);
}
