/** Deliveries and the feed of events, described. */
import type { FastifySchema } from 'fastify';
import Type from 'typebox';
import { answer, type DescribedWebhook, errorResponses } from '../schemas.ts';
import { DELIVERY_STATUSES } from './log.ts';

const TAG = 'Deliveries';
const ID = Type.String({
  format: 'uuid',
  description: 'Of the event and of its delivery: its `webhook-id`.',
});
const TIME = Type.String({ format: 'date-time' });
export const EventTypeName = Type.Enum(
  [
    'job.completed',
    'job.failed',
    'job.canceled',
    'message.translated',
    'message.failed',
    'message.corrected',
    'test',
  ],
  { title: 'EventType' },
);
const DeliveryStatus = Type.Enum([...DELIVERY_STATUSES], {
  title: 'DeliveryStatus',
  description: '`pending` until the receiver says 2xx, `dead` after 410 or 72 hours.',
});
const delivery = {
  id: ID,
  event: EventTypeName,
  status: DeliveryStatus,
  url: Type.String({ description: 'Where it is posted.' }),
  uid: Type.Optional(Type.String({ description: 'Of the job that it is about.' })),
  chat_id: Type.Optional(Type.String()),
  message_id: Type.Optional(Type.String({ description: 'Of the message that it is about.' })),
  failure: Type.Optional(
    Type.Enum(['gone', 'out of time'], { description: 'Why it is dead: 410, or 72 hours.' }),
  ),
  created_at: TIME,
  finished_at: Type.Optional(TIME),
  next_attempt_at: Type.Optional(Type.String({ format: 'date-time', description: 'Not before.' })),
};
export const Delivery = Type.Object(
  { ...delivery, attempts: Type.Integer({ minimum: 0, description: 'How many there were.' }) },
  { title: 'Delivery' },
);
export const Attempt = Type.Object(
  {
    attempt: Type.Integer({ minimum: 1 }),
    started_at: TIME,
    finished_at: Type.Optional(TIME),
    outcome: Type.Optional(
      Type.Enum(['answered', 'timeout', 'refused address', 'connect', 'reset', 'tls', 'other'], {
        description:
          'How it ended; not there while it is under way, or when its sender died in the middle of it.',
      }),
    ),
    detail: Type.Optional(Type.String({ description: 'In words, where there was no answer.' })),
    status_code: Type.Optional(Type.Integer()),
    milliseconds: Type.Optional(Type.Integer({ minimum: 0, description: 'Until the status line.' })),
    headers: Type.Optional(
      Type.Record(Type.String(), Type.String(), { description: 'Of the answer, cut; no cookies.' }),
    ),
    answer: Type.Optional(Type.String({ description: 'The first 4 KiB of the answer’s body.' })),
    answer_complete: Type.Optional(Type.Boolean({ description: 'False: it was cut, or broke off.' })),
  },
  { title: 'DeliveryAttempt' },
);
export const DeliveryDetail = Type.Object(
  {
    ...delivery,
    attempts: Type.Array(Attempt, { description: 'The last hundred, oldest first.' }),
  },
  { title: 'DeliveryDetail' },
);
export const DeliveryList = Type.Object(
  {
    objects: Type.Array(Delivery),
    next: Type.Union([Type.String(), Type.Null()], {
      description: '`after` of the next page; null at the end.',
    }),
  },
  { title: 'DeliveryList' },
);
const FeedEvent = Type.Object(
  {
    id: ID,
    type: EventTypeName,
    created_at: TIME,
    job: Type.Optional(
      Type.Object({ uid: Type.String(), tier: Type.Enum(['human', 'machine']) }, { title: 'EventJob' }),
    ),
    message: Type.Optional(
      Type.Object({ chat_id: Type.String(), id: Type.String() }, { title: 'EventMessage' }),
    ),
    delivery: Type.Optional(
      Type.Object(
        { status: DeliveryStatus },
        { title: 'EventDelivery', description: 'Not there where there was no address to post to.' },
      ),
    ),
  },
  { title: 'Event' },
);
const EventPage = Type.Object(
  {
    objects: Type.Array(FeedEvent),
    next: Type.String({ description: 'The cursor to go on from. Keep it; it does not expire.' }),
    more: Type.Boolean({ description: 'Whether there may be more already.' }),
  },
  { title: 'EventPage' },
);

const LIMIT = (most: number, usual: number) =>
  Type.Optional(
    Type.Integer({ minimum: 1, maximum: most, default: usual, description: 'How many at most.' }),
  );

