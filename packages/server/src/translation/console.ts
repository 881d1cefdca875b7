/** The operator's console for engines and routes: `/api/console/engines…`, `/api/console/routes`. */
import type { FastifyInstance } from 'fastify';
import Type, { type Static } from 'typebox';
import { accountOfField } from '../accounts/console.ts';
import {
  described,
  type Form,
  listOf,
  MOMENT,
  OPTIONAL_MOMENT,
  OPTIONAL_TEXT,
  oneOf,
  open,
  parameter,
  readForm,
  shortname,
  shortnameOrAll,
  text,
} from '../console.ts';
import type { Database, Queryable } from '../database/database.ts';
import { ApiError, notFound } from '../errors.ts';
import { resource } from '../http.ts';
import { uuidv7 } from '../ids.ts';
import { listKeptPairs } from '../languages/languages.ts';
import { recordAudit } from '../operations/audit.ts';
import type { Settings } from '../settings.ts';
import { ENGINE_NAMES } from './names.ts';
import { HEARD_SECONDS, TESTS_CHANNEL } from './report.ts';
import * as reports from './report-store.ts';
import type { RouteRule } from './routes.ts';
import { listRoutes, removeRoute, setRoute } from './store.ts';

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
    }),
    minutes: Type.Array(Minute, { description: 'Of the last hour; those without requests are left out.' }),
    errors: Type.Array(Type.Object({ at: MOMENT, reason: Type.String(), count: Type.Integer() })),
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
const SELECTOR = {
  source_language: Type.String(),
  target_language: Type.String(),
  tier: Type.Enum(['*', 'human', 'machine', 'chat']),
  account: Type.Optional(OPTIONAL_TEXT),
  brand: Type.Optional(OPTIONAL_TEXT),
};

const schemas = {
  engines: described('listEngines', 'How the engines are', EngineList),
  test: described('testEngine', 'Have an engine translate a sentence', Tested, {
    params: Type.Object({ engine: Type.String() }),
    body: Type.Object(
      { source_language: Type.String(), target_language: Type.String(), text: Type.String() },
      open,
    ),
  }),
  routes: described('listRoutes', 'Which engines serve what, in which order', RouteList),
  setRoute: described('setRoute', 'Set the engines of a route, or make it', RouteList, {
    body: Type.Object({ ...SELECTOR, engines: Type.Array(Type.String()) }, open),
  }),
  removeRoute: described('removeRoute', 'Remove a route', RouteList, { body: Type.Object(SELECTOR, open) }),
};

const HOUR_MILLISECONDS = 3_600_000;
const TEST_MILLISECONDS = 25_000;
const LOOK_MILLISECONDS = 50;

