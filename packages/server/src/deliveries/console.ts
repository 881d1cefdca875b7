/** The operator's console for deliveries, of all accounts: `/api/console/deliveries…`. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import Type from 'typebox';
import { accountOfField } from '../accounts/console.ts';
import {
  described,
  ENVIRONMENT,
  environment,
  id as idCheck,
  integer,
  isId,
  MOMENT,
  moment,
  OPTIONAL_MOMENT,
  OPTIONAL_TEXT,
  oneOf,
  open,
  parameter,
  readForm,
  text,
} from '../console.ts';
import type { Database } from '../database/database.ts';
import { fieldError, notFound } from '../errors.ts';
import { resource } from '../http.ts';
import { recordAudit } from '../operations/audit.ts';
import { type DeliveriesMoved, hostOf } from './deliveries.ts';
import {
  DELIVERY_STATUSES,
  listFailingHosts,
  listOwnedDeliveries,
  readAttempts,
  readBody,
  replayDead,
  replayDelivery,
} from './log.ts';
import { Attempt, Delivery } from './schemas.ts';

export interface DeliveryConsoleOptions {
  database: Database;
  /** A delivery is due: the sender, if it is here, may look at once. */
  deliveryDue(): void;
  deliveriesMoved: DeliveriesMoved;
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
  { title: 'FailingHost', description: 'A host that deliveries of an account are held back from.' },
);
const DeliveryList = Type.Object(
  { deliveries: Type.Array(OwnedDelivery), hosts: Type.Array(Host), next: OPTIONAL_TEXT },
  { title: 'ConsoleDeliveries' },
);
const DeliveryDetail = Type.Object(
  {
    ...OwnedDelivery.properties,
    content_type: Type.String(),
    body: Type.String({ description: 'The first 64 KiB of it.' }),
    attempts_made: Type.Array(Attempt),
  },
  { title: 'ConsoleDeliveryDetail' },
);

const schemas = {
  list: described('listConsoleDeliveries', 'Deliveries of all accounts, newest first', DeliveryList, {
    querystring: Type.Object({
      account: Type.Optional(Type.String()),
      status: Type.Optional(Type.Enum([...DELIVERY_STATUSES])),
      environment: Type.Optional(ENVIRONMENT),
      host: Type.Optional(Type.String()),
      after: Type.Optional(Type.String()),
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 200, default: 50 })),
    }),
  }),
  read: described('readConsoleDelivery', 'A delivery with its attempts', DeliveryDetail, {
    params: Type.Object({ delivery: Type.String() }),
  }),
  replay: described('replayConsoleDelivery', 'Send a delivery again', OwnedDelivery, {
    params: Type.Object({ delivery: Type.String() }),
  }),
  replayDead: described(
    'replayDeadDeliveries',
    'Send all again that were given up since then',
    Type.Object({ replayed: Type.Integer() }, { title: 'ConsoleReplayed' }),
    {
      body: Type.Object({ account: Type.String(), environment: ENVIRONMENT, since: MOMENT }, open),
    },
  ),
};

export function deliveryConsole(app: FastifyInstance, options: DeliveryConsoleOptions): void {
  const { database, deliveryDue, deliveriesMoved } = options;

  async function find(request: FastifyRequest) {
    const id = parameter(request, 'delivery');
    const [found] = isId(id) ? await listOwnedDeliveries(database, { id }, 1) : [];
    if (found === undefined) throw notFound();
    return found;
  }

  resource(app, '/api/console/deliveries', {
    GET: {
      schema: schemas.list,
      async handler(request) {
        const form = readForm(request.query);
        const account = await accountOfField(database, form, 'account');
        const filter = {
          username: account?.username,
          status: form.optional('status', oneOf(...DELIVERY_STATUSES)),
          environment: form.optional('environment', environment),
          host: form.optional('host', text(300)),
          after: form.optional('after', idCheck),
        };
        const limit = form.optional('limit', integer(1, 200)) ?? 50;
        form.done();
        const [rows, hosts] = await Promise.all([
          listOwnedDeliveries(database, filter, limit + 1),
          listFailingHosts(database, 100),
        ]);
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
        const form = readForm(request.body);
        const named = form.required('account', text(64));
        const account = await accountOfField(database, form, 'account');
        const which = form.required('environment', environment);
        const since = form.required('since', moment);
        form.done();
        if (account === undefined) throw fieldError('account', `There is no account named ${named}.`);
        const replayed = await replayDead(database, account.ref, which, since, deliveriesMoved);
        if (replayed > 0) deliveryDue();
        await recordAudit(database, request.person, {
          ...{ action: 'deliveries.replayed', account: account.ref, subject: account.username },
          detail: { environment: which, since: since.toISOString(), replayed },
        });
        return { replayed };
      },
    },
  });

  resource(app, '/api/console/deliveries/:delivery', {
    GET: {
      schema: schemas.read,
      async handler(request) {
        const { owner, delivery } = await find(request);
        const [attempts_made, posted] = await Promise.all([
          readAttempts(database, owner, delivery.id),
          readBody(database, owner, delivery.id),
        ]);
        return { ...delivery, ...posted!, attempts_made };
      },
    },
  });

  resource(app, '/api/console/deliveries/:delivery/replay', {
    POST: {
      schema: schemas.replay,
      async handler(request) {
        const { owner, delivery } = await find(request);
        if (!(await replayDelivery(database, owner, delivery.id, deliveriesMoved))) {
          throw fieldError('delivery', 'This delivery is pending already.');
        }
        deliveryDue();
        await recordAudit(database, request.person, {
          ...{
            action: 'delivery.replayed',
            account: owner,
            subject: delivery.id,
            detail: { host: hostOf(delivery.url) },
          },
        });
        return (await find(request)).delivery;
      },
    },
  });
}
