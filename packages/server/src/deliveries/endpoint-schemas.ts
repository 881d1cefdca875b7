/** The schemas of webhook endpoints. */
import type { FastifySchema } from 'fastify';
import Type, { type Static } from 'typebox';
import { NAMED_ENVIRONMENT } from '../access/audiences.ts';
import {
  answer,
  ENVIRONMENT,
  emptyAnswer,
  errorResponses,
  ID,
  MOMENT,
  momentSchema,
  ONE_LINE,
  OVERLAP_BODY,
} from '../http/schemas.ts';
import { FILTER_TYPES } from './event-types.ts';
import { ENDPOINT_STATUSES, GIVEN_STATUSES } from './states.ts';

const TAG = 'Deliveries';
const EVENTS = Type.Array(Type.Enum([...FILTER_TYPES], { title: 'EndpointEventType' }), {
  minItems: 1,
  maxItems: FILTER_TYPES.length,
});
const URL = Type.String({
  format: 'uri',
  description: 'A public http or https URL without credentials.',
  examples: ['https://example.com/events'],
});
const STATUS = Type.Enum([...ENDPOINT_STATUSES], {
  title: 'EndpointStatus',
  description:
    'A `disabled` or `failed` endpoint gets no deliveries. An endpoint becomes `failed` if at least 10 deliveries of the last 5 days are dead and none was delivered.',
});
const GIVEN_STATUS = Type.Enum([...GIVEN_STATUSES], {
  description: '`active` also enables a `failed` endpoint.',
});
const DESCRIPTION = Type.String({
  maxLength: 200,
  pattern: ONE_LINE,
  'x-trim': true,
  description: 'A text of one line for people.',
});
const GIVEN_EVENTS = Type.Optional(
  Type.Union([EVENTS, Type.Null()], {
    description:
      'The types of events that the endpoint gets; null for all, also those that later versions add.',
  }),
);

/** The maximum number of webhook endpoints of an account in one environment. An event can have a delivery to each. */
export const MAX_ENDPOINTS = 10;

const fields = {
  id: ID,
  environment: ENVIRONMENT,
  url: Type.String(),
  events: Type.Union([EVENTS, Type.Null()], {
    description: 'The types of events that the endpoint gets; null for all.',
  }),
  description: Type.String(),
  key_id: Type.Union([Type.String(), Type.Null()], {
    description:
      'The public part of the API key that set the URL, which may be revoked by now; null if a user set it.',
  }),
  status: STATUS,
  created_at: MOMENT,
};
const SECRET = Type.String({
  description: 'The secret that signs deliveries. Only this answer contains it.',
});
const Endpoint = Type.Object(fields, { title: 'WebhookEndpoint' });
export type Endpoint = Static<typeof Endpoint>;
const CreatedEndpoint = Type.Object(
  { ...fields, webhook_secret: SECRET },
  { title: 'CreatedWebhookEndpoint' },
);
const EndpointList = Type.Object({ objects: Type.Array(Endpoint) }, { title: 'WebhookEndpointList' });
const EndpointSecret = Type.Object(
  {
    webhook_secret: SECRET,
    previous_ends: momentSchema('The moment until which the previous secrets sign.'),
  },
  { title: 'EndpointSecret' },
);

const wanted = { url: URL, events: GIVEN_EVENTS, description: Type.Optional(DESCRIPTION) };
const creation = Type.Object(
  { environment: NAMED_ENVIRONMENT, ...wanted },
  {
    title: 'WebhookEndpointRequest',
    examples: [
      { url: 'https://example.com/events', events: ['job.completed', 'job.failed'], description: 'Shop' },
    ],
  },
);
const change = Type.Object(
  {
    url: Type.Optional(URL),
    events: GIVEN_EVENTS,
    description: wanted.description,
    status: Type.Optional(GIVEN_STATUS),
  },
  { title: 'WebhookEndpointChange', examples: [{ status: 'disabled' }] },
);
const parameters = Type.Object({ endpoint_id: ID });

const EXAMPLE = {
  id: '0197a5b0-0000-7000-8000-000000000002',
  environment: 'production',
  url: 'https://example.com/events',
  events: ['job.completed', 'job.failed'],
  description: 'Shop',
  key_id: 'e824dafc',
  status: 'active',
  created_at: '2027-01-31T12:00:00.000Z',
};
const EXAMPLE_SECRET = 'whsec_bm90IGEgcmVhbCBzZWNyZXQsIG9ubHkgYW4gZXhhbXBsZQ==';

export const endpointSchemas = {
  list: {
    operationId: 'listWebhookEndpoints',
    summary: 'List webhook endpoints',
    description: 'Those of the environment of the key, oldest first.',
    tags: [TAG],
    response: {
      200: answer('The webhook endpoints.', EndpointList, { objects: [EXAMPLE] }),
      ...errorResponses(),
    },
  },
  create: {
    operationId: 'createWebhookEndpoint',
    summary: 'Register a webhook endpoint',
    description: `A URL that gets each later event that matches its filter, in addition to callbacks. At most ${MAX_ENDPOINTS} in an environment.`,
    tags: [TAG],
    body: creation,
    response: {
      201: answer('The webhook endpoint with its secret.', CreatedEndpoint, {
        ...EXAMPLE,
        webhook_secret: EXAMPLE_SECRET,
      }),
      ...errorResponses('invalid_request', 'conflict', 'read_only_key', 'too_large'),
    },
  },
  read: {
    operationId: 'getWebhookEndpoint',
    summary: 'Read a webhook endpoint',
    description: 'Without its secret.',
    tags: [TAG],
    params: parameters,
    response: {
      200: answer('The webhook endpoint.', Endpoint, EXAMPLE),
      ...errorResponses('not_found', 'invalid_request'),
    },
  },
  change: {
    operationId: 'changeWebhookEndpoint',
    summary: 'Change, disable or enable a webhook endpoint',
    description: 'Fields that are absent stay unchanged. A new URL applies to later events.',
    tags: [TAG],
    params: parameters,
    body: change,
    response: {
      200: answer('The webhook endpoint.', Endpoint, { ...EXAMPLE, status: 'disabled' }),
      ...errorResponses('not_found', 'invalid_request', 'conflict', 'read_only_key', 'too_large'),
    },
  },
  delete: {
    operationId: 'deleteWebhookEndpoint',
    summary: 'Delete a webhook endpoint',
    description: 'Pending deliveries to it end without another attempt.',
    tags: [TAG],
    params: parameters,
    response: {
      204: emptyAnswer('Deleted.'),
      ...errorResponses('not_found', 'invalid_request', 'conflict', 'read_only_key'),
    },
  },
  roll: {
    operationId: 'rollWebhookEndpointSecret',
    summary: 'Create a new secret of a webhook endpoint',
    description: '`409` when 5 secrets would sign; the message says when each ends. None ends early.',
    tags: [TAG],
    params: parameters,
    body: OVERLAP_BODY,
    response: {
      201: answer('The new secret.', EndpointSecret, {
        webhook_secret: EXAMPLE_SECRET,
        previous_ends: '2027-02-01T12:00:00.000Z',
      }),
      ...errorResponses('not_found', 'invalid_request', 'conflict', 'read_only_key', 'too_large'),
    },
  },
} satisfies Record<string, FastifySchema>;
