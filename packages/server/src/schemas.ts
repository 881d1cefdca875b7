/**
 * What the schemas of every room share: answers, refusals, and how a shape gets its name.
 *
 * A schema with a `title` is published once, under that name, in `components/schemas`; the rest of the document
 * refers to it. Two shapes with one name stop the start.
 */
import Type, { type TObject, type TSchema } from 'typebox';
import { ERRORS, type ErrorCode, REASONS, type ReasonCode } from './errors.ts';

/** One answer of an operation, as OpenAPI says it. */
export interface DescribedResponse {
  description: string;
  /** All of them are always there. */
  headers?: Record<string, TSchema>;
  content?: Record<string, { schema: TSchema; example?: unknown }>;
  /** No body: without this word one in JSON is described. */
  type?: 'null';
  /** The errors behind a status, by code: those of `errors.ts`. */
  'x-errors'?: ErrorCode[];
}

/** What the service posts to a customer's address. */
export interface DescribedWebhook {
  operationId: string;
  summary: string;
  description: string;
  /** Headers of its own; those of a signed delivery are always there. */
  headers?: Record<string, TSchema>;
  content: Record<string, { schema: TSchema; example?: unknown }>;
}

/** An answer in JSON. @param example what it may look like; a test checks that it fits. */
export function answer(description: string, schema: TSchema, example?: unknown): DescribedResponse {
  const media = example === undefined ? { schema } : { schema, example };
  return { description, content: { 'application/json': media } };
}

/** An answer without a body. */
export function emptyAnswer(description: string): DescribedResponse {
  return { description, type: 'null' };
}

export const ErrorBody = Type.Object(
  {
    error: Type.String({
      description: 'For 400, one line for each wrong field: `field: reason`. The wording may change.',
      examples: ['text: This field is required.'],
    }),
  },
  { title: 'ErrorBody', description: 'Every refusal of the job interface. Told apart by status.' },
);

export const WebError = Type.Object(
  {
    error: Type.Object(
      {
        code: Type.Enum(Object.keys(ERRORS) as ErrorCode[], { title: 'WebErrorCode' }),
        message: Type.String({ description: 'A sentence for people, in English.' }),
        fields: Type.Optional(
          Type.Record(Type.String(), Type.String(), {
            description: 'A sentence for each wrong field, where a form can show it.',
          }),
        ),
        reasons: Type.Optional(
          Type.Record(
            Type.String(),
            Type.Object(
              { code: Type.Enum(Object.keys(REASONS) as ReasonCode[], { title: 'FieldReason' }) },
              { additionalProperties: true, description: 'With the values that its sentence has.' },
            ),
            { description: 'The same by code, for those that have one, to be said in any language.' },
          ),
        ),
        retry_after: Type.Optional(Type.Integer({ description: 'Seconds until it may be tried again.' })),
      },
      { additionalProperties: true, description: 'Some codes bring more.' },
    ),
  },
  { title: 'WebError', description: 'Every refusal of the routes of the web app. Told apart by its code.' },
);

/** What any operation may answer, whatever it does. */
export const EVERYWHERE: ErrorCode[] = [
  'unauthorized',
  'request_timeout',
  'headers_too_large',
  'server_error',
  'unavailable',
];

/** What an error brings besides its body. */
const HEADERS: Partial<Record<ErrorCode, Record<string, TSchema>>> = {
  unauthorized: {
    'WWW-Authenticate': Type.Literal('ApiKey', { description: 'The scheme to use.' }),
  },
  method_not_allowed: {
    Allow: Type.String({ description: 'The methods that the path takes.', examples: ['GET, HEAD'] }),
  },
  unavailable: {
    'Retry-After': Type.Integer({
      minimum: 0,
      description: 'Seconds to wait before the request is sent again.',
      examples: [1],
    }),
  },
};

/** The refusals of an operation by status: those named, and those that any operation may give. */
export function errorResponses(...codes: ErrorCode[]): Record<number, DescribedResponse> {
  return describeErrors([...codes, ...EVERYWHERE], () => ErrorBody);
}

/** The same for an interface with bodies of its own. @param bodyOf an error's body; undefined for none */
export function describeErrors(
  codes: readonly ErrorCode[],
  bodyOf: (code: ErrorCode) => TSchema | undefined,
): Record<number, DescribedResponse> {
  const responses: Record<number, DescribedResponse> = {};
  for (const [status, group] of Map.groupBy(new Set(codes), (code) => ERRORS[code].status)) {
    const bodies = [...new Set(group.map(bodyOf))].filter((body) => body !== undefined);
    const headers = Object.assign({}, ...group.map((code) => HEADERS[code] ?? {}));
    responses[status] = {
      description: group.map((code) => ERRORS[code].meaning).join(' Or: '),
      ...(Object.keys(headers).length > 0 ? { headers } : {}),
      ...(bodies.length > 0
        ? {
            content: {
              'application/json': { schema: bodies.length === 1 ? bodies[0]! : Type.Union(bodies) },
            },
          }
        : { type: 'null' as const }),
      'x-errors': group,
    };
  }
  return responses;
}

/** `limit` and `offset` of a list in the job interface's envelope. */
export const pageParameters = {
  limit: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 1000,
      default: 20,
      description: 'How many at most; 0 is 1000.',
    }),
  ),
  offset: Type.Optional(Type.Integer({ minimum: 0, default: 0, description: 'How many to pass over.' })),
};

const LINK = Type.Union([Type.String({ format: 'uri-reference' }), Type.Null()]);

export const PageMeta = Type.Object(
  {
    limit: Type.Integer({ minimum: 1, maximum: 1000 }),
    offset: Type.Integer({ minimum: 0 }),
    next: Type.Union(LINK.anyOf, { description: 'The next page, relative to the server; null at the end.' }),
    previous: Type.Union(LINK.anyOf, { description: 'The page before; null at the beginning.' }),
    total_count: Type.Integer({ minimum: 0, description: 'All that match, on every page together.' }),
  },
  { title: 'PageMeta' },
);

/** A list in the job interface's envelope. */
export function pageOf<T extends TSchema>(
  item: T,
  title: string,
): TObject<{ meta: typeof PageMeta; objects: ReturnType<typeof Type.Array<T>> }> {
  return Type.Object({ meta: PageMeta, objects: Type.Array(item) }, { title });
}
