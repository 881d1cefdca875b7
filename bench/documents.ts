/**
 * `npm run bench -- documents` or `node bench/documents.ts` measures the speed of scanning and rebuilding documents.
 * The scanner is compared with the bare tokenizer of the format (saxes, parse5, a split at line ends) on the same
 * files. Scanner and tokenizer run in turn. Figures are medians of processor time, which other work on the machine
 * disturbs less than elapsed time.
 *
 * It also measures the peak memory for the largest permitted XLIFF, and how time grows with size.
 */
import { execFile } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { Tokenizer, TokenizerMode } from 'parse5';
import { SaxesParser } from 'saxes';
import {
  FORMATS,
  type Format,
  Limits,
  rebuild,
  scan,
  segments,
} from '../packages/documents/src/documents.ts';
import { type Figure, type Flags, formatFigure, median, type Report } from './figures.ts';

const MIB = 1024 * 1024;
const GOAL = 0.5;
const GROWTH = 2.2;
/** The approximate length of the text that the scanner and the tokenizer each process in a round. */
const ROUND = 4 * MIB;
const corpora = fileURLToPath(new URL('../../shared/corpora', import.meta.url));

type Raw = (text: string) => unknown;

const nothing = () => {};
const raw: Record<Format, { name: string; run: Raw }> = {
  text: { name: 'a split at line ends', run: (text) => text.split(/\r\n|\n|\r/) },
  srt: { name: 'a split at line ends', run: (text) => text.split(/\r*\n|\r/) },
  vtt: { name: 'a split at line ends', run: (text) => text.split(/\r\n|\n|\r/) },
  html: {
    name: "parse5's tokenizer",
    run(text) {
      const tokenizer: Tokenizer = new Tokenizer(
        { sourceCodeLocationInfo: true },
        {
          onStartTag({ tagName }) {
            if (tagName === 'script') tokenizer.state = TokenizerMode.SCRIPT_DATA;
            else if (tagName === 'style') tokenizer.state = TokenizerMode.RAWTEXT;
          },
          onEndTag: nothing,
          onComment: nothing,
          onDoctype: nothing,
          onEof: nothing,
          onCharacter: nothing,
          onNullCharacter: nothing,
          onWhitespaceCharacter: nothing,
        },
      );
      tokenizer.write(text, true);
    },
  },
  xliff: {
    name: 'saxes',
    run(text) {
      const parser = new SaxesParser({ xmlns: false });
      parser.on('opentag', nothing);
      parser.on('closetag', nothing);
      parser.on('text', nothing);
      parser.write(text).close();
    },
  },
};

export async function benchDocuments({ numbers }: Flags): Promise<Report> {
  if (!existsSync(corpora)) throw new Error('The folder shared/corpora is missing beside the repository.');
  const rounds = numbers.rounds ?? 7;
  const figures: Figure[] = [];
  for (const format of FORMATS) figures.push(...speed(format, rounds));
  figures.push(await memory());
  for (const format of FORMATS) figures.push(growth(format, rounds));
  return { figures };
}

/** Returns the sample files of a format. For plain text, these are the HTML files without their tags. */
function files(format: Format): string[] {
  if (format === 'text') return files('html').map((html) => html.replace(/<[^<>]*>/g, ''));
  return readdirSync(join(corpora, format))
    .filter((name) => /\.(html|srt|vtt|xlf|xliff|sdlxliff)$/.test(name))
    .map((name) => readFileSync(join(corpora, format, name), 'utf8'))
    .filter((text) => {
      try {
        scan(text, format);
        return true;
      } catch {
        return false;
      }
    });
}

function milliseconds(work: () => void): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

