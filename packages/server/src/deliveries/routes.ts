/** Routes for deliveries and the event feed with API keys: `/api/v1/…`. */
import type { FastifyInstance } from 'fastify';
import type { Caller } from '../base/account.ts';
import { fieldError, notFound } from '../base/errors.ts';
import type { Database } from '../database/database.ts';
import { resource } from '../http/http.ts';
import type { AddressGuard } from './addresses.ts';
import type { OnDeliveriesChanged } from './deliveries.ts';
import { lastPosition, readCursor, readFeed, writeCursor } from './feed.ts';
import {
  type DeliveryRecord,
  findDelivery,
  listDeliveries,
  readAttempts,
  replayDead,
  replayDelivery,
} from './log.ts';
import {
  deliverySchema,
  feedSchema,
  listDeliveriesSchema,
  replayAllSchema,
  replaySchema,
  testEventSchema,
} from './schemas.ts';
import { sendTestEvent } from './test-events.ts';

export interface DeliveryRouteOptions {
  database: Database;
  guard: AddressGuard;
  /** Called when deliveries are replayed. */
  onDeliveriesChanged?: OnDeliveriesChanged | undefined;
  /** Wakes the sender when a delivery has become due. */
  deliveryDue(): void;
}

export function deliveryRoutes(app: FastifyInstance, options: DeliveryRouteOptions): void {
  const { database, guard, onDeliveriesChanged, deliveryDue } = options;

  async function find(caller: Caller, id: string): Promise<DeliveryRecord> {
    const found = await findDelivery(database, caller.account, caller.environment, id);
    if (found === undefined) throw notFound();
    return found;
  }

  resource(app, '/api/v1/deliveries/', {
    GET: {
      schema: listDeliveriesSchema,
      scope: 'deliveries',
      async handler(request) {
        const { account, environment } = request.caller;
        const { status, after, limit } = request.query;
        const objects = await database.read((reader) =>
          listDeliveries(reader, account, environment, { status }, { after, limit }),
        );
        return { objects, next: objects.length < limit ? null : objects.at(-1)!.id };
      },
    },
  });

  resource(app, '/api/v1/deliveries/replay/', {
    POST: {
      schema: replayAllSchema,
      scope: 'deliveries',
      async handler(request, reply) {
        const { account: ref, username, environment } = request.caller;
        const since = new Date(request.body.since);
        const replayed = await replayDead(
          database,
          'key',
          { ref, username },
          environment,
          since,
          onDeliveriesChanged,
        );
        if (replayed > 0) deliveryDue();
        return reply.code(202).send({ replayed });
      },
    },
  });

  resource(app, '/api/v1/deliveries/:delivery_id/', {
    GET: {
      schema: deliverySchema,
      scope: 'deliveries',
      async handler(request) {
        const delivery = await find(request.caller, request.params.delivery_id);
        const attempts = await readAttempts(database, request.caller.account, delivery.id, 'customer');
        return { ...delivery, attempts };
      },
    },
  });

  resource(app, '/api/v1/deliveries/:delivery_id/replay/', {
    POST: {
      schema: replaySchema,
      scope: 'deliveries',
      async handler(request, reply) {
        const { id } = await find(request.caller, request.params.delivery_id);
        if (!(await replayDelivery(database, 'key', request.caller.account, id, onDeliveriesChanged))) {
          throw fieldError('delivery_id', 'this delivery is already pending.');
        }
        deliveryDue();
        return reply.code(202).send(await find(request.caller, id));
      },
    },
  });

  resource(app, '/api/v1/test-event/', {
    POST: {
      schema: testEventSchema,
      scope: 'deliveries',
      async handler(request, reply) {
        const { url } = request.body;
        const verdict = guard.checkUrl(url);
        if (!verdict.ok) throw fieldError('url', verdict.reason);
        const id = await database.transaction((transaction) =>
          sendTestEvent(transaction, request.caller, url),
        );
        deliveryDue();
        return reply.code(202).send(await find(request.caller, id));
      },
    },
  });

  feedRoutes(app, database);
}

function feedRoutes(app: FastifyInstance, database: Database): void {
  resource(app, '/api/v1/events/', {
    GET: {
      schema: feedSchema,
      scope: 'deliveries',
      async handler(request) {
        const { account, environment } = request.caller;
        const { limit, after: written } = request.query;
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
