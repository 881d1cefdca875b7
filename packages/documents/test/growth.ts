/**
 * Measures how the processing time of a document grows when its length doubles. About a hundred short texts (atoms)
 * are repeated in each position of each format, up to a length and up to twice that length. Linear work has a ratio
 * of 2, quadratic work a ratio of 4.
 *
 * `node packages/documents/test/growth.ts` prints a table of all atoms with their worst ratio.
 */

import {
  align,
  countRepeatedWords,
  countWords,
  DocumentError,
  describe,
  detectLanguage,
  type Format,
  rebuild,
  scan,
  segments,
} from '../src/documents.ts';
import { silent, translate, upperCasing } from './engines.ts';
import { xliff } from './helpers.ts';

/** A text to repeat, or a function that returns the n-th repetition. */
type Atom = string | ((index: number) => string);

const list = (names: string): string[] => names.split(' ');

const WHITE = {
  space: ' ',
  tab: '\t',
  'line feed': '\n',
  'carriage return': '\r',
  'CR LF': '\r\n',
  'CR CR LF': '\r\r\n',
  'vertical tab': '\v',
  'form feed': '\f',
  'no-break space': '\u00a0',
  'ideographic space': '\u3000',
  'byte order mark': '\ufeff',
  'next line U+0085': '\u0085',
  'line separator U+2028': '\u2028',
  'zero-width space': '\u200b',
  'thin space': '\u2009',
  'space, line feed': ' \n',
  'blank line': '\n\n',
};

const CHARACTERS = list(
  'a A é 7 0 . , ; : ! ? - – — _ / \\ | ( ) [ ] { } < > & # % $ @ ^ ~ * + = " \' ` « » “ ” … ¿ 中 の ก ا א д ß ﬁ 한',
);

const WORDS = {
  'a word': 'word ',
  'a sentence': 'The house is big. ',
  'sentences without letters': '1! ',
  'an abbreviation': 'Dr. ',
  initials: 'A. ',
  'a decimal': '1,5',
  'a thousand': '1 000 ',
  'closing quotes': '." ',
  'a control character': '\u0001',
  'unit separator': '\u001f',
  delete: '\u007f',
  'combining accent': '\u0301',
  'letter with accent': 'e\u0301',
  joiner: '\u200d',
  'right-to-left mark': '\u200f',
  'override mark': '\u202e',
  'soft hyphen': '\u00ad',
  'variation selector': '\ufe0f',
  emoji: '🙂',
  'emoji family': '👩‍👩‍👧',
  'flag half': '🇩',
  'skin tone': '👍🏽',
  'bold letter': '𝐛',
  'private use': '\ue000',
  'replacement character': '\ufffd',
  jamo: 'ᄀ',
  'Thai vowel': 'กำ',
  'numbered word': (index: number) => `w${index} `,
  'numbered sentence': (index: number) => `It is ${index}. `,
};

const VARIABLES = list(
  '{ {{ {{{ }} {a} {{a}} {% {%a%} %} <% %> <%a%> <? ?> %{a} #{a} %(a %(a)s %s %1$s %a% %% %.2f %@ ' +
    'http:// http://a. https://a.b/ www. www.a. www.a.! a@ a@b. a@b.c @ a.a. mailto: :name :a: !a -a- --a --a= #a ###a### ' +
    '[a [a] [/a] [a:b] [[a [a,b=c] *|a *|a|* %<a> %%[ %%[a]%% %%=a %#@ $a $a->b $t( @:a @a. @if( <@a <!a <# `a `a` `` C:\\a /a /a. ~/a ./ ' +
    "\\n \\' a_b _a aB A-1 A/B v1. a.txt a.txt/ .a 10am",
).concat(['{a, plural, one {', '{a , ', "{'", '{a, plural, one {b} other {c}} ', '\u0024{', '\u0024{a}']);

const MARKUP = list(
  '<a </ </a> <a> <b> <b></b> <br> <br/> <p> </p> <li> <td> <i>a <svg> <math> <script> <title> <textarea> <pre> ' +
    '<!-- --> <!--> <!---> <!-- a --> <!d> <![CDATA[ ]]> <![CDATA[a]]> &amp; &lt; &gt; &nbsp; &# &#x &#38; &a &amp &lt;b&gt; ' +
    '&amp;lt; &amp;amp; &lt;br&gt; &lt;/b&gt; &lt;!-- &#xFFFF; &#65534; &#xFDD0; &amp;#xFFFE; "> \'> /> =" =\' a= a="b" x:',
).concat([
  ' a="b"',
  ' a b',
  ' state=',
  ' state="needs-',
  '<a b="',
  "<a b='",
  '<b a="c">d</b> ',
  '<b translate="no">',
  '<b translate="yes">',
  '<b translate="no"><i translate="yes">',
  '<b class="notranslate" origval="v">',
  '<b class="notranslate" origval="v">a</b> b ',
  '<b class="notranslate"/>',
  '&lt;b class="notranslate" origval="v"&gt;a&lt;/b&gt; b ',
  '<![CDATA[<b class="notranslate" origval="v">a</b> b]]> ',
  '<img alt="The house &amp">',
]);