function speed(format: Format, rounds: number): Figure[] {
  const texts = files(format);
  const size = texts.reduce((sum, text) => sum + text.length, 0);
  const times = Math.max(1, Math.round(ROUND / size));
  const all = (work: (text: string) => void) =>
    milliseconds(() => {
      for (let i = 0; i < times; i += 1) for (const text of texts) work(text);
    });
  const sides = {
    raw: (text: string) => void raw[format].run(text),
    copy: (text: string) => void rebuild(scan(text, format), new Map(), 'xx'),
    whole: (text: string) => {
      const document = scan(text, format);
      // Every segment is changed, so that no segment is copied unchanged from the source.
      const changed = segments(document, 'en').map(
        ({ id, pieces }) => [id, [...pieces, { text: ' …' }]] as const,
      );
      rebuild(document, new Map(changed), 'xx');
    },
  };
  const found: Record<keyof typeof sides, number[]> = { raw: [], copy: [], whole: [] };
  for (let round = -1; round < rounds; round += 1) {
    for (const side of Object.keys(sides) as (keyof typeof sides)[]) {
      const time = all(sides[side]);
      if (round >= 0) found[side].push(time); // The first round is not measured: it warms the compiler.
    }
  }
  const rate = (side: keyof typeof sides) => (size * times) / 1e6 / (median(found[side]) / 1000);
  const against = raw[format].name;
  return [
    {
      name: `${format}, scan and rebuild`,
      value: rate('copy'),
      unit: 'MB/s',
      ratio: { value: rate('copy') / rate('raw'), against, atLeast: GOAL },
    },
    {
      name: `${format}, scan, cut into sentences, rebuild with every one changed`,
      value: rate('whole'),
      unit: 'MB/s',
      ratio: { value: rate('whole') / rate('raw'), against },
    },
  ];
}

/** Returns a document of about the given length in characters, made from the sample files of its format. */
function documentOf(format: Format, size: number): string {
  if (format !== 'xliff') {
    const text = files(format)
      .map((one) => one.replace(/^\ufeff/, ''))
      .join('\n');
    return text.repeat(Math.ceil(size / text.length)).slice(0, size);
  }
  const text = readFileSync(join(corpora, 'xliff', 'tolgee-larger.xlf'), 'utf8');
  const from = text.indexOf('<trans-unit');
  const to = text.lastIndexOf('</trans-unit>') + '</trans-unit>'.length;
  const body = text.slice(from, to);
  return (
    text.slice(0, from) + body.repeat(Math.floor((size - text.length) / body.length) + 1) + text.slice(to)
  );
}

/**
 * Measures how much more time a document takes when its size doubles: from 2.5 to 5 MiB, and from 5 to almost
 * 10 MiB. Returns the larger of the two ratios.
 */
function growth(format: Format, rounds: number): Figure {
  const sizes = [2.5, 5, 9.9].map((mib) => documentOf(format, Math.floor(mib * MIB * 0.98)));
  const times: number[][] = sizes.map(() => []);
  for (let round = -1; round < rounds; round += 1) {
    sizes.forEach((text, index) => {
      const time = milliseconds(() => void scan(text, format));
      if (round >= 0) times[index]!.push(time / text.length);
    });
  }
  // Times are compared per character, because the sizes do not double exactly.
  const [a, b, c] = times.map(median) as [number, number, number];
  const worst = 2 * Math.max(b / a, c / b);
  return {
    name: `${format}, time to scan twice as much, up to 10 MiB`,
    value: `${worst.toFixed(2)} times`,
    goal: `at most ${GROWTH}`,
    held: worst <= GROWTH,
  };
}

/** Measures the peak memory in a separate process. */
async function memory(): Promise<Figure> {
  const { stdout } = await promisify(execFile)(process.execPath, [fileURLToPath(import.meta.url), 'memory']);
  const { size, text, peak } = JSON.parse(stdout) as { size: number; text: number; peak: number };
  return {
    name: `peak memory for an XLIFF of ${(size / MIB).toFixed(1)} MiB, scanned, cut and rebuilt`,
    value: peak / MIB,
    unit: 'MiB',
    ratio: { value: peak / text, against: 'the process that only holds the text' },
  };
}

function measureMemory(): void {
  const text = documentOf('xliff', Limits.bytes * 0.99);
  const size = Buffer.byteLength(text);
  const before = process.resourceUsage().maxRSS * 1024;
  const document = scan(text, 'xliff');
  const changed = segments(document, 'en').map(
    ({ id, pieces }) => [id, [...pieces, { text: ' …' }]] as const,
  );
  rebuild(document, new Map(changed), 'cs');
  process.stdout.write(JSON.stringify({ size, text: before, peak: process.resourceUsage().maxRSS * 1024 }));
}

if (import.meta.main) {
  if (process.argv[2] === 'memory') measureMemory();
  else {
    const { figures } = await benchDocuments({ names: [], json: false, numbers: {}, words: {} });
    for (const figure of figures) process.stdout.write(`${formatFigure(figure)}\n`);
  }
}
