/**
 * Operations with several audiences: programs with an API key, and customers and operators with a session. Such an
 * operation is declared once: its inputs, its answer and its handler. Each audience calls it below its own path, and names
 * the account and the environment in its own way.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest, FastifySchema } from 'fastify';
import Type, { type TObject, type TSchema } from 'typebox';
import type { Caller, Environment, KeyScope, Person } from '../base/account.ts';
import type { Queryable } from '../database/database.ts';
import { type Checked, type Method, type Operation, resource } from '../http/http.ts';
import { accountParameters, ENVIRONMENT } from '../http/schemas.ts';
import { requestedAccount } from './accounts.ts';
import { accountOf } from './session-auth.ts';

export type AudienceName = 'key' | 'customer' | 'operator';
type Whose = Pick<Caller, 'account' | 'username'>;

/** The account that a request is about, and who sent the request. */
export interface Subject extends Whose {
  /** The environment of the key, or the one that the request names; undefined if it names none. */
  environment: Environment | undefined;
  by: Caller | Person;
  audience: AudienceName;
}

/** The callers of one kind. */
export interface Audience {
  name: AudienceName;
  /** The beginning of the paths. */
  base: string;
  /** The word in the ids of operations, and the tag of operations in the description of the web app's API. */
  word?: string;
  tag?: string;
  find(on: Queryable, request: FastifyRequest): Promise<Whose>;
}

export const PROGRAMS: Audience = { name: 'key', base: '/api/v1', find: async (_, { caller }) => caller };

export const CUSTOMERS: Audience = {
  name: 'customer',
  base: '/api/account',
  word: 'Own',
  tag: 'Own account',
  find: async (_, request) => whose(accountOf(request)),
};

export const OPERATORS: Audience = {
  name: 'operator',
  base: '/api/console/accounts/:username',
  word: 'Account',
  tag: 'Console',
  find: async (on, request) =>
    whose(await requestedAccount(on, request as Checked<{ params: typeof accountParameters }>)),
};

/** Returns an account as handlers name it. */
export const whose = ({ ref, username }: { ref: Whose['account']; username: string }): Whose => ({
  account: ref,
  username,
});

const MARK = 'x-audiences';

/** Limits a field of an input or of an answer to some audiences. */
export function only<T extends TSchema>(schema: T, ...audiences: AudienceName[]): T {
  const mark = { value: audiences, enumerable: true };
  // A spread would lose the hidden property of an optional field.
  return Object.defineProperties({}, { ...Object.getOwnPropertyDescriptors(schema), [MARK]: mark }) as T;
}

/** The environment that a request of a user names. Handlers read it from the subject. */
export const NAMED_ENVIRONMENT = only(ENVIRONMENT, 'customer', 'operator');

/** An operation with several audiences. */
export interface SharedOperation<S extends FastifySchema>
  extends Omit<Operation<S>, 'handler' | 'scope' | 'allow'> {
  /** The audiences, and the scope that a key needs. */
  who: { key?: KeyScope; customer?: true; operator?: true };
  handler(request: Checked<S>, subject: Subject, reply: FastifyReply): Promise<unknown>;
}

/** Registers those operations of a path that an audience may call. @param path the path after the audience's base */
export function share<T extends Partial<Record<Method, FastifySchema>>>(
  app: FastifyInstance,
  on: Queryable,
  audience: Audience,
  path: string,
  operations: { [M in keyof T]: SharedOperation<T[M] & FastifySchema> },
): void {
  const { name, base, find } = audience;
  const all = Object.entries(operations as Record<string, SharedOperation<FastifySchema>>);
  const served = all.flatMap(([method, { who, schema, handler, ...options }]): [string, Operation][] => {
    const scope = name === 'key' ? who.key : undefined;
    if (who[name] === undefined) return [];
    const operation: Operation = {
      ...options,
      ...(scope === undefined ? {} : { scope }),
      schema: schemaFor(audience, schema, Object.keys(who).length > 1),
      async handler(request, reply) {
        const { caller: by = request.person } = request;
        const environment = environmentOf(request, schema);
        const subject = { ...(await find(on, request)), environment, by, audience: name };
        return handler(request as Checked<FastifySchema>, subject, reply);
      },
    };
    return [[method, operation]];
  });
  const end = name === 'key' ? '/' : '';
  if (served.length > 0) resource(app, `${base}${path}${end}`, Object.fromEntries(served));
}

/** Returns the environment of the key, or the one that the request names. An input without a schema is not checked. */
function environmentOf(
  request: FastifyRequest,
  { querystring, body }: FastifySchema,
): Subject['environment'] {
  const inputs: unknown[] = [request.caller, querystring && request.query, body && request.body];
  return (inputs as Partial<Subject>[]).find((input) => input?.environment)?.environment;
}

/**
 * Returns the schema of an operation for an audience. Only the API for programs describes the errors of an operation.
 * @param isShared whether the operation has other audiences, so that its id needs the word of this one
 */
function schemaFor(audience: Audience, schema: FastifySchema, isShared: boolean): FastifySchema {
  const { base, word, tag } = audience;
  const seen = visibleTo(audience, schema) as Record<string, object> & { operationId?: string };
  if (word === undefined) return seen;
  const { operationId, params, response = {}, ...rest } = seen;
  const inPath = { ...(base.includes(':username') ? accountParameters.properties : {}) };
  const answers = Object.entries(response).filter(([, answer]) => !('x-errors' in answer));
  return {
    ...rest,
    ...(operationId === undefined
      ? {}
      : { operationId: isShared ? operationId.replace(/^[a-z]+/, `$&${word}`) : operationId }),
    tags: [tag!],
    params: Type.Object({ ...inPath, ...(params as TObject | undefined)?.properties }),
    ...(answers.length === 0 ? {} : { response: Object.fromEntries(answers) }),
  } as FastifySchema;
}

/**
 * Returns a copy of a schema without the fields of other audiences. Where audiences see different fields, the name of the
 * schema has the word of the audience.
 */
function visibleTo(audience: Audience, schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map((one) => visibleTo(audience, one));
  if (typeof schema !== 'object' || schema === null) return schema;
  const seen = Object.entries(schema).filter(
    ([name, value]) => name !== MARK && value?.[MARK]?.includes(audience.name) !== false,
  );
  const copy = Object.fromEntries(seen.map(([name, value]) => [name, visibleTo(audience, value)]));
  const { required, title } = copy;
  if (Array.isArray(required)) copy.required = required.filter((name) => name in (copy.properties as object));
  const differs = title !== undefined && JSON.stringify(schema).includes(`"${MARK}"`);
  return differs ? { ...copy, title: `${audience.word ?? ''}${title}` } : copy;
}
