/** A customer's own deliveries: `/api/account/deliveries…`. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import Type from 'typebox';
import type { Environment } from '../account.ts';
import { accountOf } from '../accounts/door.ts';
import {
  describedOwn,
  ENVIRONMENT,
  environment,
  id,
  integer,
  isId,
  MOMENT,
  moment,
  oneOf,
  open,
  parameter,
  readForm,
} from '../console.ts';
import type { Database } from '../database/database.ts';
import { ApiError, notFound } from '../errors.ts';
import { resource } from '../http.ts';
import { recordAudit } from '../operations/audit.ts';
import type { DeliveriesMoved } from './deliveries.ts';
import {
  countFailed,
  DELIVERY_STATUSES,
  type DeliveryRecord,
  findDelivery,
  listDeliveries,
  readAttempts,
  replayDead,
  replayDelivery,
} from './log.ts';
import { Delivery, DeliveryDetail, DeliveryList } from './schemas.ts';

/** One request does no more; the next goes on. */
const REPLAYED_AT_ONCE = 1_000;
const FROM_THE_BEGINNING = new Date(0);

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
  failed: describedOwn(
    'countFailedDeliveries',
    'How many were given up',
    Type.Object(
      {
        failed: Type.Integer({ minimum: 0, description: 'Up to ten thousand.' }),
        until: Type.String({ format: 'date-time', description: 'Of what had been given up by then.' }),
      },
      { title: 'FailedDeliveries' },
    ),
    { querystring: Type.Object({ environment: Type.Optional(ENVIRONMENT), since: Type.Optional(MOMENT) }) },
  ),
  replayFailed: describedOwn(
    'replayFailedDeliveries',
    'Send all again that were given up',
    Type.Object(
      {
        replayed: Type.Integer({ minimum: 0, description: 'So many are pending again.' }),
        left: Type.Integer({
          minimum: 0,
          description: 'To be sent by the next request; up to ten thousand.',
        }),
      },
      { title: 'ReplayedDeliveries' },
    ),
    {
      status: 202,
      description:
        `At most ${REPLAYED_AT_ONCE} a request, the oldest first. With the \`until\` of the count, a request that is ` +
        'repeated sends nothing twice, also what was given up again meanwhile.',
      body: Type.Object(
        {
          environment: Type.Optional(ENVIRONMENT),
          since: Type.Optional(MOMENT),
          until: Type.Optional(MOMENT),
        },
        open,
      ),
    },
  ),
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
  resource(app, '/api/account/deliveries/failed', {
    GET: {
      schema: schemas.failed,
      async handler(request) {
        const { which, since } = readFilter(request.query);
        return countFailed(database, accountOf(request).ref, which, since);
      },
    },
  });
  resource(app, '/api/account/deliveries/replay', {
    POST: {
      schema: schemas.replayFailed,
      async handler(request, reply) {
        const { ref, username } = accountOf(request);
        const { which, since, until = new Date() } = readFilter(request.body);
        const bounds = { until, most: REPLAYED_AT_ONCE };
        const replayed = await replayDead(database, ref, which, since, deliveriesMoved, bounds);
        const full = replayed === REPLAYED_AT_ONCE;
        const left = full ? (await countFailed(database, ref, which, since, until)).failed : 0;
        if (replayed > 0) {
          deliveryDue();
          await recordAudit(database, request.person, {
            ...{ action: 'deliveries.replayed', account: ref, subject: username },
            detail: { environment: which, since: since.toISOString(), replayed },
          });
        }
        return reply.code(202).send({ replayed, left });
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

function readFilter(given: unknown): { which: Environment; since: Date; until: Date | undefined } {
  const form = readForm(given);
  const which = form.optional('environment', environment) ?? 'production';
  const since = form.optional('since', moment) ?? FROM_THE_BEGINNING;
  const until = form.optional('until', moment);
  form.done();
  return { which, since, until };
}
