/**
 * Tests the checks of requests by their schemas, for every operation of both APIs and for `createReader`
 * itself.
 */
import fc from 'fast-check';
import Type from 'typebox';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ApiError } from '../base/errors.ts';
import { describeApp } from '../roles/app.ts';
import { createClient, createPerson, startTestServer, type TestServer } from '../testing/harness.ts';
import { createReader, defineFormat, explainPattern } from './input.ts';
import type { JsonSchema, OpenApi } from './openapi.ts';

type Call = ReturnType<typeof createClient>;

interface Operation {
  name: string;
  call: Call;
  path: string;
  /** An invalid value for each field of the operation. */
  fields: Map<string, unknown>;
  required: string[];
}

let server: TestServer;
const bodies: Operation[] = [];
const queries: Operation[] = [];

/** The operation that reads its job before it checks its input. These tests leave it out. */
const AFTER_JOB = 'upgradeMachineJob';
/** The operations that read their query parameters themselves, in `jobs/query.ts` and `live/topics.ts`. */
const OWN_QUERY = ['listJobs', 'listMachineJobs', 'listOwnJobs', 'subscribe'];

beforeAll(async () => {
  server = await startTestServer({});
  const account = await server.createAccount({ chat: true });
  const program = createClient(server.url, account.production_key);
  const customer = (await createPerson(server, { role: 'customer', account })).call;
  const operator = (await createPerson(server, { role: 'operator' })).call;
  for (const which of [undefined, 'web'] as const) {
    const document = await describeApp(which);
    for (const [path, methods] of Object.entries(document.paths)) {
      const own = path.startsWith('/api/account') ? customer : operator;
      collect(document, path, methods, which === 'web' ? (own as Call) : program);
    }
  }
});
afterAll(() => server.stop());

const isNumber = ({ type, anyOf = [] }: JsonSchema): boolean => type === 'integer' || anyOf.some(isNumber);

function collect({ components }: OpenApi, path: string, methods: OpenApi['paths'][string], call: Call): void {
  const resolve = (schema: JsonSchema) =>
    schema.$ref === undefined ? schema : components.schemas[schema.$ref.split('/').at(-1)!]!;
  // The ids in paths need not exist, because requests are checked before rows are read.
  const ids: Record<string, string> = {
    environment: 'production',
    position: '0',
    source: 'en',
    target: 'es',
  };
  const at = path.replace(/\{(\w+)\}/g, (_, name) => ids[name] ?? '0197a5b0-0000-7000-8000-000000000001');
  for (const [method, operation] of Object.entries(methods)) {
    const { operationId, requestBody, parameters = [] } = operation!;
    const common = { name: operationId, path: at, call };
    if (requestBody !== undefined && operationId !== AFTER_JOB) {
      const { properties = {}, required = [] } = resolve(requestBody.content['application/json']!.schema);
      const fields = Object.entries(properties).map(
        ([name, schema]) => [name, isNumber(resolve(schema)) ? 'wrong' : 7] as const,
      );
      const send: Call = (_, path, body) => call(method.toUpperCase(), path, body);
      bodies.push({ ...common, call: send, fields: new Map(fields), required });
    }
    const asked = parameters.filter((parameter) => parameter.in === 'query');
    if (asked.length > 0 && !OWN_QUERY.includes(operationId)) {
      const send: Call = (_, path) => call(method.toUpperCase(), path);
      const required = asked.filter((one) => one.required).map(({ name }) => name);
      // NUL makes every parameter invalid: even a parameter that allows any text refuses texts that cannot be
      // stored.
      queries.push({
        ...common,
        call: send,
        fields: new Map(asked.map(({ name }) => [name, 'wrong\0'])),
        required,
      });
    }
  }
}

/** Returns the names of the fields that an error reports. */
function namedIn(body: { error: string | { message: string } }): string[] {
  const message = typeof body.error === 'string' ? body.error : body.error.message;
  return message.split('\n').map((line) => line.split(':')[0]!);
}

/** Generates an operation and a subset of its fields, which are sent with invalid values. */
const planted = (operations: readonly Operation[]) =>
  fc.constantFrom(...operations).chain((operation) =>
    fc.record({
      operation: fc.constant(operation),
      wrong: fc.subarray([...operation.fields.keys()]),
    }),
  );

/** The field `formality`, the older name of `tone`, is ignored when the request has a `tone`. */
const isRead = (name: string, wrong: readonly string[]) => name !== 'formality' || !wrong.includes('tone');

function expected({ required }: Operation, wrong: readonly string[]): string[] {
  const missing = required.filter((name) => !wrong.includes(name));
  return [...wrong.filter((name) => isRead(name, wrong)), ...missing].sort();
}

describe('every operation', () => {
  it('with a body or a query is covered by this test', () => {
    expect(bodies.length).toBeGreaterThan(50);
    expect(queries.length).toBeGreaterThan(15);
  });

  it('names exactly the invalid and missing fields of a body', async () => {
    for (const operation of bodies) await expectNamed(operation, [...operation.fields.keys()]);
    await fc.assert(
      fc.asyncProperty(planted(bodies), ({ operation, wrong }) => expectNamed(operation, wrong)),
    );
  });

  it('names exactly the invalid and missing query parameters', async () => {
    for (const operation of queries) await expectNamed(operation, [...operation.fields.keys()], true);
    await fc.assert(
      fc.asyncProperty(planted(queries), ({ operation, wrong }) => expectNamed(operation, wrong, true)),
    );
  });

  async function expectNamed(operation: Operation, wrong: readonly string[], inAddress = false) {
    const names = expected(operation, wrong);
    // A request without invalid fields would be carried out, so it is not sent.
    if (names.length === 0) return;
    const given = wrong.map((name) => [name, operation.fields.get(name)] as [string, string]);
    const answer = inAddress
      ? await operation.call('GET', `${operation.path}?${new URLSearchParams(given)}`)
      : await operation.call('POST', operation.path, Object.fromEntries(given));
    expect([answer.status, operation.name, answer.text]).toEqual([400, operation.name, answer.text]);
    expect([operation.name, namedIn(answer.body).sort()]).toEqual([operation.name, names]);
  }
});

