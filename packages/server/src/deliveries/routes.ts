/** The operations of deliveries and of the event feed: `…/deliveries…`, `/api/v1/events/`, `/api/v1/test-event/`. */
import type { FastifyInstance } from 'fastify';
import { accountOfField } from '../access/accounts.ts';
import { type Audience, OPERATORS, type Subject, share, whose } from '../access/audiences.ts';
import type { Vault } from '../access/secrets.ts';
import type { Person } from '../base/account.ts';
import { ApiError, fieldError, notFound, reason } from '../base/errors.ts';
import type { Database } from '../database/database.ts';
import { resource } from '../http/http.ts';
import type { AddressGuard } from './addresses.ts';
import type { OnDeliveriesChanged } from './deliveries.ts';
import { lastPosition, readCursor, readFeed, writeCursor } from './feed.ts';
import {
  countFailedDeliveries,
  type DeliveryRecord,
  findDelivery,
  listDeliveries,
  listOwnedDeliveries,
  readAttempts,
  replayDead,
  replayDelivery,
} from './log.ts';
import { sendNow } from './queue.ts';
import * as schemas from './schemas.ts';
import { readSentRequest } from './sent-request.ts';
import { listFailingHosts } from './store.ts';
import { sendTestEvent, testUrl } from './test-events.ts';

export interface DeliveryRouteOptions {
  database: Database;
  vault: Vault;
  guard: AddressGuard;
  /** Called when deliveries are replayed. */
  onDeliveriesChanged?: OnDeliveriesChanged | undefined;
  /** Wakes the sender when a delivery has become due. */
  deliveryDue(): void;
}

/**
 * The maximum number of deliveries that one request of a customer replays. The client repeats the request until no dead
 * deliveries are left.
 */
const REPLAYED_AT_ONCE = 1_000;

/** Operators name a delivery without its account, and the account of many deliveries in the body. */
const OF_ALL_ACCOUNTS: Audience = {
  ...OPERATORS,
  base: '/api/console',
  async find(on, request) {
    const { account } = (request.body ?? {}) as { account?: string };
    if (account !== undefined) return whose(await accountOfField(on, account));
    const { delivery: id } = request.params as { delivery: string };
    const [found] = await listOwnedDeliveries(on, { id }, 1);
    if (found === undefined) throw notFound();
    return { account: found.owner, username: found.delivery.account };
  },
};

/** @returns the delivery of the subject with this id. @throws ApiError `not_found` */
async function find(
  database: Database,
  { account, environment }: Subject,
  id: string,
): Promise<DeliveryRecord> {
  const found = await findDelivery(database, account, environment, id);
  if (found === undefined) throw notFound();
  return found;
}

export function deliveryRoutes(app: FastifyInstance, options: DeliveryRouteOptions, caller: Audience): void {
  const { database, onDeliveriesChanged, deliveryDue } = options;
  const audience = caller === OPERATORS ? OF_ALL_ACCOUNTS : caller;
  const who = { key: 'deliveries', customer: true, operator: true } as const;
  const delivery = `/deliveries/:${audience === OF_ALL_ACCOUNTS ? 'delivery' : 'delivery_id'}`;
  const idOf = (params: { delivery_id?: string; delivery: string }) => params.delivery_id ?? params.delivery;

  if (audience === OF_ALL_ACCOUNTS) listOfAllAccounts(app, database);
  customerRoutes(app, options, audience);
  share(app, database, audience, '/deliveries', {
    GET: {
      who: { key: 'deliveries', customer: true },
      schema: schemas.listDeliveriesSchema,
      async handler({ query: { status, after, limit } }, { account, environment }) {
        const page = { after, limit: limit + 1 };
        const rows = await database.read((reader) =>
          listDeliveries(reader, account, environment!, { status }, page),
        );
        const objects = rows.slice(0, limit);
        return { objects, next: rows.length > limit ? objects.at(-1)!.id : null };
      },
    },
  });

  share(app, database, audience, '/deliveries/replay', {
    POST: {
      who,
      schema: schemas.replayAllSchema,
      async handler({ body }, { account, username, environment, by, audience: name }, reply) {
        const since = new Date(body.since);
        const until = body.until === undefined ? new Date() : new Date(body.until);
        const bounds = name === 'customer' ? { until, most: REPLAYED_AT_ONCE } : {};
        const whole = { ref: account, username };
        const replayed = await replayDead(
          database,
          by,
          whole,
          environment!,
          since,
          onDeliveriesChanged,
          bounds,
        );
        const full = replayed === bounds.most;
        const left = full
          ? (await countFailedDeliveries(database, account, environment!, since, until)).failed
          : 0;
        if (replayed > 0) deliveryDue();
        return reply.code(202).send({ replayed, left });
      },
    },
  });

  share(app, database, audience, delivery, {
    GET: {
      who,
      schema: schemas.deliverySchema,
      async handler({ params }, subject) {
        const { account, username, audience } = subject;
        const found = await find(database, subject, idOf(params));
        const [attempts, request] = await Promise.all([
          readAttempts(database, account, found.id, audience),
          audience === 'key' ? null : readSentRequest(database, account, found.id),
        ]);
        // The retention may have deleted the delivery in the meantime.
        if (request === undefined) throw notFound();
        return { ...found, account: username, attempts, request };
      },
    },
  });

  share(app, database, audience, `${delivery}/replay`, {
    POST: {
      who,
      schema: schemas.replaySchema,
      async handler({ params }, subject, reply) {
        const { account, by, audience } = subject;
        const { id } = await find(database, subject, idOf(params));
        if (!(await replayDelivery(database, by, account, id, onDeliveriesChanged))) {
          if (audience !== 'customer') {
            throw fieldError('delivery_id', 'this delivery is already pending.');
          }
          if (!(await sendNow(database, by as Person, account, id))) {
            throw new ApiError('conflict', 'An attempt of this delivery is in progress.');
          }
        }
        deliveryDue();
        return reply.code(202).send(await find(database, subject, id));
      },
    },
  });
  programRoutes(app, options, audience);
}