const EXAMPLE = {
  id: '0197a5b0-0000-7000-8000-000000000001',
  event: 'job.completed',
  status: 'dead',
  url: 'https://example.com/done',
  uid: 'article-7',
  failure: 'gone',
  created_at: '2027-01-31T12:00:00.000Z',
  finished_at: '2027-01-31T12:00:05.000Z',
};
const EXAMPLE_EVENT = {
  id: EXAMPLE.id,
  type: 'job.completed',
  created_at: EXAMPLE.created_at,
  job: { uid: 'article-7', tier: 'human' },
  delivery: { status: 'delivered' },
};

export const listSchema: FastifySchema = {
  operationId: 'listDeliveries',
  summary: 'List deliveries, newest first',
  tags: [TAG],
  querystring: Type.Object({
    status: Type.Optional(DeliveryStatus),
    after: Type.Optional(Type.String({ description: 'The `next` of the page before.' })),
    limit: LIMIT(1000, 50),
  }),
  response: {
    200: answer('A page of deliveries.', DeliveryList, {
      objects: [{ ...EXAMPLE, attempts: 1 }],
      next: null,
    }),
    ...errorResponses('invalid_request'),
  },
};

const parameters = Type.Object({ delivery_id: ID });

export const detailSchema: FastifySchema = {
  operationId: 'getDelivery',
  summary: 'Read a delivery with its attempts',
  tags: [TAG],
  params: parameters,
  response: {
    200: answer('The delivery.', DeliveryDetail),
    ...errorResponses('not_found', 'invalid_request'),
  },
};

export const replaySchema: FastifySchema = {
  operationId: 'replayDelivery',
  summary: 'Send a delivery again that has ended',
  description: 'The same bytes under the same `webhook-id`; its 72 hours begin anew.',
  tags: [TAG],
  params: parameters,
  response: {
    202: answer('The delivery, pending again.', Delivery),
    ...errorResponses('not_found', 'invalid_request', 'read_only_key'),
  },
};

export const replayAllSchema: FastifySchema = {
  operationId: 'replayDeliveries',
  summary: 'Send all deliveries again that died since a moment',
  tags: [TAG],
  body: Type.Object(
    {
      since: Type.String({
        description: 'A day (its first moment in UTC), or a moment with its time zone.',
        examples: ['2027-01-31', '2027-01-31T12:00:00Z'],
      }),
    },
    { title: 'ReplayRequest' },
  ),
  response: {
    202: answer(
      'How many are pending again.',
      Type.Object({ replayed: Type.Integer({ minimum: 0 }) }, { title: 'Replayed' }),
      { replayed: 3 },
    ),
    ...errorResponses('invalid_request', 'read_only_key', 'too_large'),
  },
};

export const testEventSchema: FastifySchema = {
  operationId: 'sendTestEvent',
  summary: 'Send a signed test event to an address',
  description: 'By the same way as any delivery: signed, tried again, on record.',
  tags: [TAG],
  body: Type.Object(
    {
      url: Type.String({
        format: 'uri',
        description: 'A public http or https address without credentials.',
        examples: ['https://example.com/done'],
      }),
    },
    { title: 'TestEventRequest' },
  ),
  response: {
    202: answer('The delivery, pending.', Delivery),
    ...errorResponses('invalid_request', 'read_only_key', 'too_large'),
  },
};

export const feedSchema: FastifySchema = {
  operationId: 'listEvents',
  summary: 'Read what happened, in an order that never changes',
  description:
    'Every event of the account and environment, delivered or not. An event that commits later comes later: who goes on from `next` misses none.',
  tags: [TAG],
  querystring: Type.Object({
    after: Type.Optional(
      Type.String({ description: 'The `next` of the page before; absent: from the beginning.' }),
    ),
    limit: LIMIT(1000, 100),
  }),
  response: {
    200: answer('A page of events.', EventPage, { objects: [EXAMPLE_EVENT], next: 'ZTEtNDI', more: false }),
    ...errorResponses('invalid_request'),
  },
};

const TestEvent = Type.Object(
  {
    type: Type.Literal('test'),
    account: Type.String({ description: 'The username of the account.' }),
    environment: Type.Enum(['production', 'sandbox']),
    created_at: TIME,
  },
  { title: 'TestEvent' },
);

/** What is posted on request. */
export const deliveryWebhooks: Record<string, DescribedWebhook> = {
  testEvent: {
    operationId: 'testEvent',
    summary: 'A test event was asked for',
    description: 'Posted to the address that the request names.',
    content: {
      'application/json': {
        schema: TestEvent,
        example: {
          ...{ type: 'test', account: 'acme', environment: 'production' },
          created_at: '2027-01-31T12:00:00.000Z',
        },
      },
    },
  },
};
