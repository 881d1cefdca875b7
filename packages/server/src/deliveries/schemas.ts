import type { FastifySchema } from 'fastify';
import Type from 'typebox';
import { NAMED_ENVIRONMENT, only } from '../access/audiences.ts';
import { defineFormat } from '../http/input.ts';
import {
  answer,
  type DescribedWebhook,
  described,
  ENVIRONMENT,
  errorResponses,
  GIVEN_MOMENT,
  IN_ENVIRONMENT,
  OPTIONAL_MOMENT,
  OPTIONAL_TEXT,
  PAGE,
  textOf,
  USERNAME,
} from '../http/schemas.ts';
import { MAX_URL_LENGTH } from './addresses.ts';
import { EVENT_TYPES } from './event-types.ts';
import { readCursor } from './feed.ts';
import { DELIVERY_STATUSES } from './log.ts';

const TAG = 'Deliveries';
const ID = Type.String({ format: 'uuid', description: 'The id of the delivery, sent as `webhook-id`.' });
const TIME = Type.String({ format: 'date-time' });
export const EventTypeName = Type.Enum([...EVENT_TYPES], { title: 'EventType' });
const DeliveryStatus = Type.Enum([...DELIVERY_STATUSES], {
  title: 'DeliveryStatus',
  description: '`pending` until the receiver answers 2xx; `dead` after 410 or 72 hours.',
});
const Outcome = Type.Enum(['answered', 'timeout', 'refused address', 'connect', 'reset', 'tls', 'other'], {
  title: 'DeliveryOutcome',
  description: 'How the attempt ended; absent while it is in progress, or if the sender stopped during it.',
});
const delivery = {
  id: ID,
  event: EventTypeName,
  status: DeliveryStatus,
  url: Type.String({ description: 'The URL to which the delivery is posted.' }),
  uid: Type.Optional(Type.String({ description: 'The uid of the job that the event is about.' })),
  chat_id: Type.Optional(Type.String()),
  message_id: Type.Optional(Type.String({ description: 'The message that the event is about.' })),
  endpoint_id: Type.Optional(
    Type.String({ format: 'uuid', description: 'The webhook endpoint; absent for a callback.' }),
  ),
  failure: Type.Optional(
    Type.Enum(['gone', 'out of time', 'endpoint disabled', 'test failed'], {
      title: 'DeliveryFailure',
      description:
        'Why the delivery is dead: `gone` after 410, `out of time` after 72 hours, `endpoint disabled` if its webhook endpoint was disabled or deleted, `test failed` after the only attempt of a test of a URL in the web app.',
    }),
  ),
  created_at: TIME,
  finished_at: Type.Optional(TIME),
  next_attempt_at: Type.Optional(
    Type.String({ format: 'date-time', description: 'The earliest time of the next attempt.' }),
  ),
  last_status_code: Type.Optional(
    Type.Integer({ description: 'The HTTP status of the last attempt, if the receiver answered.' }),
  ),
  last_outcome: Type.Optional(Outcome),
};
export const Delivery = Type.Object(
  { ...delivery, attempts: Type.Integer({ minimum: 0, description: 'The number of attempts.' }) },
  { title: 'Delivery' },
);
const Attempt = Type.Object(
  {
    attempt: Type.Integer({ minimum: 1 }),
    started_at: TIME,
    finished_at: Type.Optional(TIME),
    outcome: Type.Optional(Outcome),
    detail: Type.Optional(
      Type.String({ description: 'A description of the failure, if there was no answer.' }),
    ),
    status_code: Type.Optional(Type.Integer()),
    milliseconds: Type.Optional(
      Type.Integer({ minimum: 0, description: 'The milliseconds until the status line.' }),
    ),
    headers: Type.Optional(
      Type.Record(Type.String(), Type.String(), {
        description: 'The headers of the answer, shortened, without cookies.',
      }),
    ),
    answer: Type.Optional(Type.String({ description: 'The first 4 KiB of the body of the answer.' })),
    answer_complete: Type.Optional(
      Type.Boolean({ description: 'False if the answer was cut at the limit or broke off.' }),
    ),
  },
  { title: 'DeliveryAttempt' },
);
const DeliveryDetail = Type.Object(
  {
    account: only(Type.String(), 'customer', 'operator'),
    environment: NAMED_ENVIRONMENT,
    ...delivery,
    attempts: Type.Array(Attempt, { description: 'The last hundred attempts, oldest first.' }),
    request: only(
      Type.Object(
        {
          method: Type.Literal('POST'),
          content_type: Type.String(),
          headers: Type.Record(Type.String(), Type.String(), {
            description:
              'The headers of every attempt. The signature is masked; `webhook-timestamp`, the second of the attempt, is missing.',
          }),
          body: Type.String({ description: 'The first 64 KiB of the body.' }),
          body_bytes: Type.Integer({ minimum: 0, description: 'The size of the whole body.' }),
        },
        { title: 'DeliveryRequest' },
      ),
      'customer',
      'operator',
    ),
  },
  { title: 'DeliveryDetail' },
);
const DeliveryList = Type.Object(
  {
    objects: Type.Array(Delivery),
    next: Type.Union([Type.String(), Type.Null()], {
      description: 'The value of `after` for the next page; null at the end.',
    }),
  },
  { title: 'DeliveryList' },
);
const event = {
  id: Type.String({
    format: 'uuid',
    description: 'The id of the event, and of its callback if it has one.',
  }),
  type: EventTypeName,
  created_at: TIME,
  job: Type.Optional(
    Type.Object({ uid: Type.String(), tier: Type.Enum(['human', 'machine']) }, { title: 'EventJob' }),
  ),
  message: Type.Optional(
    Type.Object({ chat_id: Type.String(), id: Type.String() }, { title: 'EventMessage' }),
  ),
};
const FeedEvent = Type.Object(
  {
    ...event,
    delivery: Type.Optional(
      Type.Object(
        { status: DeliveryStatus },
        { title: 'EventDelivery', description: 'The callback; absent if the event had no callback URL.' },
      ),
    ),
  },
  { title: 'Event' },
);
const EventPage = Type.Object(
  {
    objects: Type.Array(FeedEvent),
    next: Type.String({ description: 'The cursor to continue from. It does not expire.' }),
    more: Type.Boolean({ description: 'Whether there may be more events now.' }),
  },
  { title: 'EventPage' },
);