function customerRoutes(
  app: FastifyInstance,
  { guard, deliveryDue, ...options }: DeliveryRouteOptions,
  audience: Audience,
): void {
  const { database } = options;
  share(app, database, audience, '/deliveries/failed', {
    GET: {
      who: { customer: true },
      schema: schemas.countFailedSchema,
      handler: async ({ query }, { account, environment }) =>
        countFailedDeliveries(database, account, environment!, new Date(query.since)),
    },
  });

  share(app, database, audience, '/deliveries/test', {
    POST: {
      who: { customer: true },
      schema: schemas.testUrlSchema,
      async handler({ body: { url } }, subject, reply) {
        const { environment, by } = subject;
        const verdict = guard.checkUrl(url);
        if (!verdict.ok) throw fieldError('url', reason('url', { why: verdict.reason }));
        const id = await testUrl(options, by as Person, { ...subject, environment: environment! }, url);
        deliveryDue();
        return reply.code(202).send(await find(database, subject, id));
      },
    },
  });
}

function programRoutes(
  app: FastifyInstance,
  { database, guard, deliveryDue }: DeliveryRouteOptions,
  audience: Audience,
): void {
  share(app, database, audience, '/test-event', {
    POST: {
      who: { key: 'deliveries' },
      schema: schemas.testEventSchema,
      async handler({ body: { url }, caller }, subject, reply) {
        const verdict = guard.checkUrl(url);
        if (!verdict.ok) throw fieldError('url', verdict.reason);
        const id = await database.transaction((transaction) => sendTestEvent(transaction, caller, url));
        deliveryDue();
        return reply.code(202).send(await find(database, subject, id));
      },
    },
  });

  share(app, database, audience, '/events', {
    GET: {
      who: { key: 'deliveries' },
      schema: schemas.feedSchema,
      async handler({ query: { limit, after: written }, caller: { account, environment } }) {
        const after = written === undefined ? 0 : readCursor(written)!;
        // The cursor belongs to another environment, or the database was restored from a backup. Continuing
        // would miss events.
        if (after > 0 && after > (await lastPosition(database, account, environment))) {
          throw fieldError('after', 'is beyond the end of this feed; start again without it.');
        }
        const { items, last } = await readFeed(database, account, environment, after, limit);
        return { objects: items, next: writeCursor(last), more: items.length === limit };
      },
    },
  });
}

function listOfAllAccounts(app: FastifyInstance, database: Database): void {
  resource(app, '/api/console/deliveries', {
    GET: {
      schema: schemas.consoleListSchema,
      async handler(request) {
        const { account: named, limit, ...others } = request.query;
        const [rows, hosts] = await database.read(async (reader) => {
          const account = await accountOfField(reader, named);
          const filter = { ...others, username: account?.username };
          return Promise.all([
            listOwnedDeliveries(reader, filter, limit + 1),
            listFailingHosts(reader, { limit: 100 }),
          ]);
        });
        const deliveries = rows.slice(0, limit).map(({ delivery }) => delivery);
        return { deliveries, hosts, next: rows.length > limit ? deliveries.at(-1)!.id : null };
      },
    },
  });
}
