/** Routes for the deliveries of the signed-in customer: `/api/account/deliveries…`. */
import type { FastifyInstance } from 'fastify';
import Type from 'typebox';
import type { Vault } from '../access/secrets.ts';
import { accountOf } from '../access/session-auth.ts';
import { ApiError, fieldError, notFound, reason } from '../base/errors.ts';
import type { Database } from '../database/database.ts';
import { type Checked, resource } from '../http/http.ts';
import { describedOwn, GIVEN_MOMENT, ID, IN_ENVIRONMENT, PAGE, textOf } from '../http/schemas.ts';
import { type AddressGuard, MAX_URL_LENGTH } from './addresses.ts';
import type { OnDeliveriesChanged } from './deliveries.ts';
import {
  countFailedDeliveries,
  DELIVERY_STATUSES,
  type DeliveryRecord,
  findDelivery,
  listDeliveries,
  readAttempts,
  replayDead,
  replayDelivery,
} from './log.ts';
import { sendNow } from './queue.ts';
import { Delivery, DeliveryList, OwnDeliveryDetail } from './schemas.ts';
import { readSentRequest } from './sent-request.ts';
import { testUrl } from './test-events.ts';

/**
 * The maximum number of deliveries that one request replays. The client repeats the request until no dead
 * deliveries are left.
 */
const REPLAYED_AT_ONCE = 1_000;
/** The default date is before every delivery, so that a request without `since` covers all deliveries. */
const SINCE = Type.String({ ...GIVEN_MOMENT, default: '1970-01-01' });

export interface CustomerDeliveryOptions {
  database: Database;
  vault: Vault;
  guard: AddressGuard;
  onDeliveriesChanged: OnDeliveriesChanged;
  deliveryDue(): void;
}

const parameters = Type.Object({ delivery_id: ID });
type Asked = Checked<{ params: typeof parameters }>;
const schemas = {
  list: describedOwn('listOwnDeliveries', 'Own deliveries, newest first', DeliveryList, {
    querystring: Type.Object({
      environment: IN_ENVIRONMENT,
      status: Type.Optional(Type.Enum([...DELIVERY_STATUSES])),
      after: Type.Optional(ID),
      limit: PAGE,
    }),
  }),
  read: describedOwn('readOwnDelivery', 'A delivery with its request and its attempts', OwnDeliveryDetail, {
    params: parameters,
  }),
  failed: describedOwn(
    'countFailedDeliveries',
    'Count dead deliveries',
    Type.Object(
      {
        failed: Type.Integer({ minimum: 0, description: 'Capped at 10,000.' }),
        until: Type.String({
          format: 'date-time',
          description: 'The count includes deliveries that died before this time.',
        }),
      },
      { title: 'FailedDeliveries' },
    ),
    { querystring: Type.Object({ environment: IN_ENVIRONMENT, since: SINCE }) },
  ),
  replayFailed: describedOwn(
    'replayFailedDeliveries',
    'Replay all dead deliveries',
    Type.Object(
      {
        replayed: Type.Integer({
          minimum: 0,
          description: 'The number of deliveries that are pending again.',
        }),
        left: Type.Integer({
          minimum: 0,
          description: 'The number of dead deliveries that remain, capped at 10,000.',
        }),
      },
      { title: 'ReplayedDeliveries' },
    ),
    {
      status: 202,
      description:
        `At most ${REPLAYED_AT_ONCE} a request, the oldest first. With the \`until\` of the count, a repeated request ` +
        'sends nothing twice, not even deliveries that died again since.',
      body: Type.Object({ environment: IN_ENVIRONMENT, since: SINCE, until: Type.Optional(GIVEN_MOMENT) }),
    },
  ),
  test: describedOwn('testCallbackUrl', 'Send a signed test event to a URL', Delivery, {
    status: 202,
    description:
      'It is attempted once, before waiting deliveries and also while deliveries to its host are paused. Twenty tests of an account are free; further ones wait up to 10 minutes until a day without a test.',
    body: Type.Object({ environment: IN_ENVIRONMENT, url: textOf(MAX_URL_LENGTH, 1) }),
  }),
  replay: describedOwn('replayOwnDelivery', 'Send a delivery now', Delivery, {
    status: 202,
    description:
      'Replays a delivery that has ended, with the same bytes and the same `webhook-id`. Makes the next attempt of a pending delivery due at once. `conflict`: an attempt is in progress.',
    params: parameters,
  }),
};

