/** What an account sees of its deliveries, and the feed of its events: `/api/v1/…`. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Caller } from '../account.ts';
import type { Database } from '../database/database.ts';
import { ApiError, fieldError, notFound } from '../errors.ts';
import { resource } from '../http.ts';
import type { AddressGuard } from './addresses.ts';
import { type DeliveriesMoved, recordEvents } from './deliveries.ts';
import { lastPosition, readCursor, readFeed, writeCursor } from './feed.ts';
import {
  DELIVERY_STATUSES,
  type DeliveryRecord,
  type DeliveryStatus,
  findDelivery,
  listDeliveries,
  readAttempts,
  replayDead,
  replayDelivery,
} from './log.ts';
import {
  detailSchema,
  feedSchema,
  listSchema,
  replayAllSchema,
  replaySchema,
  testEventSchema,
} from './schemas.ts';

export interface DeliveryRouteOptions {
  database: Database;
  guard: AddressGuard;
  /** What follows for the subject of a delivery that is replayed. */
  deliveriesMoved?: DeliveriesMoved | undefined;
  /** A delivery is due. */
  deliveryDue(): void;
}

export function deliveryRoutes(app: FastifyInstance, options: DeliveryRouteOptions): void {
  const { database, guard, deliveriesMoved, deliveryDue } = options;

  async function find(caller: Caller, id: string): Promise<DeliveryRecord> {
    const found = await findDelivery(database, caller.account, caller.environment, id);
    if (found === undefined) throw notFound();
    return found;
  }

  resource(app, '/api/v1/deliveries/', {
    GET: {
      schema: listSchema,
      async handler(request) {
        const { account, environment } = request.caller;
        const query = readQuery(request, ['status', 'after', 'limit']);
        const faults: string[] = [];
        const status = readStatus(query.get('status'), faults);
        const limit = readLimit(query.get('limit'), 50, faults);
        const after = query.get('after');
        if (after !== undefined && !isId(after)) faults.push('after: is not a cursor of this list.');
        refuse(faults);
        const objects = await listDeliveries(database, account, environment, { status }, { after, limit });
        return { objects, next: objects.length < limit ? null : objects.at(-1)!.id };
      },
    },
  });

  resource(app, '/api/v1/deliveries/replay/', {
    POST: {
      schema: replayAllSchema,
      async handler(request, reply) {
        const { account, environment } = request.caller;
        const since = readMoment(fieldsOf(request.body).since);
        const replayed = await replayDead(database, account, environment, since, deliveriesMoved);
        if (replayed > 0) deliveryDue();
        return reply.code(202).send({ replayed });
      },
    },
  });

  resource(app, '/api/v1/deliveries/:delivery_id/', {
    GET: {
      schema: detailSchema,
      async handler(request) {
        const delivery = await find(request.caller, idOf(request));
        const attempts = await readAttempts(database, request.caller.account, delivery.id);
        return { ...delivery, attempts };
      },
    },
  });

  resource(app, '/api/v1/deliveries/:delivery_id/replay/', {
    POST: {
      schema: replaySchema,
      async handler(request, reply) {
        const { id } = await find(request.caller, idOf(request));
        if (!(await replayDelivery(database, request.caller.account, id, deliveriesMoved))) {
          throw fieldError('delivery_id', 'this delivery is pending already.');
        }
        deliveryDue();
        return reply.code(202).send(await find(request.caller, id));
      },
    },
  });

  resource(app, '/api/v1/test-event/', {
    POST: {
      schema: testEventSchema,
      async handler(request, reply) {
        const url = readUrl(fieldsOf(request.body).url, guard);
        const id = await sendTestEvent(database, request.caller, url);
        deliveryDue();
        return reply.code(202).send(await find(request.caller, id));
      },
    },
  });

  resource(app, '/api/v1/events/', {
    GET: {
      schema: feedSchema,
      async handler(request) {
        const { account, environment } = request.caller;
        const query = readQuery(request, ['after', 'limit']);
        const faults: string[] = [];
        const limit = readLimit(query.get('limit'), 100, faults);
        const written = query.get('after');
        const after = written === undefined ? 0 : readCursor(written);
        if (after === undefined) faults.push('after: is not a cursor of this feed.');
        refuse(faults);
        // Of another environment, or of a database before it was put back: going on from it would miss events.
        if (after! > 0 && after! > (await lastPosition(database, account, environment))) {
          throw fieldError('after', 'lies beyond the end of this feed; begin anew without it.');
        }
        const { items, last } = await readFeed(database, account, environment, after!, limit);
        return { objects: items, next: writeCursor(last), more: items.length === limit };
      },
    },
  });
}

