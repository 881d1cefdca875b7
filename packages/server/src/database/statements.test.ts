import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
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

// The driver refuses a name that one connection has already prepared with a different text. Which connection of
// the pool serves a statement depends on timing, so a test with this fault fails only now and then.
describe('the statements that a test writes itself', () => {
  const repeated = (source: string) => {
    const texts = new Map<string, string>();
    return [...source.matchAll(/\bname: '(test\.[\w.]+)',\s*text: ?(`[^`]*`|'[^'\n]*'|"[^"\n]*"|\w+)/g)]
      .filter(([, name, text]) => (texts.get(name!) ?? text) !== texts.set(name!, text!).get(name!))
      .map(([, name]) => name);
  };

  it('have one text per name in each file', () => {
    const directory = join(import.meta.dirname, '..');
    const files = readdirSync(directory, { recursive: true, encoding: 'utf8' }).filter((file) =>
      file.endsWith('.ts'),
    );
    const found = files.flatMap((file) =>
      repeated(readFileSync(join(directory, file), 'utf8')).map((name) => `${file}: ${name}`),
    );
    expect(found).toEqual([]);
  });

  it('are found when a name has two texts', () => {
    const [one, two] = [
      "{ name: 'test.x', text: 'select 1' }",
      "{\n  name: 'test.x',\n  text: `select 2`,\n}",
    ];
    expect(repeated(`${one} ${two}`)).toEqual(['test.x']);
    expect(repeated(`${one} ${one}`)).toEqual([]);
  });
});
