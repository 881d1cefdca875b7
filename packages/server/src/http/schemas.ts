/**
 * Schemas that all modules share: common fields, answers and errors.
 *
 * A schema with a `title` is published once, under that name in `components/schemas`; other places refer to
 * it. The server does not start if two different schemas have the same title.
 */
import type { FastifySchema } from 'fastify';
import Type, { type Static, type TObject, type TSchema } from 'typebox';
import { SCOPES } from '../base/account.ts';
import { ERRORS, type ErrorCode, REASONS, type ReasonCode, reason } from '../base/errors.ts';
import { explainPattern } from './input.ts';

/** The schemas of an operation's inputs. */
export interface Inputs {
  params?: TObject;
  querystring?: TObject;
  body?: TObject;
}

/** Returns a function that describes operations of the web app. Each operation gets the tag `tag`. */
export function describing(tag: string) {
  return <const More extends Inputs & { status?: number; description?: string } = object>(
    operationId: string,
    summary: string,
    returns: TSchema,
    more?: More,
  ): FastifySchema & Pick<More, keyof Inputs & keyof More> => {
    const { status = 200, ...rest } = more ?? ({} as More);
    const response = { [status]: answer(summary, returns) };
    return { operationId, summary, ...(rest as More), tags: [tag], response };
  };
}

export const described = describing('Console');
export const describedOwn = describing('Own account');

export const ID = Type.String({ format: 'uuid' });
/** Returns the schema of a time in an answer. A handler returns a `Date`, which is sent as ISO 8601 in UTC. */
export const momentSchema = (description: string) =>
  Type.Unsafe<Date>({ type: 'string', format: 'date-time', description });
export const MOMENT = momentSchema('ISO 8601, in UTC.');
/** A date, or a date with a time, in a request. */
export const GIVEN_MOMENT = Type.String({
  format: 'moment',
  description: 'A date (its start in UTC), or a date and time with a time zone.',
});
export const OPTIONAL_GIVEN_MOMENT = Type.Union([GIVEN_MOMENT, Type.Null()]);
/** The mark of a result with untranslated segments. */
export const UNTRANSLATED = Type.Integer({
  minimum: 1,
  description:
    'The number of sentences that no engine could translate. They keep their source text and are not charged. Absent if all were translated.',
});
export const CENTS = Type.Integer({ description: 'US cents.' });
export const ENVIRONMENT = Type.Enum(['production', 'sandbox']);
export const KEY_SCOPES = Type.Union(
  [Type.Array(Type.Enum([...SCOPES], { title: 'KeyScope' })), Type.Null()],
  {
    description: 'The parts of the API that the key may use; null for every part.',
  },
);
/** The scopes of a new key. */
export const GIVEN_SCOPES = Type.Optional(
  Type.Union([
    Type.Array(Type.Enum([...SCOPES], { title: 'KeyScope' }), { minItems: 1, maxItems: SCOPES.length }),
    Type.Null(),
  ]),
);
export const DAILY_CENTS = Type.Union([Type.Integer({ minimum: 1, maximum: 1_000_000_000 }), Type.Null()], {
  description: 'The most that the key may order in a day (UTC), in cents; null for no limit.',
});
export const ORDERED_CENTS = Type.Integer({
  description: 'What the key ordered today, in cents. It is counted only for a key with a limit.',
});
/** The environment to which a request applies. */
export const IN_ENVIRONMENT = Type.Enum(['production', 'sandbox'], { default: 'production' });
export const OPTIONAL_TEXT = Type.Union([Type.String(), Type.Null()]);
export const OPTIONAL_MOMENT = Type.Union([MOMENT, Type.Null()]);
export const EditedWords = Type.Union(
  [
    Type.Object(
      {
        opened: Type.Integer({ description: 'Words of the segments that an editor confirmed.' }),
        voted: Type.Integer({
          description:
            'Words of the segments with a text that editors confirmed in other jobs, if nobody has changed it. If an ' +
            'editor then confirmed such a segment, its words count in both numbers.',
        }),
      },
      { title: 'EditedWords' },
    ),
    Type.Null(),
  ],
  {
    description:
      'Null if no editor worked on the job, or it failed or was canceled, and in each entry but the charge of a job.',
  },
);
export type EditedWordCounts = Static<typeof EditedWords>;
export const USERNAME = textOf(64);
/** The pattern of a text of one line. */
export const ONE_LINE = explainPattern('^\\P{C}*$', reason('one_line'));
/** How requests of the API are read. */
export const IGNORED = '`null` is the same as absent; unknown fields are ignored.';
/** The body of a request that rolls a key or a secret. */
export const OVERLAP_BODY = Type.Object(
  {
    overlap: Type.Enum(['now', '1h', '24h'], {
      title: 'Overlap',
      description: 'How long the previous key or secret stays valid.',
    }),
  },
  { title: 'OverlapRequest', examples: [{ overlap: '24h' }] },
);
export const OVERLAP_SECONDS = { now: 0, '1h': 3600, '24h': 86_400 } as const;
export const accountParameters = Type.Object({ username: Type.String() });
/** The page size of a list: 50 by default, at most 200. */
export const PAGE = Type.Integer({ minimum: 1, maximum: 200, default: 50 });
/** A language code. */
export const LANGUAGE = Type.String({
  pattern: explainPattern('^[a-z]{2,3}(-[a-z0-9]{1,8})*$', reason('language')),
});
export const LANGUAGE_OR_ALL = Type.String({
  pattern: explainPattern('^(\\*|[a-z]{2,3}(-[a-z0-9]{1,8})*)$', reason('language')),
  description: '`*` in both fields means every language pair.',
});

