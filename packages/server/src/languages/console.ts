/** The operator's routes for language pairs: `/api/console/pairs…`. */
import type { FastifyInstance } from 'fastify';
import Type, { type Static } from 'typebox';
import type { Database } from '../database/database.ts';
import { resource } from '../http/http.ts';
import { described, LANGUAGE } from '../http/schemas.ts';
import { listPublishedPairs, switchPair } from './languages.ts';
import { nameOf } from './names.ts';

const Pair = Type.Object(
  {
    source_language: Type.String(),
    target_language: Type.String(),
    source_name: Type.String(),
    target_name: Type.String(),
    enabled: Type.Boolean(),
    engines: Type.Array(Type.Object({ engine: Type.String(), route: Type.String(), hops: Type.Integer() })),
  },
  { title: 'ConsolePair' },
);
const PairList = Type.Object(
  {
    pairs: Type.Array(Pair, { description: 'At most 500.' }),
    total: Type.Integer({ description: 'The number of matching pairs.' }),
  },
  { title: 'ConsolePairs' },
);
const SwitchedPair = Type.Object(
  { source_language: Type.String(), target_language: Type.String(), enabled: Type.Boolean() },
  { title: 'SwitchedPair' },
);

const schemas = {
  list: described('listConsolePairs', 'List published and disabled language pairs', PairList, {
    querystring: Type.Object({
      q: Type.Optional(
        Type.String({ description: 'A language code or a part of an English language name.' }),
      ),
      enabled: Type.Optional(Type.Boolean()),
    }),
  }),
  switch: described('switchPair', 'Enable or disable a pair for new jobs', SwitchedPair, {
    params: Type.Object({ source: LANGUAGE, target: LANGUAGE }),
    body: Type.Object({ enabled: Type.Boolean() }),
  }),
};

const MAX_SHOWN = 500;

export function languageConsole(app: FastifyInstance, { database }: { database: Database }): void {
  resource(app, '/api/console/pairs', {
    GET: {
      schema: schemas.list,
      async handler(request) {
        const { q, enabled } = request.query;
        const found = (await listPublishedPairs(database))
          .map((pair) => ({
            ...pair,
            source_name: nameOf(pair.source_language),
            target_name: nameOf(pair.target_language),
          }))
          .filter((pair) => (enabled === undefined || pair.enabled === enabled) && matches(pair, q));
        return { pairs: found.slice(0, MAX_SHOWN), total: found.length };
      },
    },
  });
  resource(app, '/api/console/pairs/:source/:target', {
    PUT: {
      schema: schemas.switch,
      async handler(request): Promise<Static<typeof SwitchedPair>> {
        const { source, target } = request.params;
        const { enabled } = request.body;
        await database.transaction((transaction) =>
          switchPair(transaction, request.person, source, target, enabled),
        );
        return { source_language: source, target_language: target, enabled };
      },
    },
  });
}

/**
 * Returns true if each word of a query is a language code of the pair or a part of one of its language names.
 */
function matches(pair: Static<typeof Pair>, query: string | undefined): boolean {
  const words = query?.toLowerCase().match(/[\p{L}\p{N}-]+/gu) ?? [];
  const names = `${pair.source_name} ${pair.target_name}`.toLowerCase();
  return words.every(
    (word) =>
      pair.source_language === word ||
      pair.target_language === word ||
      (word.length > 2 && names.includes(word)),
  );
}
