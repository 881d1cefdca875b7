/** Replays a few generated conversations, and tests the reader of recorded edits, the generator and the goals. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { FULL } from '../../scripts/full.ts';
import { createRandom } from '../harness/random.ts';
import { shortRun, testJudgement } from '../harness/testing.ts';
import { readEdits } from './edits.ts';
import { generateEdits } from './generate.ts';
import { judge } from './judge.ts';
import { type ReplayedRow, type ReplayHistory, runReplay } from './run.ts';

const run = shortRun('replay');
const STATED = { rows: 120, clients: 1, editors: 6, repetition: 75, disagreement: 20 };

describe.runIf(FULL)('replay of recorded edits', () => {
  let history: ReplayHistory;
  beforeAll(async () => {
    const edits = generateEdits(createRandom(run.seed), STATED);
    const special = { editor: 'ann', client: 'client-1', tone: 'sincere' };
    edits.push(
      {
        ...special,
        source: 'Ask {name} & <b>wait</b>. Then call.',
        edit: 'Pregunte a {name} y <b>espere</b>.',
      },
      { ...special, source: 'Ask {name} for help.', edit: 'Pida ayuda.' },
      { ...special, source: '123', edit: '123' },
    );
    history = await runReplay({ ...run, edits, pair: { from: 'en', to: 'es' }, compared: 20 });
  });

  it('delivers every job with the recorded edits, or with the texts of votes where nobody opened a segment', () => {
    expect(history.undelivered).toBe(0);
    const generated = history.rows.filter(({ tone }) => tone !== 'sincere');
    expect(
      generated.some(({ byVote }) => byVote),
      `seed ${run.seed}`,
    ).toBe(true);
    for (const row of generated) {
      const sameReading = generated.filter(({ source, tone }) => source === row.source && tone === row.tone);
      const wanted = row.byVote ? sameReading.map(({ edit }) => edit) : [row.edit];
      expect(wanted).toContain(row.delivered);
      expect(row.byVote).toBe(row.confirmedAt === undefined);
    }
    expect(generated.every(({ chosen, words }) => chosen !== '' && words > 0)).toBe(true);
  });

  it('creates the later waves after the memory has learned from the earlier ones', () => {
    const [first, second, third] = [1, 2, 3].map((wave) => history.rows.filter((row) => row.wave === wave));
    expect(first!.every(({ memory, engine, chosen }) => memory === undefined && engine === chosen)).toBe(
      true,
    );
    for (const [earlier, later] of [
      [first!, second!],
      [second!, third!],
    ]) {
      const delivered = Math.max(...earlier!.map((row) => row.claimedAt));
      expect(Math.min(...later!.map((row) => row.draftedAt))).toBeGreaterThan(delivered);
    }
    for (const { memory, engine, chosen } of third!) {
      if (memory?.score === 100) expect([engine, chosen]).toEqual([undefined, memory.text]);
      else expect([engine, memory?.text]).toContain(chosen);
    }
    expect(third!.some(({ memory }) => memory?.score === 100)).toBe(true);
  });

  it('creates one segment for each source, and puts its codes at their places in the edit', () => {
    const [marked, lacking, ...others] = history.rows.filter(({ tone }) => tone === 'sincere');
    expect(others).toEqual([]);
    expect(marked!.delivered).toBe('Pregunte a {name} y espere.');
    // The edit lacks the name, so it cannot be confirmed.
    expect(lacking).toMatchObject({ delivered: lacking!.chosen });
    expect(history.refused).toBe(1);
  });

  it('measures confirmations with votes on and off, and finds the confirmed text in every waiting repeat', () => {
    expect(history.confirmations.on.length).toBeGreaterThan(0);
    expect(history.confirmations.off.length).toBeGreaterThanOrEqual(history.confirmations.on.length);
    const names = judge(history).map(({ name }) => name);
    expect(names).toContain('replay, waiting repeats that have the text within 2 s');
    expect(names).toContain('replay, a match of 100 %, changes of the memory alone');
  });
});

describe('generated edits', () => {
  const stated = { rows: 20_000, clients: 4, editors: 50, repetition: 55, disagreement: 31 };
  const edits = generateEdits(createRandom(1), stated);
  const readings = [
    ...Map.groupBy(edits, ({ client, tone, source }) => `${client} ${tone} ${source}`).values(),
  ];

  it('repeat sources at the given rate', () => {
    expect(edits).toHaveLength(stated.rows);
    expect(1 - readings.length / edits.length).toBeCloseTo(0.55, 1);
  });

  it('differ from the previous edit of the same source at the given rate', () => {
    const pairs = readings.flatMap((same) =>
      same.slice(1).map((one, index) => one.edit !== same[index]!.edit),
    );
    expect(pairs.filter(Boolean).length / pairs.length).toBeCloseTo(0.31, 1);
  });

  it('are the same for the same seed', () => {
    expect(generateEdits(createRandom(1), stated)).toEqual(edits);
    expect(generateEdits(createRandom(2), stated)).not.toEqual(edits);
  });

  it.each([
    ['there are no rows', { rows: 0 }, '--rows must be'],
    ['one editor cannot disagree', { editors: 1 }, '--editors must be'],
    ['the disagreement is too high', { disagreement: 80 }, '--disagreement must be'],
    ['there are too few sources', { rows: 20_000, repetition: 0 }, 'different sources'],
  ])('are refused when %s', (_, wrong, message) => {
    expect(() => generateEdits(createRandom(1), { ...stated, ...wrong })).toThrow(message);
  });
});

describe('a file of recorded edits', () => {
  mkdirSync(run.directory, { recursive: true });
  const write = (name: string, content: string | Buffer) => {
    const path = join(run.directory, name);
    writeFileSync(path, content);
    return path;
  };
  const edit = { source: 'Hi "you"', edit: 'Hola, tú', editor: '7', client: 'acme', tone: '' };

  it.each([
    ['a.csv', '\ufeffSource,edit,editor,client,tone,more\n"Hi ""you""","Hola, tú",7,acme,,x\n'],
    ['a.tsv', 'tone\tclient\teditor\tedit\tsource\r\n\tacme\t7\tHola, tú\tHi "you"\r\n'],
    ['a.jsonl', '{"source":"Hi \\"you\\"","edit":"Hola,\\n tú","editor":7,"client":"acme","tone":null}\n\n'],
  ])('is read from %s', async (name, content) => {
    expect(await readEdits(write(name, content))).toEqual([edit]);
  });

  it.each([
    [
      'a column is missing',
      'source,editor,client,tone\na,b,c,d\n',
      'line 1: the header row has no column edit',
    ],
    ['it is empty', '', 'line 1: is empty'],
    ['it has no rows', 'source,edit,editor,client,tone\n', 'line 1: is followed by no rows'],
    ['a cell is empty', 'source,edit,editor,client,tone\na,b,c,d,\n\na,,c,d,\n', 'line 4: edit: is empty'],
    ['a row is short', 'source,edit,editor,client,tone\na,b\n', 'line 2: has 2 cells; the header has 5'],
    ['a quote is not closed', 'source,edit,editor,client,tone\n"a,b,c,d,e\n', 'line 2: a quote is opened'],
    [
      'it is not UTF-8',
      Buffer.from('source,edit,editor,client,tone\na,b,c,d,e\nol\xe9,b,c,d,e\n', 'latin1'),
      'line 3: is not UTF-8',
    ],
    [
      'a line is not JSON',
      '{"source":"a","edit":"b","editor":"c","client":"d","tone":""}\n{',
      'line 2: is not',
    ],
    ['a field is missing', '{"source":"a","edit":"b","editor":"c","client":"d"}', 'line 1: tone: is missing'],
    [
      'a field is no text',
      '{"source":["a"],"edit":"b","editor":"c","client":"d","tone":""}',
      'line 1: source: is not a text',
    ],
  ])('is refused with the line of the fault when %s', async (_, content, message) => {
    await expect(readEdits(write('wrong', content))).rejects.toThrow(`wrong: ${message}`);
  });

  it('is refused when it does not exist', async () => {
    await expect(readEdits(join(run.directory, 'absent'))).rejects.toThrow('cannot be read');
  });
});

const confirmed = (row: Partial<ReplayedRow>): ReplayedRow => ({
  source: 'Thank you.',
  edit: 'Gracias.',
  editor: 'ann',
  client: 'acme',
  tone: '',
  uid: 'first',
  words: 2,
  wave: 1,
  draftedAt: 0,
  claimedAt: 0,
  confirmedAt: 100,
  filledAt: undefined,
  byVote: false,
  engine: 'Agradecer.',
  memory: undefined,
  chosen: 'Agradecer.',
  delivered: 'Gracias.',
  ...row,
});
const byVote = { byVote: true, confirmedAt: undefined, claimedAt: 9_000, filledAt: 300 };
const second = confirmed({
  uid: 'second',
  editor: 'bob',
  claimedAt: 5_000,
  confirmedAt: 6_000,
  filledAt: 200,
});
const third = confirmed({ uid: 'third', ...byVote });
const last = confirmed({ uid: 'last', ...byVote });
const exact = confirmed({
  uid: 'exact',
  ...byVote,
  wave: 3,
  draftedAt: 8_000,
  filledAt: undefined,
  engine: undefined,
  memory: { score: 100, text: 'Gracias.' },
  chosen: 'Gracias.',
});
const similar = confirmed({
  uid: 'similar',
  source: 'Thank you, Ann.',
  edit: 'Gracias, Ana.',
  delivered: 'Gracias, Ana.',
  wave: 3,
  engine: 'Agradecer, Ann.',
  memory: { score: 78, text: 'Gracias, Luis.' },
  chosen: 'Gracias, Luis.',
});
const good: ReplayHistory = {
  rows: [confirmed({}), second, third, last, exact, similar],
  confirmations: { on: [10, 10], off: [10, 10] },
  refused: 0,
  undelivered: 0,
  seconds: 1,
};

testJudgement(judge, good, [
  ['a waiting repeat never got its text', { rows: [...good.rows, { ...second, filledAt: undefined }] }],
  ['a waiting repeat got its text late', { rows: [...good.rows, { ...second, filledAt: 2_200 }] }],
  [
    'a repeat that was drafted later got its text late',
    { rows: [...good.rows, { ...last, draftedAt: 3_000, filledAt: 5_200 }] },
  ],
  [
    'the chosen drafts are worse than those of the engine',
    { rows: good.rows.map((row) => (row === similar ? { ...row, chosen: 'De nada, Luis.' } : row)) },
  ],
  ['no repeat was waiting', { rows: good.rows.map((row) => ({ ...row, claimedAt: 0 })) }],
  ['two unopened repeats differ', { rows: [...good.rows, { ...last, delivered: 'Muchas gracias.' }] }],
  [
    'unopened texts are worse than those of editors',
    {
      rows: good.rows.map((row) => (row.byVote ? { ...row, edit: 'Se lo agradezco.', editor: 'ann' } : row)),
    },
  ],
  ['confirmations are slower with votes', { confirmations: { on: [12, 12], off: [10, 10] } }],
  ['a job was not delivered', { undelivered: 1 }],
]);

it('says how often the text of the memory, of the engine and the chosen draft is nearest to the edit', () => {
  const other = { ...similar, source: 'Thanks, Ann.', engine: 'Gracias, Ana.' };
  const figures = judge({ ...good, rows: [...good.rows, other] });
  const values = (band: string) =>
    ['the memory', 'the engine', 'the chosen draft'].map(
      (text) =>
        figures.find(({ name }) => name === `replay, a match of ${band}, ${text} is nearest to the edit`)
          ?.value,
    );
  // The exact match is compared with the engine's draft of the same source in the first wave.
  expect(values('100 %')).toEqual([100, 0, 100]);
  expect(values('75 to 84 %')).toEqual([50, 50, 50]);
});