/** Returns the schema of a string whose surrounding white space is removed. */
export function textOf(most: number, least = 1, description?: string) {
  const limits = { minLength: least, maxLength: most, 'x-trim': true };
  return Type.String(description === undefined ? limits : { ...limits, description });
}

/** One answer of an operation, in the format of OpenAPI. */
export interface DescribedResponse {
  description: string;
  /** The headers of the answer. The answer always has all of them. */
  headers?: Record<string, TSchema>;
  content?: Record<string, { schema: TSchema; example?: unknown }>;
  /** `null` for an answer without a body. */
  type?: 'null';
  /** The codes of `errors.ts` that have this status. */
  'x-errors'?: ErrorCode[];
}

/** The description of a callback to a customer's URL. */
export interface DescribedWebhook {
  operationId: string;
  summary: string;
  description: string;
  /** The headers that this callback has in addition to those of every signed delivery. */
  headers?: Record<string, TSchema>;
  content: Record<string, { schema: TSchema; example?: unknown }>;
}

/** Describes an answer in JSON. @param example an example, which a test checks against the schema */
export function answer(description: string, schema: TSchema, example?: unknown): DescribedResponse {
  const media = example === undefined ? { schema } : { schema, example };
  return { description, content: { 'application/json': media } };
}

/** Describes an answer without a body. */
export function emptyAnswer(description: string): DescribedResponse {
  return { description, type: 'null' };
}

export const ErrorBody = Type.Object(
  {
    error: Type.String({
      description: 'For 400, one line for each invalid field: `field: reason`. The wording may change.',
      examples: ['text: This field is required.'],
    }),
  },
  { title: 'ErrorBody', description: 'Every error of the API. Errors are identified by their status.' },
);

export const WebError = Type.Object(
  {
    error: Type.Object(
      {
        code: Type.Enum(Object.keys(ERRORS) as ErrorCode[], { title: 'WebErrorCode' }),
        message: Type.String({ description: 'A sentence for people, in English.' }),
        fields: Type.Optional(
          Type.Record(Type.String(), Type.String(), {
            description: 'A sentence for each invalid field of a form.',
          }),
        ),
        reasons: Type.Optional(
          Type.Record(
            Type.String(),
            Type.Object(
              { code: Type.Enum(Object.keys(REASONS) as ReasonCode[], { title: 'FieldReason' }) },
              {
                additionalProperties: true,
                description: 'The code of the reason, with the values of its sentence.',
              },
            ),
            {
              description:
                'The reasons by code, for translation. Contains only fields whose reason has a code.',
            },
          ),
        ),
        retry_after: Type.Optional(
          Type.Integer({ description: 'Seconds until the next attempt is allowed.' }),
        ),
      },
      { additionalProperties: true, description: 'Some codes have further fields.' },
    ),
  },
  {
    title: 'WebError',
    description: 'Every error of the web app’s routes. Errors are identified by their code.',
  },
);

