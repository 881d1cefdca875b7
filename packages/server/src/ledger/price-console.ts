/** The console's routes for prices: `/api/console/prices…`. */
import type { FastifyInstance } from 'fastify';
import Type, { type Static } from 'typebox';
import { accountOfField, usernameOf } from '../access/accounts.ts';
import { fieldError, notFound } from '../base/errors.ts';
import type { Database, Queryable } from '../database/database.ts';
import { resource } from '../http/http.ts';
import {
  described,
  LANGUAGE_OR_ALL,
  MOMENT,
  OPTIONAL_GIVEN_MOMENT,
  OPTIONAL_MOMENT,
  USERNAME,
} from '../http/schemas.ts';
import {
  defaultPrice,
  endPrice,
  listPrices,
  type PriceSettings,
  setPrice,
  sharesOf,
  upcomingPrice,
} from './price-list.ts';
import type { Price, Scope } from './prices.ts';

const TIERS = ['human', 'machine'] as const;

const PriceBody = Type.Object(
  {
    tier: Type.Enum([...TIERS]),
    account: Type.Union([Type.String(), Type.Null()], { description: 'The account; null for all accounts.' }),
    source_language: Type.String({ description: 'The source language; `*` for all pairs.' }),
    target_language: Type.String(),
    cents_per_word: Type.Integer({ minimum: 0 }),
    from: MOMENT,
    until: OPTIONAL_MOMENT,
  },
  { title: 'ConsolePrice' },
);
const SHARE = Type.Integer({ minimum: 0, maximum: 100 });
const PriceListBody = Type.Object(
  {
    prices: Type.Array(PriceBody, { description: 'Current and future prices.' }),
    defaults: Type.Object({ human: Type.Integer(), machine: Type.Integer() }),
    shares: Type.Object(
      { context: SHARE, exact: SHARE, fuzzy95: SHARE, fuzzy85: SHARE, fuzzy75: SHARE, repeat: SHARE },
      { description: 'The price of a matched word in percent of its full price, by the kind of its match.' },
    ),
  },
  { title: 'ConsolePrices' },
);
const SetPrice = Type.Object(
  {
    price: PriceBody,
    ends: Type.Union([PriceBody, Type.Null()], {
      description: 'The current price, which ends when the new price begins.',
    }),
    dry_run: Type.Boolean(),
  },
  { title: 'ConsoleSetPrice' },
);

const SCOPE = Type.Object({
  tier: Type.Enum([...TIERS]),
  account: Type.Optional(Type.Union([USERNAME, Type.Null()])),
  source_language: LANGUAGE_OR_ALL,
  target_language: LANGUAGE_OR_ALL,
});

const schemas = {
  list: described('listPrices', 'Prices per word', PriceListBody),
  set: described('setPrice', 'Set a price per word from a moment on', SetPrice, {
    description:
      'The current price ends where this one begins. A price that overlaps a future price is refused.',
    body: Type.Object({
      ...SCOPE.properties,
      cents_per_word: Type.Integer({ minimum: 0, maximum: 100_000 }),
      from: Type.Optional(OPTIONAL_GIVEN_MOMENT),
      until: Type.Optional(OPTIONAL_GIVEN_MOMENT),
      dry_run: Type.Boolean({ default: false }),
    }),
  }),
  end: described('endPrice', 'End a price and delete the future prices of its scope', PriceListBody, {
    body: SCOPE,
  }),
};

export function priceConsole(
  app: FastifyInstance,
  { database, settings }: { database: Database; settings: PriceSettings },
): void {
  async function list(): Promise<Static<typeof PriceListBody>> {
    const prices = await listPrices(database, new Date());
    return {
      prices: await Promise.all(prices.map((price) => present(database, price))),
      defaults: { human: defaultPrice(settings, 'human'), machine: defaultPrice(settings, 'machine') },
      shares: sharesOf(settings),
    };
  }
  resource(app, '/api/console/prices', {
    GET: { schema: schemas.list, handler: list },
    POST: {
      schema: schemas.set,
      async handler(request) {
        const { cents_per_word: centsPerWord, dry_run: dryRun } = request.body;
        const scope = await scopeOf(database, request.body);
        const { from, until } = timesOf(request.body);
        const { current, next } = await upcomingPrice(database, scope, from);
        if (next !== undefined && next.from.getTime() === from.getTime()) {
          throw fieldError(
            'from',
            'Another price of the same scope begins at the same time. End that one first.',
          );
        }
        if (next !== undefined && until !== undefined && until > next.from) {
          throw fieldError(
            'until',
            `Another price begins on ${next.from.toISOString()}; the two would overlap.`,
          );
        }
        const wanted = { from, until, centsPerWord };
        const price = dryRun
          ? { ...scope, ...wanted, until: until ?? next?.from }
          : await setPrice(database, request.person, scope, wanted);
        return {
          price: await present(database, price),
          ends: current === undefined ? null : await present(database, current),
          dry_run: dryRun,
        };
      },
    },
  });
  resource(app, '/api/console/prices/end', {
    POST: {
      schema: schemas.end,
      async handler(request) {
        const scope = await scopeOf(database, request.body);
        if (!(await endPrice(database, request.person, scope, new Date()))) throw notFound();
        return list();
      },
    },
  });
}

async function scopeOf(on: Queryable, given: Static<typeof SCOPE>): Promise<Scope> {
  const { tier, source_language: sourceLanguage, target_language: targetLanguage } = given;
  if ((sourceLanguage === '*') !== (targetLanguage === '*')) {
    throw fieldError('target_language', 'A price is for one pair or for all pairs.');
  }
  const account = (await accountOfField(on, given.account))?.ref;
  return { tier, account, pair: sourceLanguage === '*' ? undefined : { sourceLanguage, targetLanguage } };
}

function timesOf(given: Static<typeof schemas.set.body>): { from: Date; until: Date | undefined } {
  const now = new Date();
  const from = given.from == null ? now : new Date(given.from);
  const until = given.until == null ? undefined : new Date(given.until);
  if (from < now) {
    throw fieldError('from', 'A price cannot begin in the past: jobs keep the price of their creation.');
  }
  if (until !== undefined && until <= from) {
    throw fieldError('until', 'A price must end after it begins.');
  }
  return { from, until };
}

async function present(on: Queryable, price: Price): Promise<Static<typeof PriceBody>> {
  return {
    tier: price.tier,
    account: price.account === undefined ? null : await usernameOf(on, price.account),
    source_language: price.pair?.sourceLanguage ?? '*',
    target_language: price.pair?.targetLanguage ?? '*',
    cents_per_word: price.centsPerWord,
    from: price.from,
    until: price.until ?? null,
  };
}
