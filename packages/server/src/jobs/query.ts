/**
 * Reads the query string of a job list. A parameter `field` tests for equality; a suffix, as in
 * `field__contains`, selects another comparison. Unknown parameters are ignored, because the links of a page
 * repeat them. The functions are pure.
 */
import type { Dialect } from '../base/account.ts';
import { fieldErrors } from '../base/errors.ts';
import { findUnusable } from '../base/text.ts';
import { shorten } from '../http/input.ts';
import { JOB_STATUSES, type JobStatus } from './states.ts';
import type { JobTier } from './store.ts';

/** The languages of the listed jobs: those in `among` (all languages if undefined), except those in `not`. */
export interface LanguageFilter {
  among: readonly string[] | undefined;
  not: readonly string[];
}

export interface ListFilter {
  tier: JobTier;
  uid: string | undefined;
  uidStart: string | undefined;
  uidEnd: string | undefined;
  uidPart: string | undefined;
  statuses: readonly JobStatus[] | undefined;
  source: LanguageFilter;
  target: LanguageFilter;
  createdFrom: Date | undefined;
  createdBefore: Date | undefined;
}

export interface Page {
  limit: number;
  offset: number;
  newestFirst: boolean;
  /** The last uid of the previous page; empty for the first page, undefined if the caller pages by offset. */
  after: string | undefined;
}

export interface ListQuery {
  filter: ListFilter;
  page: Page;
}

const DEFAULT_LIMIT = 20;
const MAX_LIMIT = 1000;

const LOOKUPS: Record<string, readonly string[]> = {
  uid: ['startswith', 'endswith', 'contains'],
  status: [],
  source_language: ['in', 'nin', 'ne'],
  target_language: ['in', 'nin', 'ne'],
  created: ['gte', 'lt'],
};

/** The statuses that the list of each tier can filter by. */
export const FILTERED_STATUSES: Record<JobTier, readonly JobStatus[]> = {
  human: JOB_STATUSES.filter((status) => status !== 'machine_translate_in_progress'),
  machine: JOB_STATUSES.filter((status) => status !== 'accepted' && status !== 'rejected'),
};

/**
 * Reads the parameters of a list. The last value of a repeated single-value parameter counts.
 * @param dialect the API format of the key: only a key with the legacy format may filter by `deliver_ok`
 * @throws ApiError `invalid_request` with every invalid parameter
 */
export function readListQuery(
  parameters: URLSearchParams,
  tier: JobTier,
  dialect: Dialect = 'spec',
): ListQuery {
  const reader = createParameterReader(parameters);
  const { last, complain } = reader;
  const filled = (name: string) => last(name) || undefined;
  reader.checkNames();
  const limit = reader.integer('limit', DEFAULT_LIMIT, MAX_LIMIT);
  const offset = reader.integer('offset', 0, Number.MAX_SAFE_INTEGER);
  const after = last('after');
  if (after !== undefined && offset > 0) complain('offset', 'cannot be combined with after.');
  const order = last('order_by') ?? 'created';
  if (order !== 'created' && order !== '-created') {
    complain('order_by', `"${shorten(order)}" is not one of created, -created.`);
  }
  const query: ListQuery = {
    filter: {
      tier,
      uid: last('uid'),
      uidStart: filled('uid__startswith'),
      uidEnd: filled('uid__endswith'),
      uidPart: filled('uid__contains'),
      statuses: readStatuses(reader, tier, dialect),
      source: readLanguages(reader, 'source_language'),
      target: readLanguages(reader, 'target_language'),
      createdFrom: reader.moment('created__gte'),
      createdBefore: reader.moment('created__lt'),
    },
    page: {
      limit: limit === 0 ? MAX_LIMIT : limit,
      offset,
      newestFirst: order === '-created',
      after,
    },
  };
  if (reader.complaints.length > 0) throw fieldErrors(reader.complaints);
  return query;
}

