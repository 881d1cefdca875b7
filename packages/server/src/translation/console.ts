/** The console's HTTP routes for engines and engine routes: `/api/console/engines…`, `/api/console/routes`. */
import type { FastifyInstance } from 'fastify';
import Type, { type Static } from 'typebox';
import { accountOfField } from '../access/accounts.ts';
import { ApiError, fieldError, notFound, reason } from '../base/errors.ts';
import { uuidv7 } from '../base/ids.ts';
import type { Database, Queryable } from '../database/database.ts';
import { resource } from '../http/http.ts';
import {
  described,
  LANGUAGE,
  LANGUAGE_OR_ALL,
  MOMENT,
  OPTIONAL_MOMENT,
  OPTIONAL_TEXT,
  textOf,
  USERNAME,
} from '../http/schemas.ts';
import { listPublishedPairs } from '../languages/languages.ts';
import { routableEngines } from '../settings/engine-names.ts';
import type { Settings } from '../settings/settings.ts';
import { listEngineRoutes } from './engine-route-store.ts';
import type { EngineRoute } from './engine-routes.ts';
import { removeEngineRoute, setEngineRoute } from './engine-routes.ts';
import { HEARD_SECONDS, TESTS_CHANNEL } from './report.ts';
import * as reports from './report-store.ts';

export interface EngineConsoleOptions {
  database: Database;
  settings: Pick<Settings, 'engines'>;
}

const Minute = Type.Object({
  minute: MOMENT,
  answered: Type.Integer(),
  failed: Type.Integer(),
  mean: Type.Integer({ description: 'Milliseconds.' }),
  slowest: Type.Integer(),
});
const Engine = Type.Object(
  {
    engine: Type.String(),
    state: Type.Enum(['closed', 'half-open', 'open', 'away'], {
      description:
        'Of the worker that sees it worst. `open`: it is left alone after failures; `away`: no worker reports on it.',
    }),
    since: OPTIONAL_MOMENT,
    workers: Type.Integer({ description: 'That have it.' }),
    waiting: Type.Integer({ description: 'Slices of texts that wait for their turn.' }),
    version: OPTIONAL_TEXT,
    pairs: Type.Integer(),
    last_hour: Type.Object({
      answered: Type.Integer(),
      failed: Type.Integer(),
      mean: Type.Integer(),
      slowest: Type.Integer(),
      segments: Type.Integer({ description: 'Segments that it translated or failed to translate.' }),
      failed_segments: Type.Integer(),
    }),
    minutes: Type.Array(Minute, { description: 'Of the last hour; those without requests are left out.' }),
    errors: Type.Array(
      Type.Object({
        at: MOMENT,
        reason: Type.String(),
        count: Type.Integer({ description: 'Segments that failed for this reason within a minute.' }),
      }),
    ),
  },
  { title: 'ConsoleEngine' },
);
const EngineList = Type.Object({ engines: Type.Array(Engine), at: MOMENT }, { title: 'ConsoleEngines' });
const Tested = Type.Object(
  {
    status: Type.Enum(['translated', 'failed', 'unsupported']),
    text: Type.Optional(Type.String()),
    route: Type.Optional(Type.String()),
    reason: Type.Optional(Type.String()),
    milliseconds: Type.Integer(),
  },
  { title: 'EngineTested' },
);
const Route = Type.Object(
  {
    source_language: Type.String(),
    target_language: Type.String(),
    tier: Type.Enum(['*', 'human', 'machine', 'chat']),
    account: OPTIONAL_TEXT,
    brand: OPTIONAL_TEXT,
    engines: Type.Array(Type.String()),
  },
  { title: 'ConsoleRoute' },
);
const RouteList = Type.Object(
  {
    routes: Type.Array(Route),
    fallback: Type.Array(Type.String(), { description: 'The order of the settings, where no route fits.' }),
    known: Type.Array(Type.String(), { description: 'Every engine that a route may name.' }),
  },
  { title: 'ConsoleRoutes' },
);
const Selector = Type.Object({
  source_language: LANGUAGE_OR_ALL,
  target_language: LANGUAGE_OR_ALL,
  tier: Type.Enum(['*', 'human', 'machine', 'chat']),
  account: Type.Optional(Type.Union([USERNAME, Type.Null()])),
  brand: Type.Optional(Type.Union([textOf(128), Type.Null()])),
});

const schemas = {
  engines: described('listEngines', 'How the engines are', EngineList),
  test: described('testEngine', 'Have an engine translate a sentence', Tested, {
    params: Type.Object({ engine: Type.String() }),
    body: Type.Object({ source_language: LANGUAGE, target_language: LANGUAGE, text: textOf(2_000) }),
  }),
  routes: described('listRoutes', 'Which engines serve what, in which order', RouteList),
  setRoute: described('setRoute', 'Set the engines of a route, or make it', RouteList, {
    body: Type.Object({
      ...Selector.properties,
      engines: Type.Array(textOf(30), {
        maxItems: 20,
        description: 'Names of engines, in order of preference.',
      }),
    }),
  }),
  removeRoute: described('removeRoute', 'Remove a route', RouteList, { body: Selector }),
};

const HOUR_MILLISECONDS = 3_600_000;
const TEST_MILLISECONDS = 25_000;
const LOOK_MILLISECONDS = 50;

