/**
 * Every error that a caller of the interface can see. A closed list: `docs/errors.md` and a test hold the
 * same rows. Errors are told apart by code, never by wording.
 */
export const ERRORS = {
  invalid_request: { status: 400, meaning: 'The request is wrong; one line a field says how.' },
  unauthorized: { status: 401, meaning: 'The credential is missing or wrong.' },
  not_signed_in: { status: 401, meaning: 'Nobody is signed in, or the session has ended.' },
  wrong_sign_in: {
    status: 401,
    meaning: 'The e-mail or the password is wrong, or the person may not sign in.',
  },
  insufficient_balance: { status: 402, meaning: 'The account cannot pay for the job; nothing was created.' },
  invalid_subscription: {
    status: 402,
    meaning: 'The account has no chat subscription, or the pair is not in it; nothing was created.',
  },
  read_only_key: { status: 403, meaning: 'The key may read but not change.' },
  chat_not_allowed: { status: 403, meaning: 'The account has no chat subscription.' },
  owner_only: { status: 403, meaning: 'Only an owner of the account may do that.' },
  cross_site: { status: 403, meaning: 'A page of another site may not change anything here.' },
  not_found: { status: 404, meaning: 'There is no such job or path.' },
  method_not_allowed: {
    status: 405,
    meaning: 'The path does not take this method; `Allow` lists those it takes.',
  },
  request_timeout: { status: 408, meaning: 'The request did not arrive in time; it can be sent again.' },
  stale_lease: { status: 409, meaning: 'The claim on the task is over; a text that came with it is kept.' },
  conflict: {
    status: 409,
    meaning: 'It has been changed since; the answer brings it as it is now.',
  },
  unconfirmed: {
    status: 409,
    meaning: 'Some segments of the task are not confirmed; the answer names them.',
  },
  job_canceled: { status: 409, meaning: 'The customer took the job back while it was being edited.' },
  nothing_waits: { status: 409, meaning: 'There is no task that this editor may claim.' },
  task_taken: { status: 409, meaning: 'The task cannot be claimed any more, or not by this editor.' },
  too_many_claims: { status: 409, meaning: 'The editor holds as many tasks of that kind as one may.' },
  claims_paused: {
    status: 409,
    meaning: 'Too many claims of the editor have run out; `until` says how long.',
  },
  too_large: { status: 413, meaning: 'The text or the request is too large.' },
  checks_failed: { status: 422, meaning: 'The segment cannot be confirmed as it is; `findings` says why.' },
  unsupported_type: { status: 415, meaning: 'The body must be application/json.' },
  too_many_attempts: {
    status: 429,
    meaning: 'Too many attempts; the next is looked at after `Retry-After` seconds.',
  },
  too_many_streams: { status: 429, meaning: 'Too many pages of one person look on; close some.' },
  headers_too_large: {
    status: 431,
    meaning: 'The address and the headers are longer than 16 KiB together.',
  },
  server_error: { status: 500, meaning: 'A fault of ours; retrying with the same uid is safe.' },
  unavailable: {
    status: 503,
    meaning: 'Not able to take the request now; retry after `Retry-After` seconds.',
  },
} as const satisfies Record<string, { status: number; meaning: string }>;

export type ErrorCode = keyof typeof ERRORS;

/** Expected trouble on its way to the caller. `message` is what the caller reads. */
export class ApiError extends Error {
  override name = 'ApiError';
  readonly code: ErrorCode;
  readonly headers: Record<string, string>;
  /** What the web app is told besides: stands beside `code` and `message`. */
  readonly more: object;

  constructor(code: ErrorCode, message: string, headers: Record<string, string> = {}, more: object = {}) {
    super(message);
    this.code = code;
    this.headers = headers;
    this.more = more;
  }

  get status(): number {
    return ERRORS[this.code].status;
  }
}

/** An operator's mistake, at the command line or in the console; the message is for the operator, a line a fault. */
export class OperatorError extends Error {
  override name = 'OperatorError';
}

/**
 * What is wrong with a field, where the web app says it in its reader's language: it has a sentence for each of these
 * codes, which a test holds equal, and shows the one here for all that has no code. `{most}` is filled in.
 */