export function deliveriesOfCustomer(app: FastifyInstance, options: CustomerDeliveryOptions): void {
  const { database, onDeliveriesChanged, deliveryDue } = options;

  async function requested(request: Asked): Promise<DeliveryRecord> {
    const { delivery_id: id } = request.params;
    const found = await findDelivery(database, accountOf(request).ref, undefined, id);
    if (found === undefined) throw notFound();
    return found;
  }

  urlTestRoute(app, options);
  resource(app, '/api/account/deliveries', {
    GET: {
      schema: schemas.list,
      async handler(request) {
        const { environment, status, after, limit } = request.query;
        const page = { after, limit: limit + 1 };
        const { ref } = accountOf(request);
        const rows = await database.read((reader) =>
          listDeliveries(reader, ref, environment, { status }, page),
        );
        const objects = rows.slice(0, limit);
        return { objects, next: rows.length > limit ? objects.at(-1)!.id : null };
      },
    },
  });
  resource(app, '/api/account/deliveries/failed', {
    GET: {
      schema: schemas.failed,
      async handler(request) {
        const { environment, since } = request.query;
        return countFailedDeliveries(database, accountOf(request).ref, environment, new Date(since));
      },
    },
  });
  resource(app, '/api/account/deliveries/replay', {
    POST: {
      schema: schemas.replayFailed,
      async handler(request, reply) {
        const account = accountOf(request);
        const { environment } = request.body;
        const since = new Date(request.body.since);
        const until = request.body.until === undefined ? new Date() : new Date(request.body.until);
        const bounds = { until, most: REPLAYED_AT_ONCE };
        const replayed = await replayDead(
          database,
          request.person,
          account,
          environment,
          since,
          onDeliveriesChanged,
          bounds,
        );
        const full = replayed === REPLAYED_AT_ONCE;
        const left = full
          ? (await countFailedDeliveries(database, account.ref, environment, since, until)).failed
          : 0;
        if (replayed > 0) deliveryDue();
        return reply.code(202).send({ replayed, left });
      },
    },
  });
  resource(app, '/api/account/deliveries/:delivery_id', {
    GET: {
      schema: schemas.read,
      async handler(request) {
        const delivery = await requested(request);
        const { ref } = accountOf(request);
        const [attempts, sent] = await Promise.all([
          readAttempts(database, ref, delivery.id, 'customer'),
          readSentRequest(database, ref, delivery.id),
        ]);
        // The retention may have deleted the delivery in the meantime.
        if (sent === undefined) throw notFound();
        return { ...delivery, request: sent, attempts };
      },
    },
  });
  resource(app, '/api/account/deliveries/:delivery_id/replay', {
    POST: {
      schema: schemas.replay,
      async handler(request, reply) {
        const { id: wanted } = await requested(request);
        const { person } = request;
        const { ref } = accountOf(request);
        if (
          !(await replayDelivery(database, person, ref, wanted, onDeliveriesChanged)) &&
          !(await sendNow(database, person, ref, wanted))
        ) {
          throw new ApiError('conflict', 'An attempt of this delivery is in progress.');
        }
        deliveryDue();
        return reply.code(202).send(await requested(request));
      },
    },
  });
}

function urlTestRoute(app: FastifyInstance, options: CustomerDeliveryOptions): void {
  const { database, guard, deliveryDue } = options;
  resource(app, '/api/account/deliveries/test', {
    POST: {
      schema: schemas.test,
      async handler(request, reply) {
        const { ref, username } = accountOf(request);
        const { environment, url } = request.body;
        const verdict = guard.checkUrl(url);
        if (!verdict.ok) throw fieldError('url', reason('url', { why: verdict.reason }));
        const tested = { account: ref, username, environment };
        const id = await testUrl(options, request.person, tested, url);
        deliveryDue();
        return reply.code(202).send((await findDelivery(database, ref, environment, id))!);
      },
    },
  });
}
