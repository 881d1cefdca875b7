import type { Piece } from '@dragoman/documents';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readTmx, type TmxEntry, type TmxUnit, writeTmx } from './tmx.ts';

async function* inChunks(text: string, size: number): AsyncGenerator<string> {
  for (let start = 0; start < text.length; start += size) yield text.slice(start, start + size);
}

async function read(text: string, size = 7): Promise<TmxUnit[]> {
  const units: TmxUnit[] = [];
  for await (const unit of readTmx(inChunks(text, size))) units.push(unit);
  return units;
}

const tmx = (body: string) => `<?xml version="1.0"?>
<!DOCTYPE tmx SYSTEM "tmx14.dtd">
<tmx version="1.4"><header srclang="en"/><body>
${body}
</body></tmx>`;

describe('reading TMX', () => {
  it('returns entries with languages, and codes by kind and order', async () => {
    const text = tmx(`<tu tuid="1"><note>x</note>
<tuv xml:lang="EN-US"><prop type="a">b</prop><seg> Say <bpt i="1">&lt;b&gt;</bpt>yes &amp; no<ept i="1">&lt;/b&gt;</ept><ph>{1}</ph> <hi>now</hi>.</seg></tuv>
<tuv lang="es"><seg>Di<![CDATA[ <sí>]]></seg></tuv></tu>
<tu><tuv xml:lang="en"><seg/></tuv></tu>`);
    for (const size of [1, 7, 100_000]) {
      expect(await read(text, size)).toEqual([
        {
          line: 4,
          variants: [
            {
              language: 'en-us',
              pieces: [
                { text: 'Say ' },
                { open: 1 },
                { text: 'yes & no' },
                { close: 1 },
                { single: 2 },
                { text: ' ' },
                { open: 3 },
                { text: 'now' },
                { close: 3 },
                { text: '.' },
              ],
            },
            { language: 'es', pieces: [{ text: 'Di <sí>' }] },
          ],
        },
        { line: 7, variants: [{ language: 'en', pieces: [] }] },
      ]);
    }
  });

  it('returns protected words with their visible text, and the tone of the unit', async () => {
    const kept = (x: number, text: string) => `<ph x="${x}" type="x-kept">${text}</ph>`;
    const text = tmx(`<tu><prop type="x-tone">Formal</prop><prop type="x-other">b</prop>
<tuv xml:lang="en"><seg>${kept(7, ' a &amp;<sub>b</sub>')} or ${kept(8, '')}<ph x="8">c</ph></seg></tuv>
<tuv xml:lang="es"><seg>${kept(8, '')} o ${kept(7, ' a &amp;b')}</seg></tuv></tu>`);
    for (const size of [1, 100_000]) {
      const [unit] = await read(text, size);
      expect(unit!.tone).toBe('Formal');
      expect(unit!.variants.map(({ pieces }) => pieces)).toEqual([
        [{ keep: 1, text: ' a &b' }, { text: ' or ' }, { keep: 2, text: '' }, { single: 3 }],
        [{ keep: 2, text: '' }, { text: ' o ' }, { keep: 1, text: ' a &b' }],
      ]);
    }
  });

  it.each([
    [
      'has a protected word that is too long',
      tmx(`<tu><tuv lang="en"><seg><ph type="x-kept">${'x'.repeat(20_000)}</ph></seg></tuv></tu>`),
      /longer than 10000/,
    ],
    ['is another format', '<html/>', 'The first element is html, not tmx. (line 1)'],
    ['is broken', tmx('<tu><tuv xml:lang="en"></tu>'), /^This is not well-formed XML: .*\(line 4\)$/],
    ['ends early', '<tmx version="1.4">', /^This is not well-formed XML: .*\(line 1\)$/],
    ['is empty', '', 'The file is empty. (line 1)'],
    [
      'has a variant without a language',
      tmx('<tu><tuv><seg>x</seg></tuv></tu>'),
      'A tuv has no language. (line 4)',
    ],
    ['declares entities', '<!DOCTYPE tmx [<!ENTITY a "b">]><tmx/>', /declarations of its own/],
    ['is nested too deeply', tmx('<a>'.repeat(100)), /nested too deeply. \(line 4\)/],
    [
      'has a segment that is too long',
      tmx(`<tu><tuv lang="en"><seg>${'x'.repeat(20_000)}</seg></tuv></tu>`),
      /longer than 10000/,
    ],
  ])('reports an error with its line when a file %s', async (_what, text, sentence) => {
    await expect(read(text, 100_000)).rejects.toThrow(sentence);
  });
});