export function consoleEngineRoutes(
  app: FastifyInstance,
  { database, settings }: EngineConsoleOptions,
): void {
  resource(app, '/api/console/engines', {
    GET: { schema: schemas.engines, handler: () => listEngines(database, settings.engines, new Date()) },
  });

  resource(app, '/api/console/engines/:engine/test', {
    POST: {
      schema: schemas.test,
      async handler(request) {
        const { engine } = request.params;
        const known = (await reports.listEngineStates(database, { seconds: HEARD_SECONDS })).some(
          (row) => row.engine === engine,
        );
        if (!known && !(settings.engines as string[]).includes(engine)) throw notFound();
        const { text: body, ...pair } = request.body;
        const testId = uuidv7();
        await reports.insertEngineTest(database, testId, { engine, body, ...pair });
        await database.notify(TESTS_CHANNEL);
        const until = Date.now() + TEST_MILLISECONDS;
        for (;;) {
          const late = Date.now() > until;
          const answered = await reports.takeTestAnswer(database, testId, late);
          if (answered !== undefined) return answered;
          if (late) break;
          await new Promise((resolve) => setTimeout(resolve, LOOK_MILLISECONDS));
        }
        throw new ApiError('unavailable', 'No worker that has the engine took the test.', {
          'retry-after': '5',
        });
      },
    },
  });

  async function routes(): Promise<Static<typeof RouteList>> {
    const rules = await listEngineRoutes(database);
    return {
      routes: rules.map(({ account_id: _, username, engines, ...rule }) => ({
        ...rule,
        account: username,
        engines: [...engines],
      })),
      fallback: [...settings.engines],
      known: routableEngines(settings),
    };
  }
  resource(app, '/api/console/routes', {
    GET: { schema: schemas.routes, handler: routes },
    PUT: {
      schema: schemas.setRoute,
      async handler(request) {
        const { engines } = request.body;
        const { rule, account } = await selectorOf(database, request.body);
        if (engines.length === 0) throw fieldError('engines', 'A route has one engine or more.');
        const known = routableEngines(settings);
        const unknown = engines.find((name) => !known.includes(name));
        if (unknown !== undefined) {
          throw fieldError('engines', reason('one_of', { given: unknown, accepted: known.join(', ') }));
        }
        if (new Set(engines).size !== engines.length) {
          throw fieldError('engines', 'Each engine stands there once.');
        }
        await database.transaction((transaction) =>
          setEngineRoute(transaction, request.person, account, { ...rule, engines }),
        );
        return routes();
      },
    },
    DELETE: {
      schema: schemas.removeRoute,
      async handler(request) {
        const { rule, account } = await selectorOf(database, request.body);
        const removed = await database.transaction((transaction) =>
          removeEngineRoute(transaction, request.person, account, rule),
        );
        if (!removed) throw notFound();
        return routes();
      },
    },
  });
}

async function selectorOf(on: Queryable, given: Static<typeof Selector>) {
  const { source_language, target_language, tier, brand = null } = given;
  const account = await accountOfField(on, given.account);
  if (brand !== null && account === undefined) {
    throw fieldError('brand', 'A brand belongs to an account: name it too.');
  }
  const account_id = account?.ref.accountId ?? null;
  const rule: Omit<EngineRoute, 'engines'> = { source_language, target_language, tier, account_id, brand };
  return { rule, account: account?.ref };
}

const RANK = { closed: 0, 'half-open': 1, open: 2 } as const;

export type EngineBody = Static<typeof Engine>;

/** Returns the state of every engine that is configured or that a worker reports. */
export async function listEngines(
  on: Queryable,
  configured: readonly string[],
  now: Date,
): Promise<Static<typeof EngineList>> {
  const since = new Date(now.getTime() - HOUR_MILLISECONDS);
  const [states, minutes, pairs] = await Promise.all([
    reports.listEngineStates(on, { seconds: HEARD_SECONDS }),
    reports.listEngineMinutes(on, { since }),
    listPublishedPairs(on),
  ]);
  const byEngine = Map.groupBy(states, ({ engine }) => engine);
  const minutesOf = Map.groupBy(minutes, ({ engine }) => engine);
  const names = [...new Set([...configured, ...byEngine.keys()])];
  const engines = names.map((engine): EngineBody => {
    const seen = byEngine.get(engine) ?? [];
    const worst = seen.toSorted((a, b) => RANK[b.state] - RANK[a.state])[0];
    const asked = (minutesOf.get(engine) ?? []).map(
      ({ minute, answered, failed, milliseconds, slowest, segments, failedSegments }) => ({
        minute,
        answered,
        failed,
        slowest,
        mean: Math.round(milliseconds / Math.max(1, answered + failed)),
        milliseconds,
        segments,
        failedSegments,
      }),
    );
    const sum = (pick: (one: (typeof asked)[number]) => number) =>
      asked.reduce((all, one) => all + pick(one), 0);
    const requests = sum(({ answered, failed }) => answered + failed);
    return {
      engine,
      state: worst?.state ?? 'away',
      since: worst?.state_since ?? null,
      workers: seen.length,
      waiting: seen.reduce((all, { waiting }) => all + waiting, 0),
      version: seen.find(({ version }) => version !== null)?.version ?? null,
      pairs: pairs.filter((pair) => pair.engines.some((one) => one.engine === engine)).length,
      last_hour: {
        answered: sum(({ answered }) => answered),
        failed: sum(({ failed }) => failed),
        mean: Math.round(sum(({ milliseconds }) => milliseconds) / Math.max(1, requests)),
        slowest: Math.max(0, ...asked.map(({ slowest }) => slowest)),
        segments: sum(({ segments }) => segments),
        failed_segments: sum(({ failedSegments }) => failedSegments),
      },
      minutes: asked.map(({ minute, answered, failed, mean, slowest }) => ({
        minute,
        answered,
        failed,
        mean,
        slowest,
      })),
      errors: seen
        .flatMap(({ errors }) => errors)
        .sort((a, b) => (a.at < b.at ? 1 : -1))
        .slice(0, 20)
        .map((error) => ({ ...error, at: new Date(error.at) })),
    };
  });
  return { engines, at: now };
}
