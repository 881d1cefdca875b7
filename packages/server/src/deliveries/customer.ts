/** A customer's own deliveries: `/api/account/deliveries…`. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import Type from 'typebox';
import { accountOf } from '../accounts/door.ts';
import {
  describedOwn,
  ENVIRONMENT,
  environment,
  id,
  integer,
  isId,
  oneOf,
  parameter,
  readForm,
} from '../console.ts';
import type { Database } from '../database/database.ts';
import { ApiError, notFound } from '../errors.ts';
import { resource } from '../http.ts';
import type { DeliveriesMoved } from './deliveries.ts';
import {
  DELIVERY_STATUSES,
  type DeliveryRecord,
  findDelivery,
  listDeliveries,
  readAttempts,
  replayDelivery,
} from './log.ts';
import { Delivery, DeliveryDetail, DeliveryList } from './schemas.ts';

export interface CustomerDeliveryOptions {
  database: Database;
  deliveriesMoved: DeliveriesMoved;
  deliveryDue(): void;
}

const parameters = Type.Object({ delivery_id: Type.String() });
const schemas = {
  list: describedOwn('listOwnDeliveries', 'One’s deliveries, newest first', DeliveryList, {
    querystring: Type.Object({
      environment: Type.Optional(ENVIRONMENT),
      status: Type.Optional(Type.Enum([...DELIVERY_STATUSES])),
      after: Type.Optional(Type.String()),
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 200, default: 50 })),
    }),
  }),
  read: describedOwn('readOwnDelivery', 'One delivery with its attempts', DeliveryDetail, {
    params: parameters,
  }),
  replay: describedOwn('replayOwnDelivery', 'Send a delivery again that has ended', Delivery, {
    status: 202,
    description: 'The same bytes under the same `webhook-id`. `conflict`: it is pending already.',
    params: parameters,
  }),
};

export function deliveriesOfCustomer(app: FastifyInstance, options: CustomerDeliveryOptions): void {
  const { database, deliveriesMoved, deliveryDue } = options;

  async function requested(request: FastifyRequest): Promise<DeliveryRecord> {
    const wanted = parameter(request, 'delivery_id');
    const found = isId(wanted)
      ? await findDelivery(database, accountOf(request).ref, undefined, wanted)
      : undefined;
    if (found === undefined) throw notFound();
    return found;
  }

  resource(app, '/api/account/deliveries', {
    GET: {
      schema: schemas.list,
      async handler(request) {
        const form = readForm(request.query);
        const which = form.optional('environment', environment) ?? 'production';
        const status = form.optional('status', oneOf(...DELIVERY_STATUSES));
        const after = form.optional('after', id);
        const limit = form.optional('limit', integer(1, 200)) ?? 50;
        form.done();
        const page = { after, limit: limit + 1 };
        const rows = await listDeliveries(database, accountOf(request).ref, which, { status }, page);
        const objects = rows.slice(0, limit);
        return { objects, next: rows.length > limit ? objects.at(-1)!.id : null };
      },
    },
  });
  resource(app, '/api/account/deliveries/:delivery_id', {
    GET: {
      schema: schemas.read,
      async handler(request) {
        const delivery = await requested(request);
        const attempts = await readAttempts(database, accountOf(request).ref, delivery.id);
        return { ...delivery, attempts };
      },
    },
  });
  resource(app, '/api/account/deliveries/:delivery_id/replay', {
    POST: {
      schema: schemas.replay,
      async handler(request, reply) {
        const { id: wanted } = await requested(request);
        if (!(await replayDelivery(database, accountOf(request).ref, wanted, deliveriesMoved))) {
          throw new ApiError('conflict', 'This delivery is pending already.');
        }
        deliveryDue();
        return reply.code(202).send(await requested(request));
      },
    },
  });
}
