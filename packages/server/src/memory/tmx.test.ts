import { describe, expect, it } from 'vitest';
import { readTmx, type TmxUnit } from './tmx.ts';

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

describe('a memory in TMX', () => {
  it('gives its entries with their languages, codes by kind and order', async () => {
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

  it.each([
    ['is another format', '<html/>', 'The first element is html, not tmx. (line 1)'],
    ['is broken', tmx('<tu><tuv xml:lang="en"></tu>'), /^This is not well-formed XML: .*\(line 4\)$/],
    ['ends early', '<tmx version="1.4">', /^This is not well-formed XML: .*\(line 1\)$/],
    ['is empty', '', 'The file is empty. (line 1)'],
    [
      'has a variant without a language',
      tmx('<tu><tuv><seg>x</seg></tuv></tu>'),
      'A tuv has no language. (line 4)',
    ],
    ['brings entities', '<!DOCTYPE tmx [<!ENTITY a "b">]><tmx/>', /declarations of its own/],
    ['is nested too deeply', tmx('<a>'.repeat(100)), /nested too deeply. \(line 4\)/],
    [
      'has a segment that is none',
      tmx(`<tu><tuv lang="en"><seg>${'x'.repeat(20_000)}</seg></tuv></tu>`),
      /longer than 10000/,
    ],
  ])('that %s is refused with the line', async (_what, text, sentence) => {
    await expect(read(text, 100_000)).rejects.toThrow(sentence);
  });
});
