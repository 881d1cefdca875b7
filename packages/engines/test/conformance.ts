/** Conformance tests, which every engine must pass. */

import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { Draft, Engine, Piece, Segment } from '../src/engine.ts';

// On a loaded machine, vitest's default timeout of 5 s is too short.
vi.setConfig({ testTimeout: 120_000 });

export interface Subject {
  make: () => Engine;
  /** The target language. The source language is English. */
  to: string;
}

export const textOf = (pieces: readonly Piece[]): string =>
  pieces.map((piece) => ('text' in piece ? piece.text : '')).join('');

export function translated(draft: Draft | undefined): Piece[] {
  if (draft?.status !== 'translated') throw new Error(`not translated: ${JSON.stringify(draft)}`);
  return draft.pieces;
}

/** Returns the codes of the pieces as sorted strings. */
export const codesOf = (pieces: readonly Piece[]): string[] =>
  pieces
    .flatMap((piece) => {
      if ('keep' in piece) return [`keep ${piece.keep} ${piece.text}`];
      return 'text' in piece ? [] : [JSON.stringify(piece)];
    })
    .sort();

/** Returns the first fault in the nesting of pairs, or null. */
export function nestingFault(pieces: readonly Piece[]): string | null {
  const open: number[] = [];
  for (const piece of pieces) {
    if ('open' in piece) open.push(piece.open);
    if ('close' in piece && open.pop() !== piece.close) return `${piece.close} closes what is not open`;
  }
  return open.length === 0 ? null : `${open.join()} stay open`;
}

const text = (text: string): Piece => ({ text });
const open = (open: number): Piece => ({ open });
const close = (close: number): Piece => ({ close });
const single = (single: number): Piece => ({ single });
const keep = (keep: number, text: string): Piece => ({ keep, text });

const CODES: Record<string, Piece[]> = {
  'one pair': [text('The '), open(1), text('big'), close(1), text(' house.')],
  nested: [
    text('The '),
    open(1),
    text('big '),
    open(2),
    text('red'),
    close(2),
    text(' house'),
    close(1),
    text('.'),
  ],
  'nested over the same words': [open(1), open(2), text('The house'), close(2), close(1), text(' is red.')],
  adjacent: [open(1), text('Red'), close(1), open(2), text('house'), close(2), open(3), text('s'), close(3)],
  'adjacent words': [text('A '), open(1), text('red'), close(1), text(' '), open(2), text('house'), close(2)],
  empty: [
    text('The '),
    open(1),
    close(1),
    text('house '),
    open(2),
    open(3),
    close(3),
    close(2),
    text('is red.'),
  ],
  'around white space': [text('The'), open(1), text(' '), close(1), text('house is red.')],
  'around punctuation': [text('The house is red'), open(1), text('!'), close(1)],
  'at both ends': [open(1), text('The'), close(1), text(' house is '), open(2), text('red'), close(2)],
  'around everything': [open(1), text('The house is red.'), close(1)],
  'across words': [text('The ho'), open(1), text('use is r'), close(1), text('ed.')],
  'inside a word': [text('An un'), open(1), text('believ'), close(1), text('able story.')],
  'with a lone half': [text('The house. '), open(1), text('The garden is red.')],
  'with the other half': [text('The house'), close(1), text(' is red.')],
  singles: [
    single(1),
    text('The'),
    single(2),
    text('house '),
    single(3),
    single(4),
    text('is red.'),
    single(5),
  ],
  'single in a pair': [open(1), single(2), text('The house'), single(3), close(1), text(' is red.')],
  'kept words': [
    keep(1, '{name}'),
    text(' sees the '),
    keep(2, 'https://a.example/c?d=e&f'),
    text(' in '),
    keep(3, '%1$s'),
  ],
  'kept words alone and together': [keep(1, 'a b'), keep(2, '[x]'), text(' house '), keep(3, '^')],
  'a kept word in a pair': [text('See '), open(1), keep(2, '{link}'), close(1), text(' now.')],
  'kept words beside letters': [text('the'), keep(1, '{0}'), text('5 houses '), keep(2, '{1}'), text('s.')],
  'twelve kept words': Array.from({ length: 12 }, (_, n) => [keep(n, `{${n}}`), text(' house ')]).flat(),
  'text that looks like a token': [text('Xqz0 and xqj1 see '), keep(1, '{a}'), text(' xqz0')],
};

/** Texts with special characters. Each text must occur in the target as often as in the source, at any position. */
const HOSTILE = [
  ...'\\[]{}^$/@<>*#~&|%_=+"()«»…—–€£©™§°±×•·',
  '[]',
  '[[',
  ']]',
  '[[/]]',
  '[[t:b:0]]',
  '[{0}]',
  '[@0]',
  '^a<n>$',
  '\\0',
  '\\n',
  '$1',
  '`',
  '\t',
  '\n',
  '\r\n',
  '  ',
  '\u00a0',
  '\u2003',
  '\u2028',
  '\u0085',
  '\u0001',
  '\u007f',
  '\u200b',
  '\u200d',
  '\u200e',
  '\u200f',
  '\u202e',
  '\ufeff',
  '😀',
  '👩‍👩‍👧‍👦',
  '🇪🇸',
  '❤️',
  '漢字',
  'ع',
  'ש',
  'ก',
  '𝒳',
  '\u{10ffff}',
  '\ufffd',
];