const XLIFF = [
  '<x id="1"/>',
  '<g id="1">',
  '<g id="1">a</g>',
  '<bx id="1"/>',
  '<bpt id="1">b</bpt>a<ept id="1">b</ept> ',
  '<ph id="1">a</ph>',
  '<ph id="1"><sub>a</sub></ph>',
  '<ph id="1"><sub>',
  '<it id="1" pos="open">b</it>',
  '<mrk mtype="seg">a</mrk> ',
  '<mrk mtype="protected">a</mrk> ',
  '<sub>',
  '<note>a</note>',
  '<target>a</target>',
  '<alt-trans>',
  '<?a b?>',
];

const SUBTITLES = [
  '--> ',
  '00:00:01,000 --> 00:00:02,000',
  '\n\n1\n00:00:01,000 --> 00:00:02,000\nThe house',
  '\n\n1\n00:00:01,000 --> 00:00:02,000\n7',
  '\n\n00:01.000 --> 00:02.000\nThe house',
  '<v.',
  '<lang es>',
  '\n7',
  '\n- ',
  '{\\an8}',
  '{\\',
  '<i>',
  '</i>',
  '<font ',
  '<i>a</i> ',
  '♪ ',
  'a\nb ',
];

const named = (atoms: readonly string[]): [string, Atom][] =>
  atoms.map((atom) => [JSON.stringify(atom), atom]);

/** All atoms (texts to repeat) by the names under which the table lists them. */
export const ATOMS: ReadonlyMap<string, Atom> = new Map<string, Atom>([
  ...Object.entries(WHITE),
  ...named(CHARACTERS),
  ...Object.entries(WORDS),
  ...named([...VARIABLES, ...MARKUP, ...XLIFF, ...SUBTITLES]),
  ['numbered attribute', (index) => ` a${index}="b"`],
  ['numbered tag', (index) => `<t${index}>`],
  ['numbered escaped tags', (index) => `&lt;t${index}&gt;a&lt;/t${index}&gt;`],
  ['numbered reference', (index) => `&#${index + 300};`],
  ['numbered variable', (index) => `{v${index}} `],
]);

interface Place {
  format: Format;
  name: string;
  /** Returns a document that contains the filler in this position, such as in an attribute or a paragraph. */
  around(filler: string): string;
}

const unit = (source: string, more = '') =>
  `<trans-unit id="1"><source>${source}</source>${more}</trans-unit>`;
const cue = '1\n00:00:01,000 --> 00:00:04,000\n';
const time = '00:01.000 --> 00:04.000\n';

export const PLACES: readonly Place[] = [
  { format: 'text', name: 'text', around: (filler) => `The house ${filler} is big.` },
  { format: 'html', name: 'paragraph', around: (filler) => `<p>The house ${filler} is big.</p><p>Yes.</p>` },
  { format: 'html', name: 'tag', around: (filler) => `<p>The <b${filler}>house</b> is big.</p>` },
  { format: 'html', name: 'attribute', around: (filler) => `<p>A <img alt="The house ${filler}">.</p>` },
  {
    format: 'html',
    name: 'kept element',
    around: (filler) => `<p>A <b class="notranslate" origval="v">${filler}</b> is big.</p>`,
  },
  { format: 'srt', name: 'cue', around: (filler) => `${cue}The house.${filler}Is it big?\n` },
  { format: 'srt', name: 'time line', around: (filler) => `${cue.trimEnd()}${filler}\nThe house\n` },
  { format: 'vtt', name: 'cue', around: (filler) => `WEBVTT\n\n${time}The house.${filler}Is it big?\n` },
  { format: 'vtt', name: 'time line', around: (filler) => `WEBVTT\n\n${time.trimEnd()}${filler}\nHouse\n` },
  { format: 'xliff', name: 'source', around: (filler) => xliff(unit(`The house ${filler} is big.`)) },
  {
    format: 'xliff',
    name: 'CDATA',
    around: (filler) => xliff(unit(`<![CDATA[The house ${filler} is big.]]>`)),
  },
  {
    format: 'xliff',
    name: 'native code',
    around: (filler) => xliff(unit(`The <ph id="1">${filler}</ph> house.`)),
  },
  {
    format: 'xliff',
    name: 'tag',
    around: (filler) => xliff(unit('House', `<target${filler} state="new"/>`)),
  },
  {
    format: 'xliff',
    name: 'element name',
    around: (filler) => xliff(`<trans-unit id="1"><${filler}:source>House</${filler}:source></trans-unit>`),
  },
  {
    format: 'xliff',
    name: 'attribute',
    around: (filler) => xliff(unit('The house', `<target state="${filler}"/>`)),
  },
  {
    format: 'xliff',
    name: 'between',
    around: (filler) =>
      xliff(`<trans-unit id="1"><source>House</source>${filler}<note>a</note></trans-unit>`),
  },
  { format: 'xliff', name: 'units', around: (filler) => xliff(`${filler}${unit('House')}`) },
];

