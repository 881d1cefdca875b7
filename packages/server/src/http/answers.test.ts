/** Tests that answers have only the fields that their schemas name. */
import fastify from 'fastify';
import Type, { type TSchema } from 'typebox';
import { describe, expect, it } from 'vitest';
import { resource } from './http.ts';
import { describeInterface } from './openapi.ts';
import { answer } from './schemas.ts';

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

/** Returns the body that a client gets when a handler returns `given`. */
async function send(schema: TSchema, given: unknown): Promise<string> {
  const app = fastify();
  describeInterface(app, {});
  void app.register(async (root) =>
    resource(root, '/api/rows', {
      GET: { schema: { response: { 200: answer('Rows.', schema) } }, handler: async () => given },
    }),
  );
  const { body } = await app.inject('/api/rows');
  await app.close();
  return body;
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

  it('keeps all fields of an object whose names the schema leaves open', async () => {
    const Open = Type.Object({
      codes: Type.Record(Type.String(), Type.String()),
      detail: Type.Object({}, { additionalProperties: true }),
    });
    const given = { codes: { a: 'b' }, detail: { c: 1 } };
    expect(await send(Open, given)).toBe(JSON.stringify(given));
  });
});