/** Reads single parameters and collects their errors. */
function createParameterReader(parameters: URLSearchParams) {
  const complaints: string[] = [];
  const complain = (field: string, reason: string): undefined => {
    complaints.push(`${field}: ${reason}`);
    return undefined;
  };
  const last = (name: string) => parameters.getAll(name).at(-1);
  return {
    complaints,
    complain,
    last,
    all: (name: string) => parameters.getAll(name),
    /** Reports unusable characters in parameters, and unknown filter suffixes in parameter names. */
    checkNames(): void {
      for (const [name, value] of parameters) {
        const unusable = findUnusable(value);
        if (unusable !== undefined) complain(shorten(name), unusable);
      }
      for (const name of new Set(parameters.keys())) {
        const [field, lookup] = name.split('__', 2) as [string, string?];
        const known = Object.hasOwn(LOOKUPS, field) ? LOOKUPS[field]! : undefined;
        if (lookup === undefined || known === undefined || known.includes(name.slice(field.length + 2)))
          continue;
        const accepted = known.length > 0 ? `; there are ${known.join(', ')}` : '';
        complain(field, `has no lookup "${shorten(name.slice(field.length + 2))}"${accepted}.`);
      }
    },
    integer(name: string, fallback: number, most: number): number {
      const written = last(name);
      if (written === undefined) return fallback;
      const value = Number(written);
      if (/^\d+$/.test(written) && value <= most) return value;
      complain(name, `must be a whole number from 0${most === MAX_LIMIT ? ` to ${most}` : ''}.`);
      return fallback;
    },
    /** Reads a list of values: a repeated parameter, values separated by commas, or a JSON array. */
    list(name: string): string[] | undefined {
      if (!parameters.has(name)) return undefined;
      return parameters.getAll(name).flatMap((written) => {
        if (!written.trimStart().startsWith('[')) {
          return written.split(',').flatMap((one) => one.trim() || []);
        }
        const parsed = parseStrings(written);
        if (parsed === undefined) complain(name, 'must be a comma list or a JSON array of strings.');
        return parsed ?? [];
      });
    },
    moment(name: string): Date | undefined {
      const written = last(name);
      if (written === undefined) return undefined;
      return readMoment(written) ?? complain(name, `"${shorten(written)}" is no moment in ISO 8601.`);
    },
  };
}

type ParameterReader = ReturnType<typeof createParameterReader>;

function readLanguages({ last, list, all }: ParameterReader, field: string): LanguageFilter {
  const equal = last(field);
  const among = list(`${field}__in`);
  const not = [...(list(`${field}__nin`) ?? []), ...all(`${field}__ne`)];
  if (equal === undefined) return { among, not };
  return { among: among === undefined || among.includes(equal) ? [equal] : [], not };
}

/**
 * The specification has no filter value for an unfinished machine job (`machine_translate_in_progress`). The
 * values `new` and `translating` therefore find these jobs too.
 */
function readStatuses(
  { last, complain }: ParameterReader,
  tier: JobTier,
  dialect: Dialect,
): JobStatus[] | undefined {
  const written = last('status');
  if (written === undefined) return undefined;
  const accepted = FILTERED_STATUSES[tier];
  const isLegacy = dialect === 'legacy' && written === 'deliver_ok';
  const status = isLegacy ? 'completed' : accepted.find((name) => name === written);
  if (status === undefined) {
    return complain('status', `"${shorten(written)}" is not one of ${accepted.join(', ')}.`);
  }
  const isUnstarted = tier === 'machine' && (status === 'new' || status === 'translating');
  return isUnstarted ? [status, 'machine_translate_in_progress'] : [status];
}

function parseStrings(written: string): string[] | undefined {
  try {
    const parsed: unknown = JSON.parse(written);
    return Array.isArray(parsed) && parsed.every((one) => typeof one === 'string') ? parsed : undefined;
  } catch {
    return undefined;
  }
}

const MOMENT =
  /^(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,9}))?)?(Z|[+ -]\d\d(?::?\d\d)?)?)?$/;

/** Reads a date, or a date and time. Without a time zone it is UTC. An unescaped `+` arrives as a space. */
function readMoment(written: string): Date | undefined {
  const found = MOMENT.exec(written);
  if (found === null) return undefined;
  const [, year, month, day, hour = '00', minute = '00', second = '00', fraction = '', zone = 'Z'] = found;
  const date = `${year}-${month}-${day}`;
  const offset = zone === 'Z' ? 'Z' : `${zone.slice(0, 3).replace(' ', '+')}:${zone.slice(-2)}`;
  const hours = zone.length === 3 ? `${zone.replace(' ', '+')}:00` : offset;
  const moment = new Date(
    `${date}T${hour}:${minute}:${second}.${fraction.padEnd(3, '0').slice(0, 3)}${hours}`,
  );
  // Some parsers read 30 February as 2 March. The parsed date is therefore written again and compared with the
  // given one.
  const exists = new Date(`${date}T00:00:00Z`);
  if (Number.isNaN(moment.getTime()) || Number.isNaN(exists.getTime())) return undefined;
  return exists.toISOString().startsWith(date) ? moment : undefined;
}
