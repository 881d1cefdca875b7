/**
 * What a list may be asked for, read from the query string. Pure. A bare name is equality, `field__lookup` a lookup;
 * unknown parameters are left alone, since the links of the pages carry them on.
 */
import type { Dialect } from '../account.ts';
import { fieldErrors } from '../errors.ts';
import { findUnusable } from '../text.ts';
import { STATUSES, type Status } from './states.ts';
import type { Tier } from './store.ts';

/** Languages as a list wants them: among these, and none of those. */
export interface LanguageFilter {
  among: readonly string[] | undefined;
  not: readonly string[];
}

export interface ListFilter {
  tier: Tier;
  uid: string | undefined;
  uidStart: string | undefined;
  uidEnd: string | undefined;
  uidPart: string | undefined;
  statuses: readonly Status[] | undefined;
  source: LanguageFilter;
  target: LanguageFilter;
  createdFrom: Date | undefined;
  createdBefore: Date | undefined;
}

export interface Page {
  limit: number;
  offset: number;
  newestFirst: boolean;
  /** Pages follow each other by the last uid of the one before: empty for the first, undefined for paging by offset. */
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

/** The statuses that the list of a tier can be asked for, as its jobs are shown. */
export const FILTERED_STATUSES: Record<Tier, readonly Status[]> = {
  human: STATUSES.filter((status) => status !== 'machine_translate_in_progress'),
  machine: STATUSES.filter((status) => status !== 'accepted' && status !== 'rejected'),
};

/**
 * Reads a list's parameters. A parameter that takes one value and is there more than once has its last.
 * @param dialect of the key: one that reads `deliver_ok` may ask for it
 * @throws ApiError `invalid_request` that names every wrong parameter
 */
export function readListQuery(parameters: URLSearchParams, tier: Tier, dialect: Dialect = 'spec'): ListQuery {
  const complaints: string[] = [];
  const complain = (field: string, reason: string): undefined => {
    complaints.push(`${field}: ${reason}`);
    return undefined;
  };
  const last = (name: string) => parameters.getAll(name).at(-1);
  const filled = (name: string) => last(name) || undefined;

  for (const [name, value] of parameters) {
    const unusable = findUnusable(value);
    if (unusable !== undefined) complain(shorten(name), unusable);
  }
  for (const name of new Set(parameters.keys())) {
    const [field, lookup] = name.split('__', 2) as [string, string?];
    const known = Object.hasOwn(LOOKUPS, field) ? LOOKUPS[field]! : undefined;
    if (lookup === undefined || known === undefined || known.includes(name.slice(field.length + 2))) continue;
    const accepted = known.length > 0 ? `; there are ${known.join(', ')}` : '';
    complain(field, `has no lookup "${shorten(name.slice(field.length + 2))}"${accepted}.`);
  }

  function integer(name: string, fallback: number, most: number): number {
    const written = last(name);
    if (written === undefined) return fallback;
    const value = Number(written);
    if (/^\d+$/.test(written) && value <= most) return value;
    complain(name, `must be a whole number from 0${most === MAX_LIMIT ? ` to ${most}` : ''}.`);
    return fallback;
  }

  /** Repeated, separated by commas, or as a JSON array. */
  function list(name: string): string[] | undefined {
    if (!parameters.has(name)) return undefined;
    return parameters.getAll(name).flatMap((written) => {
      if (!written.trimStart().startsWith('[')) {
        return written.split(',').flatMap((one) => one.trim() || []);
      }
      const parsed = parseStrings(written);
      if (parsed === undefined) complain(name, 'must be a comma list or a JSON array of strings.');
      return parsed ?? [];
    });
  }

  function language(field: string): LanguageFilter {
    const equal = last(field);
    const among = list(`${field}__in`);
    const not = [...(list(`${field}__nin`) ?? []), ...parameters.getAll(`${field}__ne`)];
    if (equal === undefined) return { among, not };
    return { among: among === undefined || among.includes(equal) ? [equal] : [], not };
  }

  /**
   * A machine-only job is `machine_translate_in_progress` until it is done, a state that the interface's filter
   * does not name: `new` and `translating` find it too.
   */
  function statuses(): Status[] | undefined {
    const written = last('status');
    if (written === undefined) return undefined;
    const accepted = FILTERED_STATUSES[tier];
    const isLegacy = dialect === 'legacy' && written === 'deliver_ok';
    const status = isLegacy ? 'completed' : accepted.find((name) => name === written);
    if (status === undefined) {
      return complain('status', `"${shorten(written)}" is not one of ${accepted.join(', ')}.`);
    }
    const unstarted = tier === 'machine' && (status === 'new' || status === 'translating');
    return unstarted ? [status, 'machine_translate_in_progress'] : [status];
  }

  function moment(name: string): Date | undefined {
    const written = last(name);
    if (written === undefined) return undefined;
    return readMoment(written) ?? complain(name, `"${shorten(written)}" is no moment in ISO 8601.`);
  }

  const limit = integer('limit', DEFAULT_LIMIT, MAX_LIMIT);
  const offset = integer('offset', 0, Number.MAX_SAFE_INTEGER);
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
      statuses: statuses(),
      source: language('source_language'),
      target: language('target_language'),
      createdFrom: moment('created__gte'),
      createdBefore: moment('created__lt'),
    },
    page: {
      limit: limit === 0 ? MAX_LIMIT : limit,
      offset,
      newestFirst: order === '-created',
      after,
    },
  };
  if (complaints.length > 0) throw fieldErrors(complaints);
  return query;
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

/** A date, or a date with a time; of UTC where it names no zone. A `+` that was not escaped arrives as a space. */
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
  // 30 February is read as 2 March by some parsers: a date must be itself again.
  const exists = new Date(`${date}T00:00:00Z`);
  if (Number.isNaN(moment.getTime()) || Number.isNaN(exists.getTime())) return undefined;
  return exists.toISOString().startsWith(date) ? moment : undefined;
}

function shorten(written: string): string {
  return written.length > 40 ? `${written.slice(0, 40)}…` : written;
}