const place = (hostile: string): string[] => [
  `${hostile}The house is red`,
  `The house is red${hostile}`,
  `The ho${hostile}use is red.`,
  `The ${hostile} house is red.`,
  `The house,${hostile}the garden.`,
];

export function conformance(name: string, subject: Subject): void {
  describe(name, () => {
    let engine: Engine;
    const draft = (segments: Segment[], to = subject.to): Promise<Draft[]> =>
      engine.draft({ from: 'en', to, segments, lane: 'bulk' });
    const one = async (...pieces: Piece[]): Promise<Piece[]> =>
      translated((await draft([{ id: 'a', pieces }]))[0]);

    beforeAll(() => {
      engine = subject.make();
    });
    afterAll(() => engine.stop());

    testTranslation(draft, one);
    testFidelity(draft, one);
    testRequests(subject, () => engine, draft, one);
  });
}

type DraftBatch = (segments: Segment[], to?: string) => Promise<Draft[]>;
type DraftOne = (...pieces: Piece[]) => Promise<Piece[]>;

function testTranslation(draft: DraftBatch, one: DraftOne): void {
  test('returns a translation and its route', async () => {
    const [result] = await draft([{ id: 'a', pieces: [text('The big house is red.')] }]);
    expect(textOf(translated(result))).not.toBe('The big house is red.');
    expect(result).toMatchObject({ id: 'a', route: expect.stringMatching(/^[a-z]+:/) });
  });

  test('returns one draft per segment, in order', async () => {
    const segments = Array.from({ length: 100 }, (_, n) => ({
      id: `s${n}`,
      pieces: [text(`House ${n} is red.`)],
    }));
    const drafts = await draft(segments);
    expect(drafts.map(({ id }) => id)).toEqual(segments.map(({ id }) => id));
    expect(drafts.map((each, n) => textOf(translated(each)).includes(String(n)))).not.toContain(false);
  });

  test.each(Object.entries(CODES))('keeps codes: %s', async (_, pieces) => {
    const target = await one(...pieces);
    expect(codesOf(target)).toEqual(codesOf(pieces));
    if (nestingFault(pieces) === null) expect(nestingFault(target)).toBeNull();
  });

  test('does not modify its input', async () => {
    const pieces = [open(1), text('The '), text('house '), close(1), text('is red. '), keep(2, 'x')];
    const before = structuredClone(pieces);
    await one(...pieces);
    expect(pieces).toEqual(before);
  });

  test.each(['', ' ', '\n', '\r\n\t ', '\u00a0'])('returns white space %j unchanged', async (blank) => {
    expect(textOf(await one(text(blank)))).toBe(blank);
  });

  test('returns no pieces for an empty segment', async () => {
    expect(await one()).toEqual([]);
  });

  test.each(['12.50', '😀', '👩‍👩‍👧‍👦 ❤️', '—', '?!', '^$[]'])(
    'returns %j, which has no letters, unchanged',
    async (source) => {
      expect(textOf(await one(text(source)))).toBe(source);
    },
  );
}

function testFidelity(draft: DraftBatch, one: DraftOne): void {
  test.each([' House ', '\tHouse\r\n', '\n\n  House', 'House.  '])(
    'keeps white space at the edges of %j',
    async (source) => {
      const target = textOf(await one(text(source)));
      expect(target.slice(0, target.length - target.trimStart().length)).toBe(/^\s*/.exec(source)![0]);
      expect(target.slice(target.trimEnd().length)).toBe(/\s*$/.exec(source)![0]);
    },
  );

  test('keeps right-to-left text and its marks', async () => {
    const target = textOf(await one(text('The word \u2067שלום\u2069 and \u200fمرحبا\u200f are here.')));
    for (const part of ['\u2067שלום\u2069', '\u200fمرحبا\u200f']) expect(target).toContain(part);
  });

  test.each(HOSTILE)('keeps %j at any position', async (hostile) => {
    const sources = place(hostile);
    const drafts = await draft(sources.map((source, n) => ({ id: String(n), pieces: [text(source)] })));
    drafts.forEach((each, n) => {
      const target = textOf(translated(each));
      for (const part of wordless(hostile)) {
        expect([sources[n], target, count(target, part)]).toEqual([
          sources[n],
          target,
          count(sources[n]!, part),
        ]);
      }
    });
  });

  test('accepts NUL and lone surrogates', async () => {
    const target = textOf(await one(text('The ho\0use \ud800 is \udfff red.')));
    expect(target).not.toContain('\0');
    expect(target.isWellFormed()).toBe(true);
  });

  test('keeps the codes of each segment, for random texts', async () => {
    const word = fc.oneof(
      fc.constantFrom('house', 'The', 'red', 'unbelievable', 'is', '3.14', 'don’t', 'e-mail'),
      fc.constantFrom(...HOSTILE),
      fc.string({ unit: 'binary', maxLength: 6 }),
    );
    const words = fc.array(word, { minLength: 1, maxLength: 6 }).map((each) => text(each.join(' ')));
    const flat = fc.array(
      fc.oneof({ weight: 3, arbitrary: words }, fc.constantFrom(open(0), keep(0, '{x}'), single(0))),
      {
        minLength: 1,
        maxLength: 8,
      },
    );
    const segment = flat.map((pieces) => numbered(pieces));
    await fc.assert(
      fc.asyncProperty(fc.array(segment, { minLength: 1, maxLength: 8 }), async (batch) => {
        const drafts = await draft(
          batch.map((pieces, n) => ({
            id: `s${n}`,
            pieces: [...pieces, text(` Segment `), keep(1_000 + n, `{${n}}`)],
          })),
        );
        expect(drafts.map(({ id }) => id)).toEqual(batch.map((_, n) => `s${n}`));
        drafts.forEach((each, n) => {
          if (each.status === 'failed' && each.reason === 'garbled' && each.detail.includes('times as long'))
            return;
          const target = translated(each);
          expect(codesOf(target)).toEqual(codesOf([...batch[n]!, keep(1_000 + n, `{${n}}`)]));
          expect(nestingFault(target)).toBeNull();
        });
      }),
      { numRuns: 60 },
    );
  });
}

