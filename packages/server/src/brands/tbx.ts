/**
 * Reads and writes a glossary as a termbase (TBX, ISO 30042).
 *
 * The reader accepts version 2 (`martif`, `termEntry`, `langSet`, `tig` or `ntig`) and version 3 (`tbx`,
 * `conceptEntry`, `langSec`, `termSec`). Data categories may be attributes (DCA: `<termNote
 * type="administrativeStatus">`) or elements (DCT: `<min:administrativeStatus>`).
 *
 * The writer produces version 3, TBX-Basic, DCA. TBX-Basic has no categories for `case_sensitive` and
 * `do_not_translate`. If they are true, they are written as `x-caseSensitive` and `x-doNotTranslate`, which
 * other programs ignore.
 */
import type { Term } from '@dragoman/engines';
import { SaxesParser, type SaxesTagPlain } from 'saxes';
import { createTurns, inSlices } from '../base/turns.ts';
import { BrandError, throwFaults, toLanguage } from './brand.ts';
import { createFaults, createTermCheck, MAX_TERMS, type WrittenTerm } from './terms.ts';

/**
 * The maximum number of term pairs in a file. It is twice the maximum of a glossary, because pairs may
 * repeat.
 */
const MAX_PAIRS = 2 * MAX_TERMS;

export interface ReadTbx {
  terms: Term[];
  /** The source language as the file spells it. */
  from: string;
  /** The number of concepts that lack terms in one of the two languages. */
  skipped: number;
}

/**
 * Reads the terms for one target language. The termbase may have any number of languages.
 * @param file the name of the file, for the message
 * @param into the target language
 * @param from the source language; may be undefined if the file has only one possible source language
 * @throws BrandError with the line of the fault
 */
export async function readTbx(
  file: string,
  text: string,
  into: string,
  from: string | undefined,
): Promise<ReadTbx> {
  const { language: main, concepts } = await readConcepts(file, text);
  const languages = [
    ...new Set(concepts.flatMap(({ sections }) => sections.map(({ language }) => language))),
  ];
  const source = from ?? sourceAmong(file, languages, into, main);
  const faults = createFaults();
  const check = createTermCheck(faults);
  const turn = createTurns();
  let pairs = 0;
  let skipped = 0;
  for (const concept of concepts) {
    const before = pairs;
    for (const term of termsOf(concept, source, into)) {
      // The maximum number of pairs is needed because synonyms multiply: a concept with 1,000 terms in each
      // language has a million pairs.
      if (++pairs > MAX_PAIRS) {
        throw new BrandError(
          `${file}: line ${concept.line}: the file has more than ${MAX_PAIRS} pairs up to here.`,
        );
      }
      check.add(term);
      await turn(1);
    }
    if (pairs === before) skipped++;
  }
  if (pairs === 0) {
    const having = languages.sort().join(', ') || 'no language';
    throw new BrandError(`${file}: has no terms from ${source} into ${into}; it has ${having}.`);
  }
  const terms = check.terms();
  throwFaults(file, faults);
  return { terms, from: source, skipped };
}

/**
 * Returns the main language of the file. If the file names no main language, returns its only language other
 * than the target.
 */
function sourceAmong(
  file: string,
  languages: readonly string[],
  into: string,
  main: string | undefined,
): string {
  if (main !== undefined && main !== into && languages.includes(main)) return main;
  const others = languages.filter((language) => !isRelated(language, into)).sort();
  const related = others.filter((language) => main !== undefined && isRelated(language, main));
  const [only, ...more] = related.length > 0 ? related : others;
  if (only === undefined || more.length > 0) {
    const having = others.length === 0 ? 'no language' : others.join(', ');
    throw new BrandError(`${file}: has ${having} apart from ${into}; name the source language with --from.`);
  }
  return only;
}

/**
 * Returns whether one language is the other or a variant of it. `pt` and `pt-br` are related, `pt-pt` and
 * `pt-br` are not.
 */
function isRelated(one: string, other: string): boolean {
  return one === other || one.startsWith(`${other}-`) || other.startsWith(`${one}-`);
}

interface Concept {
  line: number;
  note: string;
  sections: LanguageSection[];
}

interface LanguageSection {
  language: string;
  note: string;
  terms: TermSection[];
}

interface TermSection {
  line: number;
  text: string;
  note: string;
  /** The value of each data category of the term. */
  properties: Map<string, string>;
}