export const REASONS = {
  required: 'This field is required.',
  text: 'must be a text.',
  not_empty: 'must not be empty.',
  text_length: 'must be a text of {least} to {most} characters.',
  text_at_most: 'must be a text of at most {most} characters.',
  one_line: 'must be a text of one line.',
  has_length: 'Must have {least} to {most} characters.',
  has_at_least: 'Must have at least {least} characters.',
  has_at_most: 'Must have at most {most} characters.',
  whole_number: 'must be a whole number from {least} to {most}.',
  one_of: 'must be one of {accepted}.',
  yes_or_no: 'must be true or false.',
  date: 'must be a date such as 2027-01-31 or 2027-01-31T12:00:00Z.',
  in_the_future: 'must be in the future.',
  before_the_end: 'must be before the end.',
  days_before_the_end: 'must be at most {most} days before the end.',
  language: 'must be the shortname of a language, such as pt-br.',
  id: 'must be an id.',
  list: 'must be a list of at most {most}.',
  email: 'Must be an e-mail address.',
  email_taken: 'There is already a person with this e-mail.',
  password_wrong: 'Is not your password.',
  password_guessed: 'Is among the first that are guessed; please choose another.',
  password_is_email: 'Must not be your e-mail address.',
  account_name: 'must be the name of the account.',
  job_not_to_accept: 'the job is {status}; only a completed one can be accepted.',
  job_not_to_reject: 'the job is {status}; only a completed one can be rejected.',
  job_of_machine: 'the job was done by a machine alone; no editor can have it again. It can be upgraded.',
  job_without_editor: 'the job was done by a machine alone; no editor can have it again.',
  job_fell_back:
    'the job was delivered for nothing before its editors had finished it; they cannot have it again.',
  job_forgotten: 'the texts of the job are not kept any more; no editor can have it again.',
  tmx: '{why}',
} as const;

export type ReasonCode = keyof typeof REASONS;

/** What is wrong with a field: a sentence, or one of the list with its values. */
export type Reason = string | { code: ReasonCode; values: Record<string, string | number> };

export function reason(code: ReasonCode, values: Record<string, string | number> = {}): Reason {
  return { code, values };
}

/** In English. */
export function sentenceOf(given: Reason): string {
  if (typeof given === 'string') return given;
  return REASONS[given.code].replace(/\{(\w+)\}/g, (hole, name: string) =>
    String(given.values[name] ?? hole),
  );
}

/** A value that is not what it must be, on its way to its field. */
export class WrongValue extends Error {
  override name = 'WrongValue';
  readonly reason: Reason;

  constructor(code: ReasonCode, values: Record<string, string | number> = {}) {
    super(sentenceOf({ code, values }));
    this.reason = { code, values };
  }
}

/** So many lines of a 400 are shown: a request that has more has one cause for most of them. */
export const MAX_LINES = 100;

/** A 400 that names one field: `field: reason`. */
export function fieldError(field: string, why: Reason): ApiError {
  return wrongFields({ [field]: why });
}

/** The same for several. */
export function wrongFields(wrong: Record<string, Reason>): ApiError {
  const said = Object.entries(wrong).map(([field, why]) => [field, sentenceOf(why)] as const);
  const lines = said.slice(0, MAX_LINES).map(([field, sentence]) => `${field}: ${sentence}`);
  const coded = Object.entries(wrong).flatMap(([field, why]) =>
    typeof why === 'string' ? [] : [[field, { code: why.code, ...why.values }] as const],
  );
  return new ApiError(
    'invalid_request',
    lines.join('\n'),
    {},
    {
      fields: Object.fromEntries(said),
      ...(coded.length === 0 ? {} : { reasons: Object.fromEntries(coded) }),
    },
  );
}

/** A 400 with a line for each wrong field, and how many more there are. */
export function fieldErrors(lines: readonly string[]): ApiError {
  const more = lines.length - MAX_LINES;
  const shown = more > 0 ? [...lines.slice(0, MAX_LINES), `and ${more} more like these.`] : lines;
  return new ApiError('invalid_request', shown.join('\n'));
}

/** The same bytes for an unknown uid and for another account's uid: never tell them apart. */
export function notFound(): ApiError {
  return new ApiError('not_found', 'Not found');
}

/** The same bytes whatever part of a credential was wrong. */
export function unauthorized(): ApiError {
  return new ApiError('unauthorized', 'Unauthorized', { 'www-authenticate': 'ApiKey' });
}

/** Nobody is signed in: for the web app, whose credential is a cookie. */
export function notSignedIn(): ApiError {
  return new ApiError('not_signed_in', 'Please sign in.');
}

/** A 413 that names the field. @param maxBytes of UTF-8 */
export function tooLarge(field: string, maxBytes: number): ApiError {
  return new ApiError('too_large', `${field}: must be at most ${maxBytes} bytes of UTF-8.`);
}
