/** The route for the overview of the signed-in customer's account: `/api/account`. */
import type { FastifyInstance } from 'fastify';
import Type, { type Static, type TInteger } from 'typebox';
import { accountNamed } from '../access/accounts.ts';
import { accountOf } from '../access/session-auth.ts';
import { readQuota } from '../accounts/sandbox-words.ts';
import type { Person } from '../base/account.ts';
import type { Database } from '../database/database.ts';
import { countFailedEndpoints } from '../deliveries/deliveries.ts';
import { countDeadDeliveries } from '../deliveries/log.ts';
import { resource } from '../http/http.ts';
import { CENTS, describedOwn, ENVIRONMENT, MOMENT, OPTIONAL_TEXT } from '../http/schemas.ts';
import { listLatestJobs, OwnJob } from '../jobs/list/customer.ts';
import { countJobsByDay, countJobsByStatus, countJobsSince } from '../jobs/list/overview.ts';
import { readBalances, readSpent } from '../ledger/ledger.ts';
import type { Settings } from '../settings/settings.ts';

export interface CustomerOptions {
  database: Database;
  settings: Pick<Settings, 'sandboxWords'>;
}

const COUNT = Type.Integer({ minimum: 0 });

const Day = Type.Object(
  { day: Type.String({ format: 'date' }), jobs: COUNT, cents: CENTS },
  { title: 'OwnDay', description: 'The jobs of a day and their price.' },
);

const byEnvironment = (value: TInteger, description: string) =>
  Type.Object({ production: value, sandbox: value }, { description });
const Overview = Type.Object(
  {
    username: Type.String(),
    email: OPTIONAL_TEXT,
    chat: Type.Boolean({ description: 'Whether the account has a chat subscription.' }),
    balances: Type.Array(
      Type.Object({
        environment: ENVIRONMENT,
        balance: CENTS,
        credit_limit: Type.Union([CENTS, Type.Null()], { description: 'Null: no limit.' }),
        on_hold: Type.Integer({ description: 'What unfinished jobs hold, in US cents.' }),
      }),
    ),
    jobs: Type.Array(
      Type.Object({
        environment: ENVIRONMENT,
        tier: Type.Enum(['human', 'machine']),
        status: Type.String(),
        jobs: COUNT,
      }),
      { description: 'The number of jobs by status.' },
    ),
    charged: byEnvironment(CENTS, 'What was charged in the last 30 days, less refunds.'),
    last_30_days: Type.Array(
      Type.Object({
        environment: ENVIRONMENT,
        tier: Type.Enum(['human', 'machine']),
        jobs: COUNT,
        words: COUNT,
        cents: CENTS,
      }),
    ),
    days: Type.Object(
      { production: Type.Array(Day), sandbox: Type.Array(Day) },
      { description: 'The last 30 days in UTC, earliest first.' },
    ),
    failed_deliveries: byEnvironment(COUNT, 'Those that failed in the last 30 days, counted up to 1,000.'),
    failed_endpoints: byEnvironment(COUNT, 'Those that were disabled because their deliveries failed.'),
    sandbox_words: Type.Union(
      [
        Type.Object(
          { used: COUNT, limit: COUNT, resets_at: MOMENT },
          { title: 'SandboxWords', description: 'The words used today (UTC) in the sandbox.' },
        ),
        Type.Null(),
      ],
      { description: 'Null if the sandbox has no limit.' },
    ),
    latest_jobs: Type.Object({ production: Type.Array(OwnJob), sandbox: Type.Array(OwnJob) }),
  },
  { title: 'OwnAccount' },
);

const DAYS = 30;
const MILLISECONDS_30_DAYS = DAYS * 86_400_000;
const LATEST_JOBS = 5;

export function customerRoutes(app: FastifyInstance, { database, settings }: CustomerOptions): void {
  resource(app, '/api/account', {
    GET: {
      schema: describedOwn('readOwnAccount', 'Read an overview of your account', Overview),
      handler: async (request) => readOverview(database, settings, accountOf(request)),
    },
  });
}

async function readOverview(
  database: Database,
  settings: CustomerOptions['settings'],
  { ref, username }: NonNullable<Person['account']>,
): Promise<Static<typeof Overview>> {
  const since = new Date(Date.now() - MILLISECONDS_30_DAYS);
  const [
    { email, chat },
    balances,
    { held, charged },
    jobs,
    lately,
    days,
    failed,
    endpoints,
    sandboxWords,
    production,
    sandbox,
  ] = await Promise.all([
    accountNamed(database, username),
    readBalances(database, ref),
    readSpent(database, ref, since),
    countJobsByStatus(database, { account: ref }),
    countJobsSince(database, ref, since),
    countJobsByDay(database, ref, DAYS, new Date()),
    countDeadDeliveries(database, ref, since),
    countFailedEndpoints(database, ref),
    readQuota(database, settings, ref),
    listLatestJobs(database, ref, 'production', LATEST_JOBS),
    listLatestJobs(database, ref, 'sandbox', LATEST_JOBS),
  ]);
  return {
    username,
    email,
    chat,
    balances: balances.map((one) => ({ ...one, on_hold: held[one.environment] })),
    jobs,
    last_30_days: lately,
    charged,
    days,
    failed_deliveries: failed,
    failed_endpoints: endpoints,
    sandbox_words: sandboxWords,
    latest_jobs: { production, sandbox },
  };
}