/** Yields every source term of a concept with every target term. */
function* termsOf({ sections, note }: Concept, from: string, into: string): Generator<WrittenTerm> {
  const sources = nearest(sections, from);
  const others = sections.filter((section) => !sources.includes(section));
  const targets = flatten(nearest(others, into));
  for (const source of flatten(sources)) {
    for (const target of targets) {
      const isSet = (category: string) =>
        [target, source].some(({ properties }) => properties.get(category)?.toLowerCase() === 'true');
      yield {
        where: `line ${target.line}`,
        term: {
          source: source.text,
          target: target.text,
          caseSensitive: isSet('x-caseSensitive'),
          forbidden: isForbidden(target),
          doNotTranslate: isSet('x-doNotTranslate'),
          note: [...target.notes, ...source.notes, note].find((one) => one.trim() !== '') ?? '',
        },
      };
    }
  }
}

/** Returns the terms of all sections with their notes. The note of the term itself comes first. */
function flatten(sections: readonly LanguageSection[]): (TermSection & { notes: string[] })[] {
  return sections.flatMap(({ terms, note }) => terms.map((term) => ({ ...term, notes: [term.note, note] })));
}

/**
 * Returns the sections of a language. If there are none, returns the sections of related languages, such as
 * `es-ES` and `es-MX` for `es`.
 */
function nearest(sections: readonly LanguageSection[], wanted: string): LanguageSection[] {
  const own = sections.filter(({ language }) => language === wanted);
  return own.length > 0 ? own : sections.filter(({ language }) => isRelated(language, wanted));
}

const STATUS_CATEGORIES = ['administrativeStatus', 'normativeAuthorization'];
/** The values that forbid a term in TBX-Basic and TBX-Default. The last two values are those of TBX-Min. */
const FORBIDDEN_STATUS = /^(deprecatedTerm|supersededTerm|notRecommended|obsolete)/;

function isForbidden({ properties }: TermSection): boolean {
  return STATUS_CATEGORIES.some((category) => FORBIDDEN_STATUS.test(properties.get(category) ?? ''));
}

const ROOTS = ['martif', 'tbx'];
const CONCEPTS = ['termEntry', 'conceptEntry'];
const LANGUAGE_SECTIONS = ['langSet', 'langSec'];
const TERM_SECTIONS = ['tig', 'ntig', 'termSec'];
/** The elements whose notes are read. Notes of other elements are about authors and sources. */
const NOTED = [...CONCEPTS, ...LANGUAGE_SECTIONS, ...TERM_SECTIONS, 'termGrp'];
/** The maximum length of the text of an element. A note may have 2,000 characters. */
const MAX_TEXT = 100_000;
/** The maximum depth of nested elements. Termbases have a depth of about 10. */
const MAX_DEPTH = 50;

/** The element whose text is being read, including the text of inner elements. */
interface Reading {
  depth: number;
  line: number;
  text: string;
  keep(text: string, line: number): void;
}