const segment = fc
  .array(
    fc.oneof(
      fc.string({ unit: 'binary', minLength: 1 }).map((text): Piece[] => [{ text }]),
      fc.constant<Piece[]>([{ single: 0 }]),
      fc.string({ minLength: 1 }).map((text): Piece[] => [{ open: 0 }, { text }, { close: 0 }]),
    ),
    { minLength: 1, maxLength: 6 },
  )
  .map((parts) => {
    let number = 0;
    return parts.flatMap((pieces) => {
      if (!('text' in pieces[0]!)) number++;
      return pieces.map(
        (piece): Piece =>
          'open' in piece
            ? { open: number }
            : 'close' in piece
              ? { close: number }
              : 'single' in piece
                ? { single: number }
                : piece,
      );
    });
  });

/** Removes characters that XML cannot contain, and white space at the edges. */
function asExported(pieces: readonly Piece[]): Piece[] {
  const out: Piece[] = [];
  for (const piece of pieces) {
    const last = out.at(-1);
    const text =
      'text' in piece ? piece.text.toWellFormed().replaceAll(/[\0-\x08\v\f\x0e-\x1f\ufffe\uffff]/g, '') : '';
    if ('text' in piece && last !== undefined && 'text' in last) last.text += text;
    else if (!('text' in piece)) out.push({ ...piece });
    else if (text !== '') out.push({ text });
  }
  const [first, last] = [out[0], out.at(-1)];
  if (first !== undefined && 'text' in first) first.text = first.text.trimStart();
  if (last !== undefined && 'text' in last) last.text = last.text.trimEnd();
  return out.filter((piece) => !('text' in piece) || piece.text !== '');
}

describe('writing TMX', () => {
  const entry = { id: 'a<b', createdAt: new Date(0), changedAt: new Date(1e12), properties: { brand: '"&' } };
  async function* listed(entries: TmxEntry[]) {
    yield* entries;
  }
  async function written(entries: TmxEntry[]): Promise<string> {
    let text = '';
    for await (const chunk of writeTmx(listed(entries), 'en')) text += chunk;
    return text;
  }

  it('preserves entries when they are read again, even if the target has its codes in another order', async () => {
    await fc.assert(
      fc.asyncProperty(segment, fc.integer({ min: 1, max: 5 }), async (source, turn) => {
        // Builds a target with the same parts in reverse order; each code keeps its number.
        const parts: Piece[][] = [];
        for (const piece of source) {
          const last = parts.at(-1);
          if (last !== undefined && 'open' in last[0]! && !last.some((one) => 'close' in one))
            last.push(piece);
          else parts.push([piece]);
        }
        const target = [...parts.slice(turn % parts.length), ...parts.slice(0, turn % parts.length)].flat();
        const text = await written([{ ...entry, from: 'en', to: 'de', source, target }]);
        const [unit] = await read(text, 50);
        expect(unit!.variants).toEqual([
          { language: 'en', pieces: asExported(source) },
          { language: 'de', pieces: asExported(target) },
        ]);
      }),
    );
  });

  it('writes the attributes that the format requires', async () => {
    const source: Piece[] = [
      { text: 'a ' },
      { open: 1 },
      { text: '<b>' },
      { close: 1 },
      { single: 2 },
      { close: 9 },
      { keep: 1, text: '%s & {a}' },
    ];
    expect(await written([{ ...entry, from: 'en', to: 'pt-br', source, target: [{ text: 'x' }] }])).toBe(
      `<?xml version="1.0" encoding="UTF-8"?>
<tmx version="1.4">
<header creationtool="dragoman" creationtoolversion="1" segtype="sentence" o-tmf="dragoman" adminlang="en" srclang="en" datatype="plaintext"/>
<body>
<tu tuid="a&lt;b" srclang="en" creationdate="19700101T000000Z" changedate="20010909T014640Z">
<prop type="x-brand">&quot;&amp;</prop>
<tuv xml:lang="en"><seg>a <bpt i="1" x="1"/>&lt;b&gt;<ept i="1"/><ph x="2"/><it pos="end" x="9"/><ph x="10" type="x-kept">%s &amp; {a}</ph></seg></tuv>
<tuv xml:lang="pt-br"><seg>x</seg></tuv>
</tu>
</body>
</tmx>
`,
    );
  });
});
