/** Tests of readings: which segments are indexed, and when two segments have the same reading. */
import { describe, expect, it } from 'vitest';
import { editNext, HUMAN, orderEdit, startEditing } from '../../testing/editors.ts';
import { waitForStatus } from '../../testing/harness.ts';
import { hashTarget } from './readings.ts';

const { owner, call, ann, brand } = await startEditing();
for (const [externalId, tone] of [
  ['kind', 'Informal'],
  ['stiff', 'Formal'],
] as const) {
  await brand(externalId, { languages: new Map([['es', { tone, instructions: undefined, terms: [] }]]) });
}

interface Reading {
  position: number;
  reading: string;
  context: string;
}

async function readingsOf(uid: string): Promise<Reading[]> {
  const { rows } = await owner.query(
    `select r.position, encode(r.reading, 'hex') as reading, r.context
       from readings r join jobs j using (part, account_id, job_id) where j.uid = $1 order by r.position`,
    [uid],
  );
  return rows;
}

describe('the readings of a human job', () => {
  it('are indexed for each segment that is translated, with its place in the text', async () => {
    const uid = await orderEdit(call, 'The house is big.\nПривет, мир, как дела.\nThe house is big.\n');
    const [first, later, ...others] = await readingsOf(uid);
    expect(others).toEqual([]);
    expect(first).toMatchObject({ position: 0, context: 'first' });
    expect(later).toMatchObject({ position: 2, context: 'later', reading: first!.reading });
    const [only] = await readingsOf(await orderEdit(call, 'The house is big.'));
    expect(only).toEqual({ position: 0, context: 'only', reading: first!.reading });
  });

  it('are equal when words and codes are equal, and different when the codes differ', async () => {
    const html = (text: string) =>
      orderEdit(call, text, { text_format: 'html' }).then(async (uid) => (await readingsOf(uid))[0]!.reading);
    const bold = await html('<p>The <b>house</b> is big.</p>');
    expect(await html('<p>The <em>house</em> is big.</p>')).toBe(bold);
    expect(await html('<p>The house is <b>big</b>.</p>')).not.toBe(bold);
    expect(await html('<p>The house is big.</p>')).not.toBe(bold);
  });

  it('are equal when only the addresses differ, and different when the variables differ', async () => {
    const reading = async (text: string) => (await readingsOf(await orderEdit(call, text)))[0]!.reading;
    const shop = await reading('See https://shop.example/a?b=1 or write to ann@shop.example.');
    expect(await reading('See www.example.org or write to bob@example.org.')).toBe(shop);
    expect(await reading('See {page} or write to bob@example.org.')).not.toBe(shop);
    const contact = await reading('Contact us: ann@shop.example');
    expect(await reading('Contact us: bob@example.org')).toBe(contact);
    expect(await reading('Contact us: https://shop.example')).not.toBe(contact);
    expect(await reading('Write {name}.')).not.toBe(await reading('Write {street}.'));
  });

  it('differ by brand, tone and language pair; a job without a tone has the tone of its brand', async () => {
    const reading = (fields: object) =>
      orderEdit(call, 'A garden.', fields).then(async (uid) => (await readingsOf(uid))[0]!.reading);
    const all = [
      await reading({}),
      await reading({ tone: 'Formal' }),
      await reading({ brand: 'kind' }),
      await reading({ brand: 'stiff' }),
      await reading({ brand: 'kind', tone: 'Formal' }),
    ];
    expect(new Set(all).size).toBe(all.length);
    expect(await reading({ brand: 'kind', tone: 'Informal' })).toBe(all[2]);
  });

  it('are deleted when the job is canceled or delivered', async () => {
    const canceled = await orderEdit(call, 'The tree is old.');
    expect(await readingsOf(canceled)).toHaveLength(1);
    expect((await call('DELETE', `${HUMAN}${canceled}/`)).status).toBe(200);
    expect(await readingsOf(canceled)).toEqual([]);
    const { rows } = await owner.query(
      `select t.task_id from tasks t join jobs j using (part, account_id, job_id)
        where t.status = 'open' and j.tone is null order by j.created_at limit 1`,
    );
    const task = await editNext(ann, rows[0].task_id);
    await waitForStatus(call, `${HUMAN}${task.job.uid}/`);
    expect(await readingsOf(task.job.uid)).toEqual([]);
  });
});

it('hashTarget returns the same hash for the same words when only addresses of the same kind differ', () => {
  const pieces = (text: string, address: string) => [{ text }, { keep: 1, text: address }];
  const hash = (text: string, address: string) =>
    hashTarget(pieces('See ', address), pieces(text, address)).toString('hex');
  expect(hash('Vea ', 'https://a.example')).toBe(hash('Vea ', 'www.b.example'));
  expect(hash('Vea ', 'https://a.example')).not.toBe(hash('Vea ', 'a@b.example'));
  expect(hash('Vea ', 'https://a.example')).not.toBe(hash('Mire ', 'https://a.example'));
  expect(hash('Vea ', '%@')).not.toBe(hash('Vea ', '%s'));
});

it('hashTarget returns the same hash for the same words when only the numbers of the codes differ', () => {
  const source = (n: number) => [{ text: 'The ' }, { open: n }, { text: 'house' }, { close: n }];
  const target = (n: number, text: string) => [{ text }, { open: n }, { text: 'casa' }, { close: n }];
  const hash = (n: number, text: string) => hashTarget(source(n), target(n, text)).toString('hex');
  expect(hash(1, 'La ')).toBe(hash(7, 'La  '));
  expect(hash(1, 'La ')).not.toBe(hash(1, 'Una '));
});