async function sendTestEvent(database: Database, caller: Caller, url: string): Promise<string> {
  const body = {
    type: 'test',
    account: caller.username,
    environment: caller.environment,
    created_at: new Date().toISOString(),
  };
  const [id] = await database.transaction((transaction) =>
    recordEvents(transaction, [
      {
        account: caller.account,
        environment: caller.environment,
        type: 'test',
        subject: { kind: 'none' },
        delivery: { url, contentType: 'application/json', body: Buffer.from(JSON.stringify(body)) },
      },
    ]),
  );
  return id!;
}

const ID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const isId = (text: string): boolean => ID.test(text);

function idOf(request: FastifyRequest): string {
  const { delivery_id } = request.params as { delivery_id: string };
  if (!isId(delivery_id)) throw notFound();
  return delivery_id;
}

function refuse(faults: readonly string[]): void {
  if (faults.length > 0) throw new ApiError('invalid_request', faults.join('\n'));
}

/** The known parameters, each with its last value; others are passed over. */
function readQuery(request: FastifyRequest, known: readonly string[]): Map<string, string> {
  const begin = request.url.indexOf('?');
  const all = new URLSearchParams(begin < 0 ? '' : request.url.slice(begin + 1));
  return new Map([...all].filter(([name]) => known.includes(name)));
}

function readStatus(written: string | undefined, faults: string[]): DeliveryStatus | undefined {
  const status = DELIVERY_STATUSES.find((name) => name === written);
  if (written !== undefined && status === undefined) {
    faults.push(`status: is not one of ${DELIVERY_STATUSES.join(', ')}.`);
  }
  return status;
}

const MAX_LIMIT = 1000;

function readLimit(written: string | undefined, usual: number, faults: string[]): number {
  if (written === undefined) return usual;
  const limit = Number(written);
  if (!/^\d{1,9}$/.test(written) || limit < 1 || limit > MAX_LIMIT) {
    faults.push(`limit: must be a whole number from 1 to ${MAX_LIMIT}.`);
  }
  return limit;
}

function fieldsOf(body: unknown): Record<string, unknown> {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw fieldError('body', 'must be a JSON object.');
  }
  return body as Record<string, unknown>;
}

function readMoment(written: unknown): Date {
  if (written === undefined || written === null) throw fieldError('since', 'This field is required.');
  const value = typeof written === 'string' ? new Date(written) : undefined;
  const form = /^\d{4}-\d\d-\d\d(T[\d:.]+(Z|[+-]\d\d:\d\d))?$/;
  if (value === undefined || !form.test(written as string) || Number.isNaN(value.getTime())) {
    throw fieldError('since', 'must be a date such as 2027-01-31 or 2027-01-31T12:00:00Z.');
  }
  return value;
}

function readUrl(written: unknown, guard: AddressGuard): string {
  if (written === undefined || written === null) throw fieldError('url', 'This field is required.');
  if (typeof written !== 'string') throw fieldError('url', 'must be a string.');
  const verdict = guard.checkUrl(written);
  if (!verdict.ok) throw fieldError('url', verdict.reason);
  return written;
}
