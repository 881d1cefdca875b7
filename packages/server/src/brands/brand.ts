/** A brand and its JSON file. */
import { patternFaults } from '@dragoman/documents';
import type { Term } from '@dragoman/engines';
import { OperatorError } from '../base/errors.ts';
import { shorten } from '../http/input.ts';
import {
  checkTerms,
  createFaults,
  type Faults,
  isClean,
  isLonger,
  presentTerm,
  type WrittenTerm,
} from './terms.ts';
import { TONE_NAMES, type Tone } from './tones.ts';

/** The style of a brand in one target language. */
export interface BrandLanguage {
  tone: Tone['name'] | undefined;
  instructions: string | undefined;
  terms: readonly Term[];
}

export interface Brand {
  externalId: string;
  name: string;
  /**
   * What a human job delivers when its deadline passes before an editor finishes it. With `machine`, the job
   * delivers the machine draft free of charge. Without a fallback, the job waits for an editor.
   */
  fallback?: 'machine';
  /**
   * What a confirmed text does to waiting segments of other tasks and jobs with the same source. `off`: nothing.
   * `draft`: it becomes their draft. `confirm`: it becomes their draft, and they are confirmed once editors agree.
   */
  votes?: 'off' | 'confirm';
  /** Regular expressions of RE2. What they match in a text is not translated. Absent without any. */
  protect?: readonly string[];
  /** The style by target language. The keys are language codes, such as `pt-br`. */
  languages: ReadonlyMap<string, BrandLanguage>;
}

/**
 * The content of a brand file. If `default` is undefined, the default brand of the account does not change.
 */
export interface BrandFile extends Brand {
  default: boolean | undefined;
}

/** Invalid input about a brand. The message has one line for each fault. */
export class BrandError extends OperatorError {
  override name = 'BrandError';
  /** All faults of the file, without the file name. The message contains only the first faults. */
  readonly faults: readonly string[];

  constructor(message: string, faults: readonly string[] = []) {
    super(message);
    this.faults = faults;
  }
}

const MAX_NAME = 200;
const MAX_EXTERNAL_ID = 128;
const MAX_INSTRUCTIONS = 10_000;
const MAX_LANGUAGES = 200;
const MAX_FAULTS = 20;

const FIELDS = ['external_id', 'name', 'default', 'fallback', 'votes', 'protect', 'languages'];
/** The values of `votes`. The first is the default, for brands without the field. */
export const VOTE_RULES = ['draft', 'off', 'confirm'] as const;
export type VoteRule = (typeof VOTE_RULES)[number];
const LANGUAGE = /^[a-z]{2,3}(-[a-z0-9]{2,8}){0,3}$/;

/**
 * Normalises a language code: `pt-BR` and `pt_BR` become `pt-br`. Returns undefined if the text is not a
 * language code.
 */
export function toLanguage(written: string): string | undefined {
  const language = written.trim().toLowerCase().replaceAll('_', '-');
  return LANGUAGE.test(language) ? language : undefined;
}

/**
 * Returns the languages whose settings apply to a language, most specific first: for `pt-br`, first `pt-br`
 * and then `pt`.
 */
export function languagesFor(language: string): string[] {
  const parts = language.split('-');
  return parts.map((_, index) => parts.slice(0, parts.length - index).join('-'));
}

/** Throws a BrandError if a file has faults. Each line of its message starts with the file name. */
export function throwFaults(file: string, { lines }: Faults): void {
  if (lines.length === 0) return;
  const more = lines.length - MAX_FAULTS;
  const shown = lines.slice(0, MAX_FAULTS).map((line) => `${file}: ${line}`);
  if (more > 0) shown.push(`${file}: and ${more} more like these`);
  throw new BrandError(shown.join('\n'), lines);
}

/**
 * Parses and checks the text of a brand file.
 * @param file the name of the file, for the message
 * @throws BrandError with the place of every fault
 */
export function readBrandFile(file: string, text: string): BrandFile {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch (error) {
    throw new BrandError(`${file}: is not JSON: ${(error as Error).message}`);
  }
  return parseBrand(file, parsed);
}

/**
 * Checks the parsed content of a brand file.
 * @param file the name of the file, for the message
 * @throws BrandError with the place of every fault
 */
