/** The operator's console for prices: `/api/console/prices…`. */
import type { FastifyInstance } from 'fastify';
import Type, { type Static } from 'typebox';
import { usernameOf } from '../accounts/accounts.ts';
import { accountOfField } from '../accounts/console.ts';
import {
  described,
  type Form,
  flag,
  integer,
  MOMENT,
  moment,
  OPTIONAL_MOMENT,
  OPTIONAL_TEXT,
  oneOf,
  open,
  readForm,
  shortnameOrAll,
} from '../console.ts';
import type { Database, Queryable } from '../database/database.ts';
import { fieldError, notFound } from '../errors.ts';
import { resource } from '../http.ts';
import { recordAudit } from '../operations/audit.ts';
import {
  defaultPrice,
  endPrice,
  listPrices,
  type PriceSettings,
  setPrice,
  upcomingPrice,
} from './price-list.ts';
import type { Price, Scope } from './prices.ts';

const TIERS = ['human', 'machine'] as const;

const PriceBody = Type.Object(
  {
    tier: Type.Enum([...TIERS]),
    account: Type.Union([Type.String(), Type.Null()], { description: 'Null: every account.' }),
    source_language: Type.String({ description: '`*`: every pair.' }),
    target_language: Type.String(),
    cents_per_word: Type.Integer({ minimum: 0 }),
    from: MOMENT,
    until: OPTIONAL_MOMENT,
  },
  { title: 'ConsolePrice' },
);
const PriceListBody = Type.Object(
  {
    prices: Type.Array(PriceBody, { description: 'Those that have not ended, with those to come.' }),
    defaults: Type.Object({ human: Type.Integer(), machine: Type.Integer() }),
  },
  { title: 'ConsolePrices' },
);
const SetPrice = Type.Object(
  {
    price: PriceBody,
    ends: Type.Union([PriceBody, Type.Null()], {
      description: 'The one that held, and ends where this begins.',
    }),
    dry_run: Type.Boolean(),
  },
  { title: 'ConsoleSetPrice' },
);

const SCOPE = {
  tier: Type.Enum([...TIERS]),
  account: Type.Optional(OPTIONAL_TEXT),
  source_language: Type.String({ description: '`*` with `*`: every pair.' }),
  target_language: Type.String(),
};

const schemas = {
  list: described('listPrices', 'The prices of a word', PriceListBody),
  set: described('setPrice', 'Set the price of a word, from a moment on', SetPrice, {
    description: 'What held ends where this begins. One that reaches into another one to come is refused.',
    body: Type.Object(
      {
        ...SCOPE,
        cents_per_word: Type.Integer({ minimum: 0, maximum: 100_000 }),
        from: Type.Optional(OPTIONAL_MOMENT),
        until: Type.Optional(OPTIONAL_MOMENT),
        dry_run: Type.Optional(Type.Boolean()),
      },
      open,
    ),
  }),
  end: described('endPrice', 'End a price, and those to come of its scope', PriceListBody, {
    body: Type.Object(SCOPE, open),
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
    };
  }
  resource(app, '/api/console/prices', {
    GET: { schema: schemas.list, handler: list },
    POST: {
      schema: schemas.set,
      async handler(request) {
        const form = readForm(request.body);
        const scope = await readScope(database, form);
        const now = new Date();
        const given = form.optional('from', moment);
        const until = form.optional('until', moment);
        const centsPerWord = form.required('cents_per_word', integer(0, 100_000));
        if (given !== undefined && given < now) {
          form.complain('from', 'A price cannot begin in the past: jobs keep the price of their creation.');
        }
        const from = given ?? now;
        if (until !== undefined && until <= from) form.complain('until', 'A price must end after it begins.');
        const dryRun = form.optional('dry_run', flag) ?? false;
        form.done();
        const { holding, next } = await upcomingPrice(database, scope, from);
        if (next !== undefined && next.from.getTime() === from.getTime()) {
          throw fieldError(
            'from',
            'Another price of the same scope begins at that very moment; end that one first.',
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
          : await setPrice(database, scope, wanted);
        const presented = await present(database, price);
        if (!dryRun) {
          await recordAudit(database, request.person, {
            ...{
              action: 'price.set',
              account: scope.account,
              subject: subjectOf(presented),
              detail: presented,
            },
          });
        }
        return {
          price: presented,
          ends: holding === undefined ? null : await present(database, holding),
          dry_run: dryRun,
        };
      },
    },
  });
  resource(app, '/api/console/prices/end', {
    POST: {
      schema: schemas.end,
      async handler(request) {
        const form = readForm(request.body);
        const scope = await readScope(database, form);
        form.done();
        if (!(await endPrice(database, scope, new Date()))) throw notFound();
        const { source_language, target_language, tier } = request.body as Record<string, string>;
        await recordAudit(database, request.person, {
          ...{ action: 'price.ended', account: scope.account },
          ...{ subject: `${source_language}>${target_language} ${tier}`, detail: {} },
        });
        return list();
      },
    },
  });
}

async function readScope(on: Queryable, form: Form): Promise<Scope> {
  const tier = form.required('tier', oneOf(...TIERS));
  const sourceLanguage = form.required('source_language', shortnameOrAll);
  const targetLanguage = form.required('target_language', shortnameOrAll);
  if ((sourceLanguage === '*') !== (targetLanguage === '*')) {
    form.complain('target_language', 'A price is for one pair, or for all.');
  }
  const account = (await accountOfField(on, form, 'account'))?.ref;
  return { tier, account, pair: sourceLanguage === '*' ? undefined : { sourceLanguage, targetLanguage } };
}

function subjectOf({ source_language, target_language, tier }: Static<typeof PriceBody>): string {
  return `${source_language}>${target_language} ${tier}`;
}

async function present(on: Queryable, price: Price): Promise<Static<typeof PriceBody>> {
  return {
    tier: price.tier,
    account: price.account === undefined ? null : await usernameOf(on, price.account),
    source_language: price.pair?.sourceLanguage ?? '*',
    target_language: price.pair?.targetLanguage ?? '*',
    cents_per_word: price.centsPerWord,
    from: price.from.toISOString(),
    until: price.until?.toISOString() ?? null,
  };
}
