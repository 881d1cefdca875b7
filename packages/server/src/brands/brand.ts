/** A brand, and the file that an operator keeps it in. Pure. */
import type { Term } from '@dragoman/engines';
import { OperatorError } from '../errors.ts';
import {
  type Complaints,
  checkTerms,
  createComplaints,
  isClean,
  isLonger,
  presentTerm,
  shorten,
  type WrittenTerm,
} from './terms.ts';
import { TONE_NAMES, type Tone } from './tones.ts';

/** How a brand wants to sound in one target language. */
export interface BrandLanguage {
  tone: Tone['name'] | undefined;
  instructions: string | undefined;
  terms: readonly Term[];
}

export interface Brand {
  externalId: string;
  name: string;
  /** What is delivered where no editor came in time: a machine's result for nothing. Absent: it waits for an editor. */
  fallback?: 'machine';
  /** By target language, a shortname. */
  languages: ReadonlyMap<string, BrandLanguage>;
}

/** A brand's file. `default` absent: whether it is the account's default stays as it is. */
export interface BrandFile extends Brand {
  default: boolean | undefined;
}

/** An operator's mistake with a brand; the message is for the operator, a line a fault. */
export class BrandError extends OperatorError {
  override name = 'BrandError';
  /** Every fault of a file, without its name; the message has the first of them. */
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
/** So many faults are named; a file that has more has one cause for them all. */
const MAX_FAULTS = 20;

const FIELDS = ['external_id', 'name', 'default', 'fallback', 'languages'];
const LANGUAGE = /^[a-z]{2,3}(-[a-z0-9]{2,8}){0,3}$/;

/** A shortname as the interface writes it, from `pt-BR` or `pt_BR`; undefined where it cannot be one. */
export function toLanguage(written: string): string | undefined {
  const language = written.trim().toLowerCase().replaceAll('_', '-');
  return LANGUAGE.test(language) ? language : undefined;
}

/** The languages whose settings serve a language, the nearest first: `pt-br`, then `pt`. */
export function languagesFor(language: string): string[] {
  const parts = language.split('-');
  return parts.map((_, index) => parts.slice(0, parts.length - index).join('-'));
}

/** @throws BrandError when something was wrong; `file` stands before each line */
export function complainOf(file: string, { lines }: Complaints): void {
  if (lines.length === 0) return;
  const more = lines.length - MAX_FAULTS;
  const shown = lines.slice(0, MAX_FAULTS).map((line) => `${file}: ${line}`);
  if (more > 0) shown.push(`${file}: and ${more} more like these`);
  throw new BrandError(shown.join('\n'), lines);
}

/**
 * Reads a brand's file.
 * @param file its name, for the complaints
 * @throws BrandError that names every fault by its place in the file
 */
export function readBrandFile(file: string, text: string): BrandFile {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch (error) {
    throw new BrandError(`${file}: is not JSON: ${(error as Error).message}`);
  }
  return readBrand(file, parsed);
}

/**
 * Reads a brand as its file has it.
 * @param file its name, for the complaints
 * @throws BrandError that names every fault by its place
 */
export function readBrand(file: string, parsed: unknown): BrandFile {
  const complaints = createComplaints();
  const fields = readFields(parsed, 'the file', FIELDS, complaints);
  const externalId = readString(fields, 'external_id', '', complaints)?.trim() ?? '';
  if (!isExternalId(externalId)) {
    complaints.add(
      'external_id',
      `is required: 1 to ${MAX_EXTERNAL_ID} characters, none of them a control character.`,
    );
  }
  const name = readString(fields, 'name', '', complaints)?.trim() || externalId;
  if (isLonger(name, MAX_NAME) || /\p{Cc}/u.test(name)) {
    complaints.add('name', `must be at most ${MAX_NAME} characters, none of them a control character.`);
  }
  const isDefault = readFlag(fields, 'default', '', complaints);
  const fallback = readString(fields, 'fallback', '', complaints) ?? 'wait';
  if (fallback !== 'wait' && fallback !== 'machine') complaints.add('fallback', 'must be wait or machine.');
  const languages = readLanguages(fields.languages, complaints);
  complainOf(file, complaints);
  const common = { externalId, name, default: isDefault, languages };
  return fallback === 'machine' ? { ...common, fallback } : common;
}

/** A request names a brand by this; it stands in lists and error messages as it is. */
export function isExternalId(value: string): boolean {
  return value !== '' && !isLonger(value, MAX_EXTERNAL_ID) && !/\p{Cc}/u.test(value);
}

function readLanguages(value: unknown, complaints: Complaints): Map<string, BrandLanguage> {
  const languages = new Map<string, BrandLanguage>();
  if (value === undefined || value === null) return languages;
  if (typeof value !== 'object' || Array.isArray(value)) {
    complaints.add('languages', 'must be an object with a target language for each key.');
    return languages;
  }
  const entries = Object.entries(value);
  if (entries.length > MAX_LANGUAGES) {
    complaints.add('languages', `a brand has at most ${MAX_LANGUAGES} languages.`);
    return languages;
  }
  for (const [written, settings] of entries) {
    const where = `languages.${shorten(written)}`;
    const language = toLanguage(written);
    if (language === undefined)
      complaints.add(where, 'is not the shortname of a language, such as es or pt-br.');
    else if (languages.has(language)) complaints.add(where, `is there twice, as ${language}.`);
    else languages.set(language, readLanguage(settings, where, complaints));
  }
  return languages;
}

function readLanguage(value: unknown, where: string, complaints: Complaints): BrandLanguage {
  const fields = readFields(value, where, ['tone', 'instructions', 'glossary'], complaints);
  const written = readString(fields, 'tone', `${where}.`, complaints);
  const tone = TONE_NAMES.find((name) => name === written);
  if (written !== undefined && tone === undefined) {
    complaints.add(`${where}.tone`, `"${shorten(written)}" is not one of ${TONE_NAMES.join(', ')}.`);
  }
  const instructions = readString(fields, 'instructions', `${where}.`, complaints)?.trim() || undefined;
  if (instructions !== undefined && isLonger(instructions, MAX_INSTRUCTIONS)) {
    complaints.add(`${where}.instructions`, `must be at most ${MAX_INSTRUCTIONS} characters.`);
  }
  return { tone, instructions, terms: readGlossary(fields.glossary, `${where}.glossary`, complaints) };
}

const TERM_FIELDS = ['source', 'target', 'case_sensitive', 'forbidden', 'do_not_translate', 'note'];

function readGlossary(value: unknown, where: string, complaints: Complaints): Term[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) {
    complaints.add(where, 'must be a list of terms.');
    return [];
  }
  const before = complaints.lines.length;
  const written = value.map((item: unknown, index): WrittenTerm => {
    const place = `${where}[${index}]`;
    const fields = readFields(item, place, TERM_FIELDS, complaints);
    const text = (field: string) => readString(fields, field, `${place}.`, complaints);
    const flag = (field: string) => readFlag(fields, field, `${place}.`, complaints) ?? false;
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
  // A term whose fields are of the wrong kind would be complained of twice.
  return complaints.lines.length > before ? [] : checkTerms(written, complaints);
}

type Fields = Record<string, unknown>;

/** A misspelt field would be lost in silence, and its term with it. */
function readFields(
  value: unknown,
  where: string,
  accepted: readonly string[],
  complaints: Complaints,
): Fields {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    complaints.add(where, 'must be an object.');
    return {};
  }
  for (const field of Object.keys(value)) {
    if (!accepted.includes(field)) {
      complaints.add(where, `"${shorten(field)}" is not one of ${accepted.join(', ')}.`);
    }
  }
  return value as Fields;
}

function readString(
  fields: Fields,
  field: string,
  prefix: string,
  complaints: Complaints,
): string | undefined {
  const value = fields[field];
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'string') complaints.add(`${prefix}${field}`, 'must be a string.');
  else if (!isClean(value)) {
    complaints.add(`${prefix}${field}`, 'must not contain control characters or half surrogate pairs.');
  } else return value;
  return undefined;
}

function readFlag(
  fields: Fields,
  field: string,
  prefix: string,
  complaints: Complaints,
): boolean | undefined {
  const value = fields[field];
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'boolean') return value;
  complaints.add(`${prefix}${field}`, 'must be true or false.');
  return undefined;
}

/** A brand as its file has it; what is absent or false is left out. */
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
    languages: Object.fromEntries(languages),
  };
}
