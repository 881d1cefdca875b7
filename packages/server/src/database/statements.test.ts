import { describe, expect, it } from 'vitest';
import { columnsOf, positionalValues, statement } from './statements.ts';

describe('a statement with named parameters', () => {
  const made = statement('test.named', 'select :one::int, :two_names, :one');

  it('numbers its parameters in order of their first occurrence', () => {
    expect(made.text).toBe('select $1::int, $2, $1');
    expect(positionalValues(made, { two_names: null, one: 1, other: 3 })).toEqual([1, null]);
  });

  it('cannot run when a parameter has no value', () => {
    expect(() => positionalValues(made, { one: 1 })).toThrow('test.named: no value for :two_names');
  });

  it('leaves positional parameters unchanged', () => {
    const text = "select $1, ':not_a_parameter'";
    const numbered = statement('test.numbered', text);
    expect(numbered.text).toBe(text);
    expect(positionalValues(numbered, ['a', 'b'])).toEqual(['a', 'b']);
  });
});

it('columnsOf returns one array per column', () => {
  const rows = [{ id: 1 }, { id: 2 }];
  expect(columnsOf(rows, { id: (row) => row.id, twice: ({ id }) => 2 * id })).toEqual({
    id: [1, 2],
    twice: [2, 4],
  });
});