export function engineConsole(app: FastifyInstance, { database, settings }: EngineConsoleOptions): void {
  resource(app, '/api/console/engines', {
    GET: { schema: schemas.engines, handler: () => listEngines(database, settings.engines, new Date()) },
  });

  resource(app, '/api/console/engines/:engine/test', {
    POST: {
      schema: schemas.test,
      async handler(request) {
        const engine = parameter(request, 'engine');
        const known = (await reports.listStates(database, HEARD_SECONDS)).some(
          (row) => row.engine === engine,
        );
        if (!known && !(settings.engines as string[]).includes(engine)) throw notFound();
        const form = readForm(request.body);
        const test = {
          engine,
          source_language: form.required('source_language', shortname),
          target_language: form.required('target_language', shortname),
          body: form.required('text', text(2_000)),
        };
        form.done();
        const testId = uuidv7();
        await reports.askTest(database, testId, test);
        await database.notify(TESTS_CHANNEL);
        const until = Date.now() + TEST_MILLISECONDS;
        for (;;) {
          const late = Date.now() > until;
          const answered = await reports.takeTest(database, testId, late);
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
    const rules = await listRoutes(database);
    return {
      routes: rules.map(({ account_id: _, username, engines, ...rule }) => ({
        ...rule,
        account: username,
        engines: [...engines],
      })),
      fallback: [...settings.engines],
      known: [...ENGINE_NAMES],
    };
  }
  resource(app, '/api/console/routes', {
    GET: { schema: schemas.routes, handler: routes },
    PUT: {
      schema: schemas.setRoute,
      async handler(request) {
        const form = readForm(request.body);
        const selector = await readSelector(database, form);
        const engines = form.required('engines', listOf(oneOf(...ENGINE_NAMES), ENGINE_NAMES.length));
        if (engines?.length === 0) form.complain('engines', 'A route has one engine or more.');
        if (new Set(engines).size !== engines?.length)
          form.complain('engines', 'Each engine stands there once.');
        form.done();
        await database.transaction(async (transaction) => {
          await setRoute(transaction, { ...selector.rule, engines });
          await recordAudit(transaction, request.person, {
            ...{
              action: 'route.set',
              account: selector.account,
              subject: selector.subject,
              detail: { engines },
            },
          });
        });
        return routes();
      },
    },
    DELETE: {
      schema: schemas.removeRoute,
      async handler(request) {
        const form = readForm(request.body);
        const selector = await readSelector(database, form);
        form.done();
        await database.transaction(async (transaction) => {
          if (!(await removeRoute(transaction, selector.rule))) throw notFound();
          await recordAudit(transaction, request.person, {
            ...{ action: 'route.removed', account: selector.account, subject: selector.subject, detail: {} },
          });
        });
        return routes();
      },
    },
  });
}

async function readSelector(on: Queryable, form: Form) {
  const account = await accountOfField(on, form, 'account');
  const brand = form.optional('brand', text(128));
  if (brand !== undefined && account === undefined) {
    form.complain('brand', 'A brand belongs to an account: name it too.');
  }
  const rule: Omit<RouteRule, 'engines'> = {
    source_language: form.required('source_language', shortnameOrAll),
    target_language: form.required('target_language', shortnameOrAll),
    tier: form.required('tier', oneOf('*', 'human', 'machine', 'chat')),
    account_id: account?.ref.accountId ?? null,
    brand: brand ?? null,
  };
  const subject = `${rule.source_language}>${rule.target_language} ${rule.tier}`;
  return { rule, subject, account: account?.ref };
}

const RANK = { closed: 0, 'half-open': 1, open: 2 } as const;

export type EngineBody = Static<typeof Engine>;

/** How every engine is that is in the settings or that a worker has. */
export async function listEngines(
  database: Database,
  configured: readonly string[],
  now: Date,
): Promise<Static<typeof EngineList>> {
  const since = new Date(now.getTime() - HOUR_MILLISECONDS);
  const [states, minutes, pairs] = await Promise.all([
    reports.listStates(database, HEARD_SECONDS),
    reports.listMinutes(database, since),
    listKeptPairs(database),
  ]);
  const byEngine = Map.groupBy(states, ({ engine }) => engine);
  const minutesOf = Map.groupBy(minutes, ({ engine }) => engine);
  const names = [...new Set([...configured, ...byEngine.keys()])];
  const engines = names.map((engine): EngineBody => {
    const seen = byEngine.get(engine) ?? [];
    const worst = seen.toSorted((a, b) => RANK[b.state] - RANK[a.state])[0];
    const asked = (minutesOf.get(engine) ?? []).map(
      ({ minute, answered, failed, milliseconds, slowest }) => ({
        ...{ minute: minute.toISOString(), answered, failed, slowest },
        mean: Math.round(milliseconds / Math.max(1, answered + failed)),
        milliseconds,
      }),
    );
    const sum = (pick: (one: (typeof asked)[number]) => number) =>
      asked.reduce((all, one) => all + pick(one), 0);
    const requests = sum(({ answered, failed }) => answered + failed);
    return {
      engine,
      state: worst?.state ?? 'away',
      since: worst?.state_since.toISOString() ?? null,
      workers: seen.length,
      waiting: seen.reduce((all, { waiting }) => all + waiting, 0),
      version: seen.find(({ version }) => version !== null)?.version ?? null,
      pairs: pairs.filter((pair) => pair.engines.some((one) => one.engine === engine)).length,
      last_hour: {
        answered: sum(({ answered }) => answered),
        failed: sum(({ failed }) => failed),
        mean: Math.round(sum(({ milliseconds }) => milliseconds) / Math.max(1, requests)),
        slowest: Math.max(0, ...asked.map(({ slowest }) => slowest)),
      },
      minutes: asked.map(({ milliseconds: _, ...minute }) => minute),
      errors: seen
        .flatMap(({ errors }) => errors)
        .sort((a, b) => (a.at < b.at ? 1 : -1))
        .slice(0, 20),
    };
  });
  return { engines, at: now.toISOString() };
}