function testRequests(subject: Subject, engine: () => Engine, draft: DraftBatch, one: DraftOne): void {
  test('translates 10,000 characters and fails with more', async () => {
    const long = `${'The house is big. '.repeat(600).slice(0, 9_999)}.`;
    const [fits, over] = await draft([
      { id: 'fits', pieces: [text(long)] },
      { id: 'over', pieces: [text(`${long}.`)] },
    ]);
    expect(textOf(translated(fits)).length).toBeGreaterThan(5_000);
    expect(over).toMatchObject({ id: 'over', status: 'failed', reason: 'too long' });
  });

  test('translates one word of 10,000 characters', async () => {
    const word = 'a'.repeat(9_990);
    expect(textOf(await one(text(`The ${word}`))).toLowerCase()).toContain(word);
  });

  test('reports an unsupported direction', async () => {
    const drafts = await draft([{ id: 'a', pieces: [text('House')] }], 'xx');
    expect(drafts).toMatchObject([{ id: 'a', status: 'unsupported' }]);
  });

  test('rejects when aborted before or during the request', async () => {
    const request = { from: 'en', to: subject.to, lane: 'bulk' as const };
    const segments = Array.from({ length: 500 }, (_, n) => ({
      id: String(n),
      pieces: [text('The house.')],
    }));
    const late = AbortSignal.abort(new Error('too late'));
    await expect(engine().draft({ ...request, segments, signal: late })).rejects.toThrow('too late');
    const during = new AbortController();
    const work = engine().draft({ ...request, segments, signal: during.signal });
    during.abort(new Error('given up'));
    await expect(work).rejects.toThrow('given up');
    expect(textOf(await one(text('The house is red.')))).not.toBe('');
  });

  test('fails segments in flight when stopped and rejects later requests', async () => {
    const other = subject.make();
    const segments = Array.from({ length: 300 }, (_, n) => ({
      id: String(n),
      pieces: [text('The house.')],
    }));
    await other.draft({ from: 'en', to: subject.to, segments: segments.slice(0, 1), lane: 'interactive' });
    const work = other.draft({ from: 'en', to: subject.to, segments, lane: 'interactive' });
    await other.stop();
    for (const each of await work) {
      if (each.status !== 'translated') expect(each).toMatchObject({ status: 'failed', reason: 'stopped' });
    }
    await expect(other.draft({ from: 'en', to: subject.to, segments, lane: 'interactive' })).rejects.toThrow(
      'stopped',
    );
    expect(await other.health()).toMatchObject({ ok: false });
  });
}

const count = (text: string, part: string): number => text.split(part).length - 1;

/** Returns the characters of a hostile text that the target must also have. Letters and digits may be translated. */
const wordless = (hostile: string): string[] =>
  /[a-z\d]/.test(hostile) ? [...hostile.replace(/[a-z\d]/g, '')] : [hostile];

/** Numbers the codes, and inserts the closing code of each `open(0)` after the next piece. */
function numbered(pieces: readonly Piece[]): Piece[] {
  let next = 0;
  let closing: number[] = [];
  const out: Piece[] = [];
  for (const piece of pieces) {
    if ('open' in piece) {
      closing.unshift(next);
      out.push(open(next++));
      continue;
    }
    if ('keep' in piece) out.push(keep(next, `{${next++}}`));
    else if ('single' in piece) out.push(single(next++));
    else out.push(piece);
    out.push(...closing.map(close));
    closing = [];
  }
  return [...out, ...closing.map(close)];
}