const LIMIT = (usual: number) =>
  Type.Integer({ minimum: 1, maximum: 1000, default: usual, description: 'The maximum number of objects.' });

const CURSOR = defineFormat('feed-cursor', (written) =>
  readCursor(written) === undefined ? 'is not a cursor of this feed.' : undefined,
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

export const listDeliveriesSchema = {
  operationId: 'listDeliveries',
  summary: 'List deliveries, newest first',
  description: 'Without bodies and attempts; `next` leads to the next page.',
  tags: [TAG],
  querystring: Type.Object({
    environment: only(IN_ENVIRONMENT, 'customer'),
    status: Type.Optional(
      Type.Enum([...DELIVERY_STATUSES], {
        'x-fault': `is not one of ${DELIVERY_STATUSES.join(', ')}.`,
      }),
    ),
    limit: LIMIT(50),
    after: Type.Optional(
      Type.String({
        format: 'uuid',
        'x-fault': 'is not a cursor of this list.',
        description: 'The `next` of the previous page.',
      }),
    ),
  }),
  response: {
    200: answer('A page of deliveries.', DeliveryList, {
      objects: [{ ...EXAMPLE, attempts: 1 }],
      next: null,
    }),
    ...errorResponses('invalid_request'),
  },
} satisfies FastifySchema;

const parameters = Type.Object({
  delivery_id: only(ID, 'key', 'customer'),
  delivery: only(ID, 'operator'),
});

export const deliverySchema = {
  operationId: 'getDelivery',
  summary: 'Read a delivery with its attempts',
  description: 'Each attempt has its time, its duration and the beginning of the answer.',
  tags: [TAG],
  params: parameters,
  response: {
    200: answer('The delivery.', DeliveryDetail),
    ...errorResponses('not_found', 'invalid_request'),
  },
} satisfies FastifySchema;

export const replaySchema = {
  operationId: 'replayDelivery',
  summary: 'Replay a delivery that has ended',
  description: 'Sends the same bytes under the same `webhook-id`; the 72 hours start again.',
  tags: [TAG],
  params: parameters,
  response: {
    202: answer('The delivery, pending again.', Delivery),
    ...errorResponses('not_found', 'invalid_request', 'read_only_key'),
  },
} satisfies FastifySchema;

export const replayAllSchema = {
  operationId: 'replayDeliveries',
  summary: 'Replay all deliveries that died since a moment',
  description:
    'Sends each with the same bytes under the same `webhook-id`, the oldest first. Leaves out those that ended because their webhook endpoint was disabled or deleted.',
  tags: [TAG],
  body: Type.Object(
    {
      account: only(USERNAME, 'operator'),
      environment: NAMED_ENVIRONMENT,
      until: Type.Optional(only(GIVEN_MOMENT, 'customer')),
      since: Type.String({
        ...GIVEN_MOMENT,
        examples: ['2027-01-31', '2027-01-31T12:00:00Z'],
      }),
    },
    { title: 'ReplayRequest', examples: [{ since: '2027-01-31T12:00:00Z' }] },
  ),
  response: {
    202: answer(
      'How many are pending again.',
      Type.Object(
        {
          replayed: Type.Integer({ minimum: 0 }),
          left: only(
            Type.Integer({
              minimum: 0,
              description: 'The number of dead deliveries that remain, capped at 10,000.',
            }),
            'customer',
            'operator',
          ),
        },
        { title: 'Replayed' },
      ),
      { replayed: 3 },
    ),
    ...errorResponses('invalid_request', 'read_only_key', 'too_large'),
  },
} satisfies FastifySchema;

export const testEventSchema = {
  operationId: 'sendTestEvent',
  summary: 'Send a signed test event to a URL',
  description:
    'It is delivered like any other event: signed, retried and recorded. The secret of a webhook endpoint signs it if the URL is that of the endpoint.',
  tags: [TAG],
  body: Type.Object(
    {
      url: Type.String({
        format: 'uri',
        description: 'A public http or https URL without credentials.',
      }),
    },
    { title: 'TestEventRequest', examples: [{ url: 'https://example.com/done' }] },
  ),
  response: {
    202: answer('The delivery, pending.', Delivery),
    ...errorResponses('invalid_request', 'read_only_key', 'too_large'),
  },
} satisfies FastifySchema;

export const feedSchema = {
  operationId: 'listEvents',
  summary: 'List events in an order that never changes',
  description:
    'Every event of the account and environment, delivered or not. An event that commits later comes later, so a client that continues from `next` misses none.',
  tags: [TAG],
  querystring: Type.Object({
    after: Type.Optional(
      Type.String({
        format: CURSOR,
        description: 'The `next` of the previous page; without it, the feed starts at the beginning.',
      }),
    ),
    limit: LIMIT(100),
  }),
  response: {
    200: answer('A page of events.', EventPage, { objects: [EXAMPLE_EVENT], next: 'ZTEtNDI', more: false }),
    ...errorResponses('invalid_request'),
  },
} satisfies FastifySchema;

/** The default date is before every delivery, so that a request without `since` covers all deliveries. */
const SINCE = Type.String({ ...GIVEN_MOMENT, default: '1970-01-01' });

export const countFailedSchema = {
  operationId: 'countFailedDeliveries',
  summary: 'Count dead deliveries',
  querystring: Type.Object({ environment: IN_ENVIRONMENT, since: SINCE }),
  response: {
    200: answer(
      'The number of dead deliveries.',
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
    ),
  },
} satisfies FastifySchema;

export const testUrlSchema = {
  operationId: 'testCallbackUrl',
  summary: 'Send a signed test event to a URL',
  description:
    'It is attempted once, before waiting deliveries and also while deliveries to its host are paused. Twenty tests of an account are free; further ones wait up to 10 minutes until a day without a test.',
  body: Type.Object({ environment: IN_ENVIRONMENT, url: textOf(MAX_URL_LENGTH, 1) }),
  response: { 202: answer('The delivery, pending.', Delivery) },
} satisfies FastifySchema;

export const consoleListSchema = described(
  'listConsoleDeliveries',
  'Deliveries of all accounts, newest first',
  Type.Object(
    {
      deliveries: Type.Array(
        Type.Object(
          { account: Type.String(), environment: ENVIRONMENT, ...Delivery.properties },
          { title: 'ConsoleDelivery' },
        ),
      ),
      hosts: Type.Array(
        Type.Object(
          {
            username: Type.String(),
            host: Type.String(),
            failures: Type.Integer(),
            open_until: OPTIONAL_MOMENT,
            since: OPTIONAL_MOMENT,
            waiting: Type.Integer(),
          },
          {
            title: 'FailingHost',
            description: 'A host of an account that gets no deliveries because it fails.',
          },
        ),
      ),
      next: OPTIONAL_TEXT,
    },
    { title: 'ConsoleDeliveries' },
  ),
  {
    querystring: Type.Object({
      account: Type.Optional(USERNAME),
      status: Type.Optional(Type.Enum([...DELIVERY_STATUSES])),
      environment: Type.Optional(ENVIRONMENT),
      host: Type.Optional(textOf(300)),
      after: Type.Optional(Type.String({ format: 'uuid' })),
      limit: PAGE,
    }),
  },
);

const TestEvent = Type.Object(
  {
    type: Type.Literal('test'),
    account: Type.String({ description: 'The username of the account.' }),
    environment: Type.Enum(['production', 'sandbox']),
    created_at: TIME,
  },
  { title: 'TestEvent' },
);

export const deliveryWebhooks: Record<string, DescribedWebhook> = {
  endpointEvent: {
    operationId: 'endpointEvent',
    summary: 'An event for a webhook endpoint',
    description:
      'Posted to each webhook endpoint whose filter matches. The body is the event as the feed shows it.',
    content: {
      'application/json': {
        schema: Type.Object(event, { title: 'EndpointEvent' }),
        example: {
          id: EXAMPLE.id,
          type: 'job.completed',
          created_at: EXAMPLE.created_at,
          job: { uid: 'article-7', tier: 'human' },
        },
      },
    },
  },
  testEvent: {
    operationId: 'testEvent',
    summary: 'A test event was requested',
    description: 'Posted to the URL of the request.',
    content: {
      'application/json': {
        schema: TestEvent,
        example: {
          type: 'test',
          account: 'acme',
          environment: 'production',
          created_at: '2027-01-31T12:00:00.000Z',
        },
      },
    },
  },
};