/** Reads the concepts of a file. Languages are converted to shortnames. */
async function readConcepts(
  file: string,
  text: string,
): Promise<{ language: string | undefined; concepts: Concept[] }> {
  const parser = new SaxesParser({ xmlns: false, position: true });
  const refuse = (reason: string): never => {
    throw new BrandError(`${file}: line ${parser.line}: ${reason}`);
  };
  const concepts: Concept[] = [];
  /** The local names of the open elements. */
  const path: string[] = [];
  let main: string | undefined;
  let concept: Concept | undefined;
  let section: LanguageSection | undefined;
  let term: TermSection | undefined;
  let reading: Reading | undefined;

  /** Returns a function that stores the text of an element, or undefined when the element is irrelevant. */
  function keeperOf(name: string, tag: SaxesTagPlain): Reading['keep'] | undefined {
    const [to, within] = [term, term ?? section ?? concept];
    if (name === 'note' && within !== undefined && NOTED.includes(path.at(-2) ?? '')) {
      return (written) => {
        within.note = within.note === '' ? written : `${within.note}\n${written}`;
      };
    }
    if (to === undefined) return undefined;
    if (name === 'term') {
      return (written, line) => {
        to.text = written;
        to.line = line;
      };
    }
    const category = name === 'termNote' ? tag.attributes.type : name;
    if (category === undefined || !(STATUS_CATEGORIES.includes(category) || category.startsWith('x-'))) {
      return undefined;
    }
    return (written) => void to.properties.set(category, written.trim());
  }

  function open(tag: SaxesTagPlain): void {
    const name = localName(tag.name);
    if (path.push(name) > MAX_DEPTH) refuse(`elements are nested more than ${MAX_DEPTH} deep.`);
    if (path.length === 1) {
      if (!ROOTS.includes(name)) refuse(`is not TBX: its root is "${name}", not ${ROOTS.join(' or ')}.`);
      main = toLanguage(tag.attributes['xml:lang'] ?? '');
    }
    if (reading !== undefined) return;
    if (CONCEPTS.includes(name)) concept = { line: parser.line, note: '', sections: [] };
    else if (LANGUAGE_SECTIONS.includes(name) && concept !== undefined) {
      const written = tag.attributes['xml:lang'] ?? tag.attributes.lang ?? '';
      const language = toLanguage(written) ?? refuse(`${name} has no language in xml:lang.`);
      section = { language, note: '', terms: [] };
    } else if (TERM_SECTIONS.includes(name) && section !== undefined) {
      term = { line: parser.line, text: '', note: '', properties: new Map() };
    }
    const keep = keeperOf(name, tag);
    if (keep !== undefined) reading = { depth: path.length, line: parser.line, text: '', keep };
  }

  function close(name: string): void {
    if (reading?.depth === path.length) {
      reading.keep(reading.text, reading.line);
      reading = undefined;
    } else if (reading === undefined) {
      if (TERM_SECTIONS.includes(name) && term !== undefined) {
        section?.terms.push(term);
        term = undefined;
      } else if (LANGUAGE_SECTIONS.includes(name) && section !== undefined) {
        concept?.sections.push(section);
        section = undefined;
      } else if (CONCEPTS.includes(name) && concept !== undefined) {
        concepts.push(concept);
        concept = undefined;
      }
    }
    path.pop();
  }

  const gather = (piece: string) => {
    if (reading === undefined) return;
    reading.text += piece;
    // Work on a longer text would keep other requests waiting.
    if (reading.text.length > MAX_TEXT) refuse(`a text has more than ${MAX_TEXT} characters.`);
  };
  parser.on('error', ({ message }) => refuse(`is not well-formed XML: ${message.replace(/^\d+:\d+: /, '')}`));
  // External entities are never read. Internal entities are refused, because the parser would drop them
  // silently.
  parser.on('doctype', (doctype) => {
    if (doctype.includes('<!ENTITY')) refuse('the document type must not declare entities.');
  });
  parser.on('opentag', open);
  parser.on('closetag', ({ name }) => close(localName(name)));
  parser.on('text', gather);
  parser.on('cdata', gather);
  for await (const slice of inSlices(text)) parser.write(slice);
  parser.close();
  return { language: main, concepts };
}

function localName(name: string): string {
  return name.slice(name.indexOf(':') + 1);
}

/**
 * Writes a glossary as a termbase. Consecutive terms with the same source become one concept.
 * @param from the source language; `und` if it is unknown
 */
export function writeTbx(terms: readonly Term[], from: string, into: string): string {
  const concepts: Term[][] = [];
  for (const term of terms) {
    const last = concepts.at(-1);
    if (last?.[0]?.source === term.source) last.push(term);
    else concepts.push([term]);
  }
  const entries = concepts.map((concept, index) =>
    [
      `      <conceptEntry id="c${index + 1}">`,
      `        <langSec xml:lang="${from}">`,
      `          <termSec><term>${escaped(concept[0]!.source)}</term></termSec>`,
      '        </langSec>',
      `        <langSec xml:lang="${into}">`,
      ...concept.map(writeTerm),
      '        </langSec>',
      '      </conceptEntry>',
    ].join('\n'),
  );
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<tbx type="TBX-Basic" style="dca" xml:lang="${from}" xmlns="urn:iso:std:iso:30042:ed-2">`,
    '  <tbxHeader><fileDesc><sourceDesc><p>A glossary, exported by Dragoman.</p></sourceDesc></fileDesc></tbxHeader>',
    '  <text>',
    '    <body>',
    ...entries,
    '    </body>',
    '  </text>',
    '</tbx>',
    '',
  ].join('\n');
}

function writeTerm(term: Term): string {
  const notes = [
    ...(term.forbidden ? [['administrativeStatus', 'deprecatedTerm-admn-sts']] : []),
    ...(term.caseSensitive ? [['x-caseSensitive', 'true']] : []),
    ...(term.doNotTranslate ? [['x-doNotTranslate', 'true']] : []),
  ].map(([type, value]) => `<termNote type="${type}">${value}</termNote>`);
  const note = term.note === undefined ? '' : `<note>${escaped(term.note)}</note>`;
  const target = escaped(term.doNotTranslate ? term.source : term.target);
  return `          <termSec><term>${target}</term>${notes.join('')}${note}</termSec>`;
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