export function parseBrand(file: string, parsed: unknown): BrandFile {
  const faults = createFaults();
  const fields = readFields(parsed, 'the file', FIELDS, faults);
  const externalId = readString(fields, 'external_id', '', faults)?.trim() ?? '';
  if (!isExternalId(externalId)) {
    faults.add(
      'external_id',
      `is required: 1 to ${MAX_EXTERNAL_ID} characters, none of them a control character.`,
    );
  }
  const name = readString(fields, 'name', '', faults)?.trim() || externalId;
  if (isLonger(name, MAX_NAME) || /\p{Cc}/u.test(name)) {
    faults.add('name', `must be at most ${MAX_NAME} characters, none of them a control character.`);
  }
  const isDefault = readFlag(fields, 'default', '', faults);
  const fallback = readString(fields, 'fallback', '', faults) ?? 'wait';
  if (fallback !== 'wait' && fallback !== 'machine') faults.add('fallback', 'must be wait or machine.');
  const written = readString(fields, 'votes', '', faults) ?? 'draft';
  const votes = VOTE_RULES.find((rule) => rule === written);
  if (votes === undefined) faults.add('votes', 'must be off, draft or confirm.');
  const protect = readPatterns(fields.protect, faults);
  const languages = readLanguages(fields.languages, faults);
  throwFaults(file, faults);
  const common = {
    externalId,
    name,
    default: isDefault,
    languages,
    ...voteRule(votes!),
    ...protectBy(protect),
  };
  return fallback === 'machine' ? { ...common, fallback } : common;
}

/** Returns the field `votes` of a brand, which is absent for `draft`. */
export function voteRule(rule: VoteRule): Pick<Brand, 'votes'> {
  return rule === 'draft' ? {} : { votes: rule };
}

/** Returns the field `protect` of a brand, which is absent without patterns. */
export function protectBy(patterns: readonly string[]): Pick<Brand, 'protect'> {
  return patterns.length === 0 ? {} : { protect: patterns };
}

function readPatterns(value: unknown, faults: Faults): readonly string[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value) || !value.every((one) => typeof one === 'string')) {
    faults.add('protect', 'must be a list of regular expressions.');
    return [];
  }
  checkPatterns(value, faults);
  return value;
}

/** Adds the faults of patterns, with the place and the pattern. */
export function checkPatterns(patterns: readonly string[], faults: Faults): void {
  for (const { index, fault } of patternFaults(patterns)) {
    if (index < 0) faults.add('protect', fault);
    else faults.add(`protect[${index}]`, `"${shorten(patterns[index]!)}" ${fault}`);
  }
}

/**
 * Returns whether a value can be the external identifier of a brand. These identifiers appear in requests,
 * lists and error messages.
 */
export function isExternalId(value: string): boolean {
  return value !== '' && !isLonger(value, MAX_EXTERNAL_ID) && !/\p{Cc}/u.test(value);
}

function readLanguages(value: unknown, faults: Faults): Map<string, BrandLanguage> {
  const languages = new Map<string, BrandLanguage>();
  if (value === undefined || value === null) return languages;
  if (typeof value !== 'object' || Array.isArray(value)) {
    faults.add('languages', 'must be an object with a target language for each key.');
    return languages;
  }
  const entries = Object.entries(value);
  if (entries.length > MAX_LANGUAGES) {
    faults.add('languages', `a brand has at most ${MAX_LANGUAGES} languages.`);
    return languages;
  }
  for (const [written, settings] of entries) {
    const where = `languages.${shorten(written)}`;
    const language = toLanguage(written);
    if (language === undefined) faults.add(where, 'is not the shortname of a language, such as es or pt-br.');
    else if (languages.has(language)) faults.add(where, `is a duplicate of ${language}.`);
    else languages.set(language, readLanguage(settings, where, faults));
  }
  return languages;
}

