/**
 * `npm run prove -- text --sentences FOLDER` compares the sentences that the service finds with those of message catalogs
 * (`LL/LC_MESSAGES/*.mo`, as all systems with GNU gettext have them). A message of one sentence is one sentence in each
 * translation, so nobody has to say where sentences end.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Figure } from '../../bench/figures.ts';
import { scan } from '../../packages/documents/src/documents.ts';
import { segmentUnit } from '../../packages/documents/src/segments/segmentation.ts';

/** The languages of the table, as the catalogs name them. */
const LANGUAGES = ['ja', 'zh_CN', 'th', 'ar', 'hi', 'de', 'fr', 'es', 'ru', 'en', 'pt_BR', 'pl', 'it', 'cs'];
const MOST = 1_000;
const A_PARAGRAPH = 5;
const MOST_PRINTED = 20;

/** Thai has no mark at the end of a sentence. */
const END = /[.!?。！？．؟।۔]["'”’»)」』]*$/u;
/** What ends a sentence, or is where translators divide one. */
const INNER_END = /[.!?…]["'”’»)]*\s+(?![a-z])|[;<]|%0|: /u;
const IS_SENTENCE = /^["'“‘(]?\p{Lu}.{18,}[^.\s][.!?]$/u;

/** Returns the messages of a catalog, each with its translation. Messages with plural forms are left out. */
export function readCatalog(bytes: Buffer): [source: string, target: string][] {
  const isLittle = bytes.readUInt32LE(0) === 0x950412de;
  const read = (at: number) => (isLittle ? bytes.readUInt32LE(at) : bytes.readUInt32BE(at));
  const [count, sources, targets] = [read(8), read(12), read(16)];
  const textAt = (at: number) => bytes.toString('utf8', read(at + 4), read(at + 4) + read(at));
  const messages: [string, string][] = [];
  for (let index = 0; index < count; index += 1) {
    const source = textAt(sources + 8 * index)
      .split('\u0004')
      .at(-1)!;
    if (!source.includes('\0')) messages.push([source, textAt(targets + 8 * index)]);
  }
  return messages;
}

/** Returns distinct sentences of a language from all catalogs below a folder, evenly from all of them. */
function readSentences(folder: string, language: string, most: number): string[] {
  const isEnglish = language === 'en';
  const catalogs = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.mo') && path.includes(`${isEnglish ? 'de' : language}/LC_MESSAGES/`))
    .sort()
    .map((path) => readCatalog(readFileSync(join(folder, path))).filter(isOneSentence));
  const found = new Set<string>();
  for (let at = 0; catalogs.some((catalog) => at < catalog.length); at += 1) {
    for (const catalog of catalogs) {
      const message = catalog[at];
      if (message) found.add(message[isEnglish ? 0 : 1]);
      if (found.size >= most) return [...found];
    }
  }
  return [...found];

  function isOneSentence([source, target]: [string, string]): boolean {
    const isSource = IS_SENTENCE.test(source) && !INNER_END.test(source);
    const isTarget = isEnglish || (target !== source && (language === 'th' || END.test(target)));
    return isSource && isTarget && !/\n|\ufffd|^\p{Ll}/u.test(target);
  }
}

export interface SentenceFaults {
  /** Sentences that are not exactly one segment. */
  wrong: number;
  /** Ends of sentences inside a segment. */
  missed: string[];
  /** Ends of segments inside a sentence. */
  false: string[];
}

/** Compares the segments of one paragraph with the sentences that it was joined from. */
export function faultsOf(sentences: readonly string[], language: string): SentenceFaults {
  const space = /^(?:ja|zh)/.test(language) ? '' : ' ';
  const document = scan(sentences.join(space), 'text');
  const cuts = document.units.flatMap((unit) => segmentUnit(document, unit, language).cuts);
  const faults: SentenceFaults = { wrong: 0, missed: [], false: [] };
  let start = 0;
  for (const sentence of sentences) {
    const end = start + sentence.length;
    const own = cuts.filter((cut) => cut.start < end && cut.end > start);
    const isMissed = own.some((cut) => cut.end > end + space.length);
    if (isMissed) faults.missed.push(document.text.slice(Math.max(0, end - 30), end + 30));
    if (own.length > 1) {
      faults.false.push(own.map((cut) => document.text.slice(cut.start, cut.end)).join(' ¦ '));
    }
    if (isMissed || own.length !== 1 || own[0]!.start < start) faults.wrong += 1;
    start = end + space.length;
  }
  return faults;
}

export function proveSentences(folder: string, say: (line: string) => void): Figure[] {
  return LANGUAGES.map((language): Figure => {
    const sentences = readSentences(folder, language, MOST);
    const faults: SentenceFaults = { wrong: 0, missed: [], false: [] };
    for (let at = 0; at < sentences.length; at += A_PARAGRAPH) {
      const found = faultsOf(sentences.slice(at, at + A_PARAGRAPH), language.replace('_', '-'));
      faults.wrong += found.wrong;
      faults.missed.push(...found.missed);
      faults.false.push(...found.false);
    }
    for (const text of faults.missed.slice(0, MOST_PRINTED)) say(`${language}, missed: ${text}`);
    for (const text of faults.false.slice(0, MOST_PRINTED)) say(`${language}, false: ${text}`);
    return {
      name: `text, ${language}: wrong sentences of ${sentences.length}`,
      value: faults.wrong,
      unit: `(${faults.missed.length} ends missed, ${faults.false.length} sentences divided)`,
    };
  });
}
