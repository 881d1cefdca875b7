/** Tests that answers have only the fields that their schemas name. */
import fastify from 'fastify';
import Type, { type TSchema } from 'typebox';
import { describe, expect, it } from 'vitest';
import { createLog } from '../base/log.ts';
import { answerErrors, type Operation, resource } from './http.ts';
import { describeInterface } from './openapi.ts';
import { answer, emptyAnswer } from './schemas.ts';

const Row = Type.Object({
  name: Type.String(),
  created_at: Type.String({ format: 'date-time' }),
  ended_at: Type.Union([Type.String({ format: 'date-time' }), Type.Null()]),
  note: Type.Optional(Type.String()),
  kind: Type.Optional(Type.Enum(['a', 'b'])),
  rule: Type.Optional(Type.Union([Type.String(), Type.Null()])),
});
const row = { name: 'one', created_at: new Date(0), ended_at: null, note: 'a note', rule: 'r' };
const AT = '1970-01-01T00:00:00.000Z';

/** Returns what a client gets from an operation that describes these answers, and what is logged. */
async function request(response: object | undefined, handler: Operation['handler']) {
  const app = fastify();
  const lines: string[] = [];
  answerErrors(app, createLog('error', { write: (line) => void lines.push(line) }));
  describeInterface(app, {});
  void app.register(async (root) =>
    resource(root, '/api/rows', { GET: response ? { schema: { response }, handler } : handler }),
  );
  const { statusCode: status, body } = await app.inject('/api/rows');
  await app.close();
  return { status, body, logged: lines.join('') };
}

/** Returns the body that a client gets when a handler returns `given`. */
async function send(schema: TSchema, given: unknown): Promise<string> {
  return (await request({ 200: answer('Rows.', schema) }, async () => given)).body;
}

describe('an answer', () => {
  it('has the columns of a row that its schema names, and times as ISO texts', async () => {
    const sent = `{"name":"one","created_at":"${AT}","ended_at":null,"note":"a note","rule":"r"}`;
    expect(await send(Row, row)).toBe(sent);
    expect(await send(Row, { password_hash: 'secret', ...row, part: 7 })).toBe(sent);
  });

  it('leaves out optional fields that are null, unless the schema allows null', async () => {
    const sent = `{"name":"one","created_at":"${AT}","ended_at":null,"rule":null}`;
    expect(await send(Row, { ...row, note: null, kind: null, rule: null })).toBe(sent);
  });

  it('has only described fields in lists, in fields that are objects, and in fields that may be null', async () => {
    const Item = Type.Object({ id: Type.Integer() });
    const Lists = Type.Object({ items: Type.Array(Item), last: Type.Union([Item, Type.Null()]) });
    const one = { id: 1, secret: 's' };
    expect(await send(Lists, { items: [one, one], last: one, more: one })).toBe(
      '{"items":[{"id":1},{"id":1}],"last":{"id":1}}',
    );
    expect(await send(Lists, { items: [], last: null })).toBe('{"items":[],"last":null}');
    expect(await send(Type.Array(Item), [one])).toBe('[{"id":1}]');
  });

  it('keeps the fields of each form if it has one of several forms', async () => {
    const Forms = Type.Union([
      Type.Object({ kind: Type.Literal('a'), price: Type.Integer() }),
      Type.Object({ kind: Type.Literal('b'), origin: Type.String() }),
    ]);
    expect(await send(Forms, { origin: 'api', kind: 'b', secret: 's' })).toBe('{"origin":"api","kind":"b"}');
  });

  it.each<[string, Operation['handler']]>([
    ['another status', async (_, reply) => reply.code(202).send(row)],
    ['another media type', async (_, reply) => reply.type('application/problem+json').send(row)],
    ['a body where none is described', async (_, reply) => reply.code(201).send(row)],
  ])('is refused if it is not described: %s', async (_, handler) => {
    const described = { 200: answer('Rows.', Row), 201: emptyAnswer('Nothing.') };
    const { status, body, logged } = await request(described, handler);
    expect({ status, body: JSON.parse(body) }).toEqual({
      status: 500,
      body: { error: 'Server error; the request can be sent again.' },
    });
    expect(logged).toContain('refuseUndescribed');
  });

  it('need not be described if it has no body, is an error, or its operation describes none', async () => {
    const described = { 200: answer('Rows.', Row) };
    expect(await request(described, async (_, reply) => reply.code(204).send())).toMatchObject({
      status: 204,
    });
    const error = await request(described, async (_, reply) => reply.code(409).send({ error: 'no' }));
    expect(error).toMatchObject({ status: 409, body: '{"error":"no"}' });
    const free = await request(undefined, async () => ({ a: 1 }));
    expect(free).toMatchObject({ status: 200, body: '{"a":1}' });
  });

  it('keeps all fields of an object whose names the schema leaves open', async () => {
    const Open = Type.Object({
      codes: Type.Record(Type.String(), Type.String()),
      detail: Type.Object({}, { additionalProperties: true }),
    });
    const given = { codes: { a: 'b' }, detail: { c: 1 } };
    expect(await send(Open, given)).toBe(JSON.stringify(given));
  });
});
