/** Console routes for the deliveries of all accounts: `/api/console/deliveries…`. */
import type { FastifyInstance } from 'fastify';
import Type, { type Static } from 'typebox';
import { accountOfField } from '../access/accounts.ts';
import { fieldError, notFound } from '../base/errors.ts';
import type { Database } from '../database/database.ts';
import { resource } from '../http/http.ts';
import {
  described,
  ENVIRONMENT,
  GIVEN_MOMENT,
  ID,
  OPTIONAL_MOMENT,
  OPTIONAL_TEXT,
  PAGE,
  textOf,
  USERNAME,
} from '../http/schemas.ts';
import type { OnDeliveriesChanged } from './deliveries.ts';
import { endpointConsole } from './endpoint-routes.ts';
import { DELIVERY_STATUSES, listOwnedDeliveries, readAttempts, replayDead, replayDelivery } from './log.ts';
import { Attempt, Delivery } from './schemas.ts';
import { readSentRequest } from './sent-request.ts';
import { listFailingHosts } from './store.ts';

export interface DeliveryConsoleOptions {
  database: Database;
  /** Wakes the sender when a delivery has become due. */
  deliveryDue(): void;
  onDeliveriesChanged: OnDeliveriesChanged;
}

const OwnedDelivery = Type.Object(
  { account: Type.String(), environment: ENVIRONMENT, ...Delivery.properties },
  { title: 'ConsoleDelivery' },
);
const Host = Type.Object(
  {
    username: Type.String(),
    host: Type.String(),
    failures: Type.Integer(),
    open_until: OPTIONAL_MOMENT,
    since: OPTIONAL_MOMENT,
    waiting: Type.Integer(),
  },
  { title: 'FailingHost', description: 'A host of an account that gets no deliveries because it fails.' },
);
const DeliveryList = Type.Object(
  { deliveries: Type.Array(OwnedDelivery), hosts: Type.Array(Host), next: OPTIONAL_TEXT },
  { title: 'ConsoleDeliveries' },
);
const DeliveryDetail = Type.Object(
  {
    ...OwnedDelivery.properties,
    content_type: Type.String(),
    body: Type.String({ description: 'The first 64 KiB of the body.' }),
    attempts_made: Type.Array(Attempt),
  },
  { title: 'ConsoleDeliveryDetail' },
);

const parameters = Type.Object({ delivery: ID });
const schemas = {
  list: described('listConsoleDeliveries', 'Deliveries of all accounts, newest first', DeliveryList, {
    querystring: Type.Object({
      account: Type.Optional(USERNAME),
      status: Type.Optional(Type.Enum([...DELIVERY_STATUSES])),
      environment: Type.Optional(ENVIRONMENT),
      host: Type.Optional(textOf(300)),
      after: Type.Optional(ID),
      limit: PAGE,
    }),
  }),
  read: described('readConsoleDelivery', 'A delivery with its attempts', DeliveryDetail, {
    params: parameters,
  }),
  replay: described('replayConsoleDelivery', 'Replay a delivery', OwnedDelivery, {
    params: parameters,
  }),
  replayDead: described(
    'replayDeadDeliveries',
    'Replay all deliveries that died since a moment',
    Type.Object({ replayed: Type.Integer() }, { title: 'ConsoleReplayed' }),
    { body: Type.Object({ account: USERNAME, environment: ENVIRONMENT, since: GIVEN_MOMENT }) },
  ),
};

export function deliveryConsole(app: FastifyInstance, options: DeliveryConsoleOptions): void {
  const { database, deliveryDue, onDeliveriesChanged } = options;

  async function find({ params }: { params: Static<typeof parameters> }) {
    const [found] = await listOwnedDeliveries(database, { id: params.delivery }, 1);
    if (found === undefined) throw notFound();
    return found;
  }

  endpointConsole(app, options);
  resource(app, '/api/console/deliveries', {
    GET: {
      schema: schemas.list,
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
        return {
          deliveries,
          hosts: hosts.map((host) => ({
            ...host,
            open_until: host.open_until?.toISOString() ?? null,
            since: host.since?.toISOString() ?? null,
          })),
          next: rows.length > limit ? deliveries.at(-1)!.id : null,
        };
      },
    },
  });

  resource(app, '/api/console/deliveries/replay', {
    POST: {
      schema: schemas.replayDead,
      async handler(request) {
        const { environment } = request.body;
        const account = await accountOfField(database, request.body.account);
        const since = new Date(request.body.since);
        const replayed = await replayDead(
          database,
          request.person,
          account,
          environment,
          since,
          onDeliveriesChanged,
        );
        if (replayed > 0) deliveryDue();
        return { replayed };
      },
    },
  });

  resource(app, '/api/console/deliveries/:delivery', {
    GET: {
      schema: schemas.read,
      async handler(request) {
        const { owner, delivery } = await find(request);
        const [attempts_made, sent] = await Promise.all([
          readAttempts(database, owner, delivery.id, 'operator'),
          readSentRequest(database, owner, delivery.id),
        ]);
        const { content_type, body } = sent!;
        return { ...delivery, content_type, body, attempts_made };
      },
    },
  });

  resource(app, '/api/console/deliveries/:delivery/replay', {
    POST: {
      schema: schemas.replay,
      async handler(request) {
        const { owner, delivery } = await find(request);
        if (!(await replayDelivery(database, request.person, owner, delivery.id, onDeliveriesChanged))) {
          throw fieldError('delivery', 'This delivery is already pending.');
        }
        deliveryDue();
        return (await find(request)).delivery;
      },
    },
  });
}
