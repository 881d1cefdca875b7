/** Tests the forms of statements for one part, and how the values of a batch are split by part. */
import { describe, expect, it } from 'vitest';
import { AND_PART, onePart, splitByPart } from './one-part.ts';

describe('the form of one part', () => {
  it('compares each part of a table with the last parameter', () => {
    const text = `update jobs j set due_at = null
       from unnest($1::smallint[], $2::uuid[]) as g (part, id) join accounts a on a.part = g.part
      where j.part = g.part and j.job_id = g.id and j.status = $3`;
    expect(onePart(text)).toEqual({
      text: `update jobs j set due_at = null
       from unnest($1::smallint[], $2::uuid[]) as g (part, id) join accounts a on a.part = g.part and a.part = $4
      where j.part = g.part and j.part = $4 and j.job_id = g.id and j.status = $3`,
      split: { parts: 0, rows: [0, 1], named: true },
    });
  });

  it('compares a part where the plain form does nothing', () => {
    const text = `with ended as (delete from creations where creation_id = $2 ${AND_PART})
      select part from unnest($1::smallint[]) as g (part)`;
    expect(onePart(text)?.text).toContain('where creation_id = $2 and part = $3)');
  });

  it('has no further parameter if no part is compared', () => {
    const text = 'insert into jobs (part) select part from unnest($1::smallint[]) as g (part)';
    expect(onePart(text)).toEqual({ text, split: { parts: 0, rows: [0], named: false } });
  });

  it.each(['select 1 from jobs where part = $1', 'select 1 from unnest($1::uuid[]) as g (id)'])(
    'does not exist for %s',
    (text) => {
      expect(onePart(text)).toBeUndefined();
    },
  );
});

describe('the values of a batch', () => {
  it('are split by part in ascending order, and keep their order within a part', () => {
    const values = [[9, 2, 9], 'all', ['a', 'b', 'c']];
    expect(splitByPart(values, { parts: 0, rows: [0, 2], named: true })).toEqual([
      [[2], 'all', ['b'], 2],
      [[9, 9], 'all', ['a', 'c'], 9],
    ]);
  });

  it('get no part if the form has no parameter for it', () => {
    expect(splitByPart([[4], 'x'], { parts: 0, rows: [0], named: false })).toEqual([[[4], 'x']]);
  });

  it('are none if there are no rows', () => {
    expect(splitByPart([[], []], { parts: 0, rows: [0, 1], named: true })).toEqual([]);
  });
});
