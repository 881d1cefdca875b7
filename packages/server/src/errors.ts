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

/** A 400 that names one field: `field: reason`. */
export function fieldError(field: string, reason: string): ApiError {
  return wrongFields({ [field]: reason });
}

/** The same for several, each with its sentence. */
export function wrongFields(fields: Record<string, string>): ApiError {
  const lines = Object.entries(fields).map(([field, reason]) => `${field}: ${reason}`);
  return new ApiError('invalid_request', lines.join('\n'), {}, { fields });
}

/** So many lines of a 400 are shown: a request that has more has one cause for most of them. */
export const MAX_LINES = 100;

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