/** Repeats an atom (a short text) up to a length, at least once. */
export function fill(atom: Atom, length: number): string {
  if (typeof atom === 'string') return atom.repeat(Math.max(1, Math.floor(length / atom.length)));
  let text = '';
  for (let index = 0; text.length < length; index += 1) text += atom(index);
  return text;
}

/** Calls all functions that the service uses for a document. */
export function handle(text: string, format: Format): void {
  try {
    const document = scan(text, format);
    const found = segments(document, 'en');
    countWords(document, 'en');
    countRepeatedWords(document, 'en', found);
    describe(document, 'en');
    detectLanguage(document, ['en', 'es', 'ru']);
    for (const engine of [silent, upperCasing]) rebuild(document, translate(document, 'en', engine), 'es');
    align(document, scan(text, format, { reads: 'target' }), 'en', 'es');
  } catch (error) {
    if (!(error instanceof DocumentError)) throw error;
  }
}

/** Returns the CPU time in milliseconds that this thread needs for `times` runs. */
function processorTime(work: () => void, times = 1): number {
  const before = process.threadCpuUsage();
  for (let run = 0; run < times; run += 1) work();
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1000;
}

/**
 * The shortest CPU time in milliseconds that counts. Some systems measure in steps of 4 ms, so shorter times are
 * unreliable.
 */
const ENOUGH = 48;
/**
 * The number of rounds. The minimum of all rounds counts, because garbage collection and shared caches affect the time.
 * Six rounds were once not enough on a fully busy machine: linear work had a ratio of 3.6.
 */
const ROUNDS = 20;

/** Returns the CPU time of one run in milliseconds. The work runs as often as needed to measure it. */
function timeOfOne(work: () => void): number {
  for (let times = 1; ; times *= 2) {
    const time = processorTime(work, times);
    if (time >= ENOUGH) return time / times;
  }
}

/** Returns, for a text of this length, the function whose time is measured. */
export type WorkOf = (length: number) => () => void;

/**
 * Returns how many times longer the work takes when the length doubles.
 *
 * @param most a ratio of at least this value is measured again
 * @param rounds how often it is measured at most
 */
export function ratioOf(workOf: WorkOf, length: number, most: number, rounds = ROUNDS): number {
  const [once, twice] = [workOf(length), workOf(2 * length)];
  let [one, two] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
  let ratio = most;
  for (let round = 0; round < rounds && ratio >= most; round += 1) {
    one = Math.min(one, timeOfOne(once));
    two = Math.min(two, timeOfOne(twice));
    ratio = two / one;
  }
  return ratio;
}

/**
 * An atom (a text to repeat) is measured in detail if its repetition to {@link GLANCE} characters takes
 * longer than this many milliseconds. Linear work mostly takes 1 to 5, quadratic work 30 to 300.
 */
const LITTLE = 20;
const GLANCE = 8_192;
/** The length for the detailed measurement, at which quadratic work dominates. */
const LENGTH = 16_384;

export interface Growth {
  atom: string;
  place: string;
  /** The time of the first, short measurement in milliseconds. */
  time: number;
  /** The result of {@link ratioOf}. Undefined if `time` is less than {@link LITTLE}: then no more is measured. */
  ratio: number | undefined;
  workOf: WorkOf;
}

/**
 * Measures the atoms in the places.
 * @param share white space is measured in every place; of the other atoms, each only in one place of this many. 1: in every
 * place
 */
export function* growths(most: number, share = 1): Generator<Growth> {
  for (const [index, [atom, text]] of [...ATOMS].entries()) {
    const isWhite = typeof text === 'string' && text.trim() === '';
    const places = PLACES.filter((_, place) => isWhite || (index + place) % share === 0);
    for (const { format, name, around } of places) {
      const workOf: WorkOf = (length) => {
        const filled = around(fill(text, length));
        return () => handle(filled, format);
      };
      const glance = workOf(GLANCE);
      let time = processorTime(glance);
      // The first run includes compilation, so the measurement is repeated.
      for (let run = 0; run < 3 && time >= LITTLE; run += 1) time = Math.min(time, processorTime(glance));
      const ratio = time < LITTLE ? undefined : ratioOf(workOf, LENGTH, most);
      yield { atom, place: `${format} ${name}`, time, ratio, workOf };
    }
  }
}

/** Prints each atom (text to repeat) with its slowest position and its largest ratio. */
function printTable(): void {
  for (const places of Map.groupBy(growths(3), ({ atom }) => atom).values()) {
    const slowest = places.reduce((one, other) => (other.time > one.time ? other : one));
    const measured = places.flatMap(({ place, ratio }) => (ratio === undefined ? [] : [{ place, ratio }]));
    if (slowest.ratio === undefined) {
      measured.push({ place: slowest.place, ratio: ratioOf(slowest.workOf, LENGTH, 3) });
    }
    const worst = measured.reduce((one, other) => (other.ratio > one.ratio ? other : one));
    console.log(`${worst.ratio.toFixed(2)}  ${slowest.atom}  (${worst.place})`);
  }
}

if (import.meta.main) printTable();