describe('createReader', () => {
  const refusal = (read: (given: unknown) => unknown, given: unknown) => {
    try {
      return { value: read(given) };
    } catch (error) {
      if (error instanceof ApiError) return (error.more as { fields: Record<string, string> }).fields;
      throw error;
    }
  };

  it('treats null as absent, ignores unknown fields and sets defaults of required fields', () => {
    const read = createReader(
      Type.Object({
        size: Type.Integer({ default: 50 }),
        note: Type.Optional(Type.String()),
        end: Type.Optional(Type.Union([Type.String(), Type.Null()])),
      }),
    );
    expect(read({ note: null, end: null, other: 1 })).toEqual({ size: 50, end: null });
    expect(read(undefined)).toEqual({ size: 50 });
  });

  it('removes surrounding white space before it checks lengths', () => {
    const read = createReader(
      Type.Object({ name: Type.String({ minLength: 1, maxLength: 3, 'x-trim': true }) }),
    );
    expect(read({ name: ' abc\n' })).toEqual({ name: 'abc' });
    expect(refusal(read, { name: '  ' })).toEqual({ name: 'must be a text of 1 to 3 characters.' });
    expect(refusal(read, { name: 'a\0' })).toHaveProperty('name');
  });

  it('reads integers and booleans from text in path and query parameters, but not in bodies', () => {
    const schema = Type.Object({ limit: Type.Integer({ minimum: 1, maximum: 9 }), all: Type.Boolean() });
    const given = { limit: '7', all: 'true' };
    expect(createReader(schema, { fromText: true })(given)).toEqual({ limit: 7, all: true });
    expect(Object.keys(refusal(createReader(schema), given))).toEqual(['limit', 'all']);
    const wrong = refusal(createReader(schema, { fromText: true }), { limit: '1e0', all: '1' });
    expect(Object.keys(wrong)).toEqual(['limit', 'all']);
  });

  it('reports only the invalid fields inside a nullable value, and accepts digits as a field name', () => {
    const settings = Type.Object({ tone: Type.Enum(['Formal']) });
    const read = createReader(
      Type.Object({
        one: Type.Union([settings, Type.Null()]),
        all: Type.Record(Type.String(), Type.Union([settings, Type.Null()])),
      }),
    );
    const why = '"x" is not one of Formal.';
    expect(refusal(read, { one: { tone: 'x' }, all: { 0: { tone: 'x' }, es: null } })).toEqual({
      'one.tone': why,
      'all.0.tone': why,
    });
    expect(refusal(read, { one: 5, all: { es: 5 } })).toEqual({
      one: 'must be a JSON object.',
      'all.es': 'must be a JSON object.',
    });
  });

  it('keeps only the fields of the matching member of a union', () => {
    const one = Type.Union([
      Type.Object({ text: Type.String() }),
      Type.Object({ keep: Type.Integer(), text: Type.String() }),
    ]);
    const read = createReader(Type.Object({ pieces: Type.Array(one, { 'x-fault': 'must be pieces.' }) }));
    const pieces = [
      { text: 'a', more: 1 },
      { keep: 1, text: 'b' },
    ];
    expect(read({ pieces })).toEqual({ pieces: [{ text: 'a' }, { keep: 1, text: 'b' }] });
    expect(read({ pieces: [{ keep: 'x', text: 'a' }] })).toEqual({ pieces: [{ text: 'a' }] });
    for (const wrong of [[{ bold: 1 }], [{ text: 'a\0' }], [{ keep: 1, text: 'a\0' }], 'a']) {
      expect(refusal(read, { pieces: wrong })).toEqual({ pieces: 'must be pieces.' });
    }
  });

  it('returns the error messages of wrong formats and patterns, and refuses forbidden fields', () => {
    const read = createReader(
      Type.Object(
        {
          at: Type.Optional(Type.String({ format: 'moment' })),
          id: Type.Optional(Type.String({ format: 'uuid' })),
          even: Type.Optional(
            Type.String({
              format: defineFormat('even', (text) => (text.length % 2 ? 'is odd.' : undefined)),
            }),
          ),
          digits: Type.Optional(Type.String({ pattern: explainPattern('^\\d+$', 'must be digits.') })),
        },
        { additionalProperties: false },
      ),
    );
    for (const at of ['2027-01-31', '2027-01-31T12:00:00Z', '2027-01-31T12:00+01:00']) {
      expect(read({ at, even: 'ab', digits: '1' })).toEqual({ at, even: 'ab', digits: '1' });
    }
    expect(refusal(read, { at: '2027-13-31', id: 'x', even: 'a', digits: 'a', other: 1 })).toEqual({
      at: 'must be a date such as 2027-01-31 or 2027-01-31T12:00:00Z.',
      id: 'must be an id.',
      even: 'is odd.',
      digits: 'must be digits.',
      other: 'cannot be changed here.',
    });
    for (const at of ['2027-02-29', '2026-02-31T10:00Z', '2027-04-31']) {
      expect(refusal(read, { at })).toHaveProperty('at', expect.stringContaining('date'));
    }
    expect(refusal(read, { at: 5 })).toHaveProperty('at', expect.stringContaining('date'));
  });
});
