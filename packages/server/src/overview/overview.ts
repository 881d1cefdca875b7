/** The console's routes for the home page and the settings: `/api/console/home`, `/api/console/settings`. */
import type { FastifyInstance } from 'fastify';
import Type, { type Static } from 'typebox';
import type { Database, Queryable } from '../database/database.ts';
import { statement } from '../database/statements.ts';
import { listFailingHosts } from '../deliveries/deliveries.ts';
import { listDeadByAccount } from '../deliveries/log.ts';
import { listTaskQueues } from '../editing/editing.ts';
import { resource } from '../http/http.ts';
import { CENTS, described, MOMENT } from '../http/schemas.ts';
import { countJobsByHour, listQueuedPairs } from '../jobs/list/overview.ts';
import { listLowBalances } from '../ledger/ledger.ts';
import { type Settings, showSettings } from '../settings/settings.ts';
import { listEngines } from '../translation/console.ts';
import { listOverdrawn } from './accounts.ts';
import { ATTENTION_KINDS, attentionOf } from './attention.ts';
import { readSetup, SETUP_STEPS } from './setup.ts';

const AttentionBody = Type.Object(
  {
    kind: Type.Enum([...ATTENTION_KINDS]),
    severity: Type.Enum(['bad', 'look']),
    subject: Type.String(),
    account: Type.Optional(Type.String()),
    amount: Type.Integer({ description: 'A count; for an overdrawn account or a low balance, cents.' }),
    since: Type.Optional(MOMENT),
  },
  { title: 'Attention', description: 'Something that needs an operator’s attention.' },
);
const Home = Type.Object(
  {
    at: MOMENT,
    attention: Type.Array(AttentionBody, {
      description: 'Most severe first; empty when nothing needs attention.',
    }),
    queues: Type.Array(
      Type.Object({
        source_language: Type.String(),
        target_language: Type.String(),
        waiting: Type.Integer(),
        working: Type.Integer(),
        oldest: Type.Integer({ description: 'The age of the oldest job, in seconds.' }),
      }),
    ),
    tasks: Type.Array(
      Type.Object({
        source_language: Type.String(),
        target_language: Type.String(),
        waiting: Type.Integer(),
        claimed: Type.Integer(),
        reported: Type.Integer(),
        late: Type.Integer({ description: 'The tasks whose deadline has passed.' }),
        unserved: Type.Integer({ description: 'The waiting tasks that no editor has the right to claim.' }),
        oldest: Type.Integer({ description: 'The age of the oldest waiting task, in seconds.' }),
      }),
      { description: 'The tasks of editors by language pair.' },
    ),
    setup: Type.Array(Type.Object({ step: Type.Enum([...SETUP_STEPS]), done: Type.Boolean() }), {
      description: 'The steps to a working installation; empty when all are done.',
    }),
    engines: Type.Array(
      Type.Object({
        engine: Type.String(),
        state: Type.Enum(['closed', 'half-open', 'open', 'away']),
        waiting: Type.Integer(),
        answered: Type.Integer({ description: 'The requests that the engine answered in the last hour.' }),
        failed: Type.Integer(),
      }),
    ),
    hours: Type.Array(
      Type.Object({ hour: MOMENT, created: Type.Integer(), words: Type.Integer(), failed: Type.Integer() }),
      { description: 'The jobs created in each of the last 24 hours.' },
    ),
    owed: CENTS,
  },
  { title: 'ConsoleHome' },
);
const SettingList = Type.Object(
  {
    settings: Type.Array(
      Type.Object({
        name: Type.String(),
        value: Type.String({ description: 'The value of the setting; empty for a secret.' }),
        secret: Type.Boolean(),
        set: Type.Boolean({ description: 'Whether the value differs from the default.' }),
        default: Type.String(),
        meaning: Type.String(),
      }),
    ),
  },
  { title: 'ConsoleSettings' },
);

const schemas = {
  home: described('readHome', 'Read what needs attention, and the state of the work', Home),
  settings: described('listSettings', 'List the settings of this process, without secrets', SettingList),
};

export interface OperationConsoleOptions {
  database: Database;
  settings: Settings;
}

const REQUESTS = statement<{ requests: number }>(
  'operations.requests',
  `select count(*) as requests from sandbox_requests where status = 'open'`,
);

const DAY_MILLISECONDS = 86_400_000;
const MOST = 50;

export function operationConsole(
  app: FastifyInstance,
  { database, settings }: OperationConsoleOptions,
): void {
  resource(app, '/api/console/home', {
    GET: {
      schema: schemas.home,
      handler: () => database.read((reader) => readHome(reader, settings, new Date())),
    },
  });
  resource(app, '/api/console/settings', {
    GET: { schema: schemas.settings, handler: async () => ({ settings: showSettings(settings) }) },
  });
}

async function readHome(on: Queryable, settings: Settings, now: Date): Promise<Static<typeof Home>> {
  const yesterday = new Date(now.getTime() - DAY_MILLISECONDS);
  const [waiting, tasks, { engines }, hosts, dead, overdrawn, low, hours, [requests]] = await Promise.all([
    listQueuedPairs(on),
    listTaskQueues(on),
    listEngines(on, settings.engines, now),
    listFailingHosts(on, { limit: MOST }),
    listDeadByAccount(on, { since: yesterday, limit: MOST }),
    listOverdrawn(on, { limit: MOST }),
    listLowBalances(on, yesterday, MOST),
    countJobsByHour(on, 24, now),
    on.query(REQUESTS),
  ]);
  const attention = attentionOf({
    now,
    engines,
    queues: waiting,
    hosts,
    dead,
    overdrawn,
    low,
    tasks,
    ...requests!,
  });
  return {
    at: now,
    attention,
    setup: await readSetup(on, settings, engines, now),
    tasks: tasks.map((pair) => ({ ...pair, oldest: Math.round(pair.oldest) })),
    queues: waiting.map((queue) => ({ ...queue, oldest: Math.round(queue.oldest) })),
    engines: engines.map(({ engine, state, waiting, last_hour: { answered, failed } }) => ({
      engine,
      state,
      waiting,
      answered,
      failed,
    })),
    hours,
    owed: overdrawn.reduce((sum, { balance }) => sum - balance, 0),
  };
}
