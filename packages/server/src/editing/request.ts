/** Reads what the web app sends to this room; every wrong field is named at once. Pure. */
import type { Piece } from '@dragoman/documents';
import { ApiError } from '../errors.ts';
import { findUnusable } from '../text.ts';
import { ISSUE_CATEGORIES, ISSUE_SEVERITIES, REPORT_REASONS, SKIP_REASONS } from './schemas.ts';

export interface SaveRequest {
  token: string;
  revision: number;
  target: Piece[];
  status: 'draft' | 'confirmed';
  acknowledged: string[];
  activeMs: number;
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
/** Of a target; a segment is a sentence. */
const MAX_TARGET = 100_000;
const MAX_PIECES = 10_000;
const MAX_ACKNOWLEDGED = 200;
const MAX_NOTE = 2_000;
/** Between two saves of a segment: more was not spent on it. */
const MAX_ACTIVE = 3_600_000;

/** Collects what is wrong. */
function fields(body: unknown) {
  const given =
    typeof body === 'object' && body !== null && !Array.isArray(body)
      ? (body as Record<string, unknown>)
      : {};
  const wrong: Record<string, string> = {};
  return {
    given,
    wrong,
    read<T>(name: string, accept: (value: unknown) => T | undefined, sentence: string): T {
      const value = accept(given[name]);
      if (value === undefined) wrong[name] = sentence;
      return value as T;
    },
    optional<T>(name: string, accept: (value: unknown) => T | undefined, sentence: string): T | undefined {
      const value = given[name];
      return value === undefined || value === null ? undefined : this.read(name, accept, sentence);
    },
    done<T>(value: T): T {
      const names = Object.keys(wrong);
      if (names.length === 0) return value;
      const lines = names.map((name) => `${name}: ${wrong[name]}`);
      throw new ApiError('invalid_request', lines.join('\n'), {}, { fields: wrong });
    },
  };
}

const uuid = (value: unknown) => (typeof value === 'string' && UUID.test(value) ? value : undefined);
const whole = (least: number, most: number) => (value: unknown) =>
  Number.isInteger(value) && (value as number) >= least && (value as number) <= most
    ? (value as number)
    : undefined;
const oneOf =
  <T extends string>(accepted: readonly T[]) =>
  (value: unknown) =>
    accepted.find((one) => one === value);
const text = (most: number) => (value: unknown) =>
  typeof value === 'string' &&
  value.trim() !== '' &&
  value.length <= most &&
  findUnusable(value) === undefined
    ? value
    : undefined;

const TOKEN = 'must be the token of a lease.';
const NOTE = `must be text of at most ${MAX_NOTE} characters.`;

export function readToken(body: unknown): string {
  const { read, done } = fields(body);
  return done(read('token', uuid, TOKEN));
}

export function readClaim(body: unknown): string | undefined {
  const all = fields(body);
  return all.done(all.optional('task', uuid, 'must be the id of a task.'));
}

export function readSave(body: unknown): SaveRequest {
  const all = fields(body);
  return all.done({
    token: all.read('token', uuid, TOKEN),
    revision: all.read(
      'revision',
      whole(0, 2 ** 31 - 2),
      'must be the revision that is changed, a whole number.',
    ),
    target: all.read('target', readPieces, 'must be a list of pieces: text, open, close, single, keep.'),
    status: all.read('status', oneOf(['draft', 'confirmed']), 'must be draft or confirmed.'),
    acknowledged: all.optional('acknowledged', readWords, 'must be a list of checks.') ?? [],
    activeMs:
      all.optional('active_ms', whole(0, MAX_ACTIVE), `must be a whole number up to ${MAX_ACTIVE}.`) ?? 0,
  });
}

function readWords(value: unknown): string[] | undefined {
  if (!Array.isArray(value) || value.length > MAX_ACKNOWLEDGED) return undefined;
  return value.every((one) => text(1000)(one) !== undefined) ? (value as string[]) : undefined;
}

/** Pieces in their one shape; whether the codes are those of the source, the checks say. */
function readPieces(value: unknown): Piece[] | undefined {
  if (!Array.isArray(value) || value.length > MAX_PIECES) return undefined;
  const pieces = value.map(readPiece);
  if (pieces.includes(undefined)) return undefined;
  const length = pieces.reduce((sum, piece) => sum + ('text' in piece! ? piece.text.length : 0), 0);
  return length <= MAX_TARGET ? (pieces as Piece[]) : undefined;
}

function readPiece(value: unknown): Piece | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const { text: words, open, close, single, keep } = value as Record<string, unknown>;
  const isText = typeof words === 'string' && findUnusable(words) === undefined;
  const number = whole(0, 2 ** 31 - 1);
  if (number(keep) !== undefined) return isText ? { keep: keep as number, text: words } : undefined;
  if (isText) return { text: words };
  if (number(open) !== undefined) return { open: open as number };
  if (number(close) !== undefined) return { close: close as number };
  if (number(single) !== undefined) return { single: single as number };
  return undefined;
}

export function readSkip(body: unknown) {
  const all = fields(body);
  return all.done({
    token: all.optional('token', uuid, TOKEN),
    reason: all.read('reason', oneOf(SKIP_REASONS), `must be one of ${SKIP_REASONS.join(', ')}.`),
  });
}

export function readReport(body: unknown) {
  const all = fields(body);
  return all.done({
    token: all.optional('token', uuid, TOKEN),
    reason: all.read('reason', oneOf(REPORT_REASONS), `must be one of ${REPORT_REASONS.join(', ')}.`),
    note: all.optional('note', text(MAX_NOTE), NOTE),
  });
}

export function readReturn(body: unknown) {
  const all = fields(body);
  return all.done({
    token: all.read('token', uuid, TOKEN),
    note: all.optional('note', text(MAX_NOTE), NOTE),
  });
}

export function readIssue(body: unknown) {
  const all = fields(body);
  return all.done({
    token: all.read('token', uuid, TOKEN),
    issue: {
      position: all.read('position', whole(0, 2 ** 31 - 1), 'must be the number of a segment.'),
      category: all.read(
        'category',
        oneOf(ISSUE_CATEGORIES),
        `must be one of ${ISSUE_CATEGORIES.join(', ')}.`,
      ),
      severity: all.read(
        'severity',
        oneOf(ISSUE_SEVERITIES),
        `must be one of ${ISSUE_SEVERITIES.join(', ')}.`,
      ),
      note: all.optional('note', text(MAX_NOTE), NOTE),
      range: all.optional('range', readRange, 'must have start and end, the end not before the start.'),
    },
  });
}

function readRange(value: unknown): { start: number; end: number } | undefined {
  const { start, end } = (value ?? {}) as Record<string, unknown>;
  const number = whole(0, MAX_TARGET);
  if (number(start) === undefined || number(end) === undefined) return undefined;
  return (start as number) <= (end as number) ? { start: start as number, end: end as number } : undefined;
}

export function readComment(body: unknown) {
  const all = fields(body);
  return all.done({
    text: all.read('text', text(MAX_NOTE), NOTE),
    position: all.optional('position', whole(0, 2 ** 31 - 1), 'must be the number of a segment.'),
  });
}

export function readPriority(body: unknown): number {
  const { read, done } = fields(body);
  return done(read('priority', whole(-10, 10), 'must be a whole number from -10 to 10.'));
}

export function readUser(body: unknown): string {
  const { read, done } = fields(body);
  return done(read('user', uuid, 'must be the id of a person.'));
}