/** The errors that every operation can answer with. */
export const EVERYWHERE: ErrorCode[] = [
  'unauthorized',
  'insufficient_scope',
  'origin_not_allowed',
  'rate_limited',
  'request_timeout',
  'headers_too_large',
  'server_error',
  'unavailable',
];

/** The headers of the answers for some errors. */
const HEADERS: Partial<Record<ErrorCode, Record<string, TSchema>>> = {
  unauthorized: {
    'WWW-Authenticate': Type.Literal('ApiKey', { description: 'The scheme to use.' }),
  },
  method_not_allowed: {
    Allow: Type.String({ description: 'The methods that the path supports.', examples: ['GET, HEAD'] }),
  },
  unsupported_type: {
    'Accept-Encoding': Type.Literal('identity', { description: 'Bodies must not be compressed.' }),
  },
  rate_limited: {
    'Retry-After': Type.Integer({
      minimum: 1,
      description: 'Seconds until the next request is allowed.',
      examples: [1],
    }),
  },
  sandbox_quota: {
    'Retry-After': Type.Integer({
      minimum: 1,
      description: 'Seconds until the words of the next day (UTC) can be used.',
      examples: [3600],
    }),
  },
  unavailable: {
    'Retry-After': Type.Integer({
      minimum: 0,
      description: 'Seconds to wait before the request is sent again.',
      examples: [1],
    }),
  },
};

/** Returns the error answers of an operation by status: its own error codes, and the error codes of every operation. */
export function errorResponses(...codes: ErrorCode[]): Record<number, DescribedResponse> {
  return describeErrors([...codes, ...EVERYWHERE], () => ErrorBody);
}

/**
 * Returns error answers by status.
 * @param bodyOf a function that returns the schema of the error body, or undefined without a body
 */
export function describeErrors(
  codes: readonly ErrorCode[],
  bodyOf: (code: ErrorCode) => TSchema | undefined,
): Record<number, DescribedResponse> {
  const responses: Record<number, DescribedResponse> = {};
  // Every body may be too large, and may be compressed.
  const all = new Set(codes).has('too_large') ? [...codes, 'unsupported_type' as const] : codes;
  for (const [status, group] of Map.groupBy(new Set(all), (code) => ERRORS[code].status)) {
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

/** The query parameters `limit` and `offset` of a list in the API. */
export const pageParameters = {
  limit: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 1000,
      default: 20,
      description: 'The page size; 0 means 1000.',
    }),
  ),
  offset: Type.Optional(
    Type.Integer({ minimum: 0, default: 0, description: 'The number of entries to skip.' }),
  ),
};

const LINK = Type.Union([Type.String({ format: 'uri-reference' }), Type.Null()]);

export const PageMeta = Type.Object(
  {
    limit: Type.Integer({ minimum: 1, maximum: 1000 }),
    offset: Type.Integer({ minimum: 0 }),
    next: Type.Union(LINK.anyOf, { description: 'The next page, relative to the server; null at the end.' }),
    previous: Type.Union(LINK.anyOf, { description: 'The previous page; null at the beginning.' }),
    total_count: Type.Integer({ minimum: 0, description: 'The number of matching entries on all pages.' }),
  },
  { title: 'PageMeta' },
);

/** Returns the schema of a page of a list in the API. */
export function pageOf<T extends TSchema>(
  item: T,
  title: string,
): TObject<{ meta: typeof PageMeta; objects: ReturnType<typeof Type.Array<T>> }> {
  return Type.Object({ meta: PageMeta, objects: Type.Array(item) }, { title });
}
