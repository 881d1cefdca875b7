/** The command `dragoman pair`: manages the offered language pairs and their prices. */
import { InvalidArgumentError, Option } from 'commander';
import { accountNamed, usernameOf } from '../access/accounts.ts';
import { counted } from '../base/text.ts';
import type { Queryable } from '../database/database.ts';
import { listPublishedPairs, switchPair } from '../languages/languages.ts';
import { endPrice, listPrices, setPrice, sharesOf } from '../ledger/price-list.ts';
import type { Price, Scope, Tier } from '../ledger/prices.ts';
import { type Command, date, type StoreOptions, settingsWith, withStore } from './options.ts';
import { CommandError, print, printJson, printTable, say } from './output.ts';

export function addPairCommands(program: Command): void {
  const pair = program.command('pair').description('manage language pairs and their prices');
  addList(pair);
  addEnableAndDisable(pair);
  addPrice(pair);
}

function addList(pair: Command): void {
  pair
    .command('list')
    .description('list the pairs that an engine serves or that are disabled, and the prices')
    .onStore()
    .action((options: StoreOptions) =>
      withStore(options, async ({ database }) => {
        const [pairs, prices] = await Promise.all([
          listPublishedPairs(database),
          listPrices(database, new Date()),
        ]);
        const priced = await Promise.all(prices.map((price) => presentPrice(database, price)));
        const shares = sharesOf(settingsWith(options));
        if (options.json) return printJson({ pairs, prices: priced, shares });
        printTable(
          ['from', 'to', 'offered', 'engines'],
          pairs.map(({ source_language, target_language, enabled, engines }) => [
            source_language,
            target_language,
            enabled ? 'yes' : 'no',
            engines.map(({ route }) => route).join(', ') || 'none',
          ]),
          'There are no pairs, because no worker has published any.',
        );
        print('');
        printTable(
          ['from', 'to', 'tier', 'account', 'cents per word', 'begins', 'ends'],
          priced.map(({ source_language, target_language, tier, account, cents_per_word, from, until }) => [
            source_language,
            target_language,
            tier,
            account ?? 'all accounts',
            String(cents_per_word),
            from,
            until ?? 'never',
          ]),
          'No prices are set. All pairs cost DRAGOMAN_PRICE_HUMAN and DRAGOMAN_PRICE_MACHINE.',
        );
        print('');
        printTable(
          ['match', 'percent of the price'],
          Object.entries(shares).map(([kind, share]) => [kind, String(share)]),
          '',
        );
      }),
    );
}

function addEnableAndDisable(pair: Command): void {
  for (const [name, enabled] of [
    ['enable', true],
    ['disable', false],
  ] as const) {
    pair
      .command(name)
      .description(
        enabled ? 'offer a disabled pair again' : 'refuse new jobs of a pair; existing jobs are finished',
      )
      .argument('<from>', 'source language', shortname)
      .argument('<to>', 'target language', shortname)
      .onStore()
      .action((from: string, to: string, options: StoreOptions) =>
        withStore(options, async ({ database }) => {
          await database.transaction((transaction) => switchPair(transaction, 'command', from, to, enabled));
          if (!(await isServed(database, from, to))) {
            say(`No engine serves ${from} ${to}, so its jobs are refused anyway.`);
          }
          if (options.json) return printJson({ source_language: from, target_language: to, enabled });
          print(`${from} ${to} is ${enabled ? 'enabled' : 'disabled'}.`);
        }),
      );
  }
}

function addPrice(pair: Command): void {
  pair
    .command('price')
    .description('set the price per word of a pair, or of all pairs (* *)')
    .argument('<from>', 'source language, or *', shortnameOrAll)
    .argument('<to>', 'target language, or *', shortnameOrAll)
    .addOption(
      new Option('--tier <tier>', 'the tier of the jobs').choices(['human', 'machine']).makeOptionMandatory(),
    )
    .addOption(new Option('--cents <cents>', 'whole US cents per word').argParser(centsPerWord))
    .addOption(
      new Option(
        '--end',
        'end the price and delete future prices; the next less specific price applies',
      ).conflicts(['cents', 'from', 'until']),
    )
    .option('--account <name>', 'only for this account')
    .option('--from <date>', 'when it begins, in UTC; now by default', date)
    .option('--until <date>', 'when it ends', date)
    .onStore()
    .action(
      (
        from: string,
        to: string,
        options: StoreOptions & {
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
            throw new CommandError('A price is for one pair or for all pairs: * *.');
          }
          const scope: Scope = {
            tier: options.tier,
            account:
              options.account === undefined ? undefined : (await accountNamed(database, options.account)).ref,
            pair: from === '*' ? undefined : { sourceLanguage: from, targetLanguage: to },
          };
          if (options.end) {
            if (!(await endPrice(database, 'command', scope, now)))
              throw new CommandError('No such price is set.');
            return options.json ? printJson({ ended: now }) : print('The price has ended.');
          }
          if (options.cents === undefined) throw new CommandError('Give --cents or --end.');
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
          const price = await presentPrice(database, await setPrice(database, 'command', scope, wanted));
          if (options.json) printJson(price);
          else print(describePrice(price));
        }),
    );
}

/** Returns whether an engine of any worker serves a language pair, even if the pair is disabled. */
async function isServed(on: Queryable, from: string, to: string): Promise<boolean> {
  const pairs = await listPublishedPairs(on);
  const found = pairs.find((pair) => pair.source_language === from && pair.target_language === to);
  return found !== undefined && found.engines.length > 0;
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

function describePrice(price: PresentedPrice): string {
  const { source_language, target_language, tier, account, cents_per_word, from, until } = price;
  const term = `from ${from}${until === null ? '' : ` until ${until}`}`;
  return `${source_language} ${target_language}, ${tier}, ${account ?? 'all accounts'}: ${counted(cents_per_word, 'cent')} a word ${term}`;
}

function shortname(written: string): string {
  if (!/^[a-z]{2,3}(-[a-z0-9]{1,8})*$/.test(written)) {
    throw new InvalidArgumentError('It must be a language, such as es or pt-br.');
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