function readLanguage(value: unknown, where: string, faults: Faults): BrandLanguage {
  const fields = readFields(value, where, ['tone', 'instructions', 'glossary'], faults);
  const written = readString(fields, 'tone', `${where}.`, faults);
  const tone = TONE_NAMES.find((name) => name === written);
  if (written !== undefined && tone === undefined) {
    faults.add(`${where}.tone`, `"${shorten(written)}" is not one of ${TONE_NAMES.join(', ')}.`);
  }
  const instructions = readString(fields, 'instructions', `${where}.`, faults)?.trim() || undefined;
  if (instructions !== undefined && isLonger(instructions, MAX_INSTRUCTIONS)) {
    faults.add(`${where}.instructions`, `must be at most ${MAX_INSTRUCTIONS} characters.`);
  }
  return { tone, instructions, terms: readGlossary(fields.glossary, `${where}.glossary`, faults) };
}

const TERM_FIELDS = ['source', 'target', 'case_sensitive', 'forbidden', 'do_not_translate', 'note'];

function readGlossary(value: unknown, where: string, faults: Faults): Term[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) {
    faults.add(where, 'must be a list of terms.');
    return [];
  }
  const before = faults.lines.length;
  const written = value.map((item: unknown, index): WrittenTerm => {
    const place = `${where}[${index}]`;
    const fields = readFields(item, place, TERM_FIELDS, faults);
    const text = (field: string) => readString(fields, field, `${place}.`, faults);
    const flag = (field: string) => readFlag(fields, field, `${place}.`, faults) ?? false;
    const note = text('note');
    return {
      where: place,
      term: {
        source: text('source') ?? '',
        target: text('target') ?? '',
        caseSensitive: flag('case_sensitive'),
        forbidden: flag('forbidden'),
        doNotTranslate: flag('do_not_translate'),
        ...(note === undefined ? {} : { note }),
      },
    };
  });
  // If a field of a term has the wrong type, the terms are not checked further.
  return faults.lines.length > before ? [] : checkTerms(written, faults);
}

type Fields = Record<string, unknown>;

/** Checks the names of the fields, so that a misspelt field is reported instead of ignored. */
function readFields(value: unknown, where: string, accepted: readonly string[], faults: Faults): Fields {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    faults.add(where, 'must be an object.');
    return {};
  }
  for (const field of Object.keys(value)) {
    if (!accepted.includes(field)) {
      faults.add(where, `"${shorten(field)}" is not one of ${accepted.join(', ')}.`);
    }
  }
  return value as Fields;
}

function readString(fields: Fields, field: string, prefix: string, faults: Faults): string | undefined {
  const value = fields[field];
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'string') faults.add(`${prefix}${field}`, 'must be a string.');
  else if (!isClean(value)) {
    faults.add(`${prefix}${field}`, 'must not contain control characters or half surrogate pairs.');
  } else return value;
  return undefined;
}

function readFlag(fields: Fields, field: string, prefix: string, faults: Faults): boolean | undefined {
  const value = fields[field];
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'boolean') return value;
  faults.add(`${prefix}${field}`, 'must be true or false.');
  return undefined;
}

/** Converts a brand to the content of its file. Absent and false fields are omitted. */
export function toBrandFile(brand: Brand, isDefault: boolean): object {
  const languages = [...brand.languages].map(([language, { tone, instructions, terms }]) => [
    language,
    {
      ...(tone === undefined ? {} : { tone }),
      ...(instructions === undefined ? {} : { instructions }),
      glossary: terms.map(presentTerm),
    },
  ]);
  return {
    external_id: brand.externalId,
    name: brand.name,
    default: isDefault,
    ...(brand.fallback === undefined ? {} : { fallback: brand.fallback }),
    ...(brand.votes === undefined ? {} : { votes: brand.votes }),
    ...(brand.protect === undefined ? {} : { protect: brand.protect }),
    languages: Object.fromEntries(languages),
  };
}

/** Returns the settings of a brand that operators edit on the brand's page, without its terms. */
export function presentFields(brand: Brand, isDefault: boolean) {
  return {
    name: brand.name,
    default: isDefault,
    fallback: brand.fallback ?? ('wait' as const),
    votes: brand.votes ?? ('draft' as const),
    protect: [...(brand.protect ?? [])],
    languages: [...brand.languages]
      .map(([language, { tone, instructions, terms }]) => ({
        language,
        tone: tone ?? null,
        instructions: instructions ?? null,
        terms: terms.length,
      }))
      .sort((a, b) => (a.language < b.language ? -1 : 1)),
  };
}
