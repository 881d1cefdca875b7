/** The operator's console for language pairs: `/api/console/pairs…`. */
import type { FastifyInstance } from 'fastify';
import Type, { type Static } from 'typebox';
import { described, flag, open, parameter, readForm, shortname } from '../console.ts';
import type { Database } from '../database/database.ts';
import { notFound } from '../errors.ts';
import { resource } from '../http.ts';
import { recordAudit } from '../operations/audit.ts';
import { listKeptPairs, switchPair } from './languages.ts';
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
    total: Type.Integer({ description: 'All that match.' }),
  },
  { title: 'ConsolePairs' },
);
const SwitchedPair = Type.Object(
  { source_language: Type.String(), target_language: Type.String(), enabled: Type.Boolean() },
  { title: 'SwitchedPair' },
);

const schemas = {
  list: described('listConsolePairs', 'Pairs that an engine can do, or that are closed', PairList, {
    querystring: Type.Object({
      q: Type.Optional(Type.String({ description: 'A shortname or a part of a language’s English name.' })),
      enabled: Type.Optional(Type.Boolean()),
    }),
  }),
  switch: described('switchPair', 'Open or close a pair for new jobs', SwitchedPair, {
    params: Type.Object({ source: Type.String(), target: Type.String() }),
    body: Type.Object({ enabled: Type.Boolean() }, open),
  }),
};

const MAX_SHOWN = 500;

export function languageConsole(app: FastifyInstance, { database }: { database: Database }): void {
  resource(app, '/api/console/pairs', {
    GET: {
      schema: schemas.list,
      async handler(request) {
        const { q, ...rest } = request.query as { q?: string };
        const form = readForm(rest);
        const enabled = form.optional('enabled', flag);
        form.done();
        const found = (await listKeptPairs(database))
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
        const source = parameter(request, 'source');
        const target = parameter(request, 'target');
        try {
          shortname(source);
          shortname(target);
        } catch {
          throw notFound();
        }
        const form = readForm(request.body);
        const enabled = form.required('enabled', flag);
        form.done();
        await database.transaction(async (transaction) => {
          await switchPair(transaction, source, target, enabled);
          await recordAudit(transaction, request.person, {
            ...{
              action: enabled ? 'pair.enabled' : 'pair.disabled',
              subject: `${source}>${target}`,
              detail: {},
            },
          });
        });
        return { source_language: source, target_language: target, enabled };
      },
    },
  });
}

/** Every word of what was asked begins a language's name or is its shortname. */
function matches(pair: Static<typeof Pair>, asked: string | undefined): boolean {
  const words = asked?.toLowerCase().match(/[\p{L}\p{N}-]+/gu) ?? [];
  const names = `${pair.source_name} ${pair.target_name}`.toLowerCase();
  return words.every(
    (word) =>
      pair.source_language === word ||
      pair.target_language === word ||
      (word.length > 2 && names.includes(word)),
  );
}
