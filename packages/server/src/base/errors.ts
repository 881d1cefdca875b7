/**
 * Every error that a caller of the API can get. Callers identify an error by its code, not by its wording. A
 * test compares this list with `docs/errors.md`.
 */
export const ERRORS = {
  invalid_request: {
    status: 400,
    meaning: 'The request is not valid; there is one line for each invalid field.',
  },
  unauthorized: { status: 401, meaning: 'The credential is missing or wrong.' },
  not_signed_in: { status: 401, meaning: 'There is no session, or it has ended.' },
  wrong_sign_in: {
    status: 401,
    meaning: 'The e-mail address or the password is wrong, or the user is disabled.',
  },
  second_factor_required: {
    status: 401,
    meaning: 'The password is right; the code of the second factor is missing.',
  },
  insufficient_balance: { status: 402, meaning: 'The account cannot pay for the job; nothing was created.' },
  invalid_subscription: {
    status: 402,
    meaning: 'The account has no chat subscription, or the pair is not in it; nothing was created.',
  },
  read_only_key: { status: 403, meaning: 'The key is read-only.' },
  insufficient_scope: {
    status: 403,
    meaning: 'The key does not have the scope of the operation; `WWW-Authenticate` names it.',
  },
  key_limit: {
    status: 403,
    meaning: 'The key would order more than it may in a day; nothing was created. The day ends at 00:00 UTC.',
  },
  origin_not_allowed: {
    status: 403,
    meaning: 'The account does not allow requests from pages of this origin.',
  },
  account_suspended: {
    status: 403,
    meaning: 'The account is suspended. Its data is kept; contact the operator.',
  },
  chat_not_allowed: { status: 403, meaning: 'The account has no chat subscription.' },
  owner_only: { status: 403, meaning: 'Only an owner of the account may do this.' },
  second_factor_missing: {
    status: 403,
    meaning: 'Operators of this server must set up a second factor first.',
  },
  passwords_off: {
    status: 403,
    meaning: 'Users of this server sign in with its provider and not with a password.',
  },
  cross_site: { status: 403, meaning: 'The request comes from a page of another site.' },
  not_found: { status: 404, meaning: 'There is no such job or path.' },
  method_not_allowed: {
    status: 405,
    meaning: 'The path does not support this method; `Allow` lists those it supports.',
  },
  request_timeout: { status: 408, meaning: 'The request did not arrive in time; it can be sent again.' },
  stale_lease: {
    status: 409,
    meaning: 'The claim on the task has ended; a text that was sent with it is kept.',
  },
  conflict: {
    status: 409,
    meaning: 'It was changed in the meantime; the answer contains its current state.',
  },
  price_changed: {
    status: 409,
    meaning: 'The price differs from the one that was shown; nothing was created. `price` is the new one.',
  },
  text_changed: {
    status: 409,
    meaning: 'The text differs from the one that was shown; nothing was changed.',
  },
  rule_changed: {
    status: 409,
    meaning: 'The rule differs from the one that was shown; nothing was changed.',
  },
  unconfirmed: {
    status: 409,
    meaning: 'Some segments of the task are not confirmed; the answer names them.',
  },
  query_open: {
    status: 409,
    meaning: 'The segment cannot be confirmed while a query to the customer is open.',
  },
  not_joinable: {
    status: 409,
    meaning: 'The segments cannot be joined; `reason` says why.',
  },
  not_splittable: {
    status: 409,
    meaning: 'The segment cannot be split there; `reason` says why.',
  },
  job_canceled: { status: 409, meaning: 'The job was canceled while it was being edited.' },
  nothing_waits: { status: 409, meaning: 'There is no task that this editor can claim.' },
  task_taken: { status: 409, meaning: 'The task can no longer be claimed, or not by this editor.' },
  too_many_claims: {
    status: 409,
    meaning: 'The editor has the maximum number of claimed tasks of this kind.',
  },
  claims_paused: {
    status: 409,
    meaning: 'Too many claims of the editor have expired; `until` is the end of the pause.',
  },
  too_large: { status: 413, meaning: 'The text or the request is too large.' },
  checks_failed: { status: 422, meaning: 'The segment cannot be confirmed; `findings` lists the reasons.' },
  unsupported_type: { status: 415, meaning: 'The body must be application/json, and not compressed.' },
  too_many_attempts: {
    status: 429,
    meaning: 'Too many attempts; the next is allowed after `Retry-After` seconds.',
  },
  too_many_streams: {
    status: 429,
    meaning: 'Too many live-update streams for this user or account. Close some tabs.',
  },
  rate_limited: {
    status: 429,
    meaning: 'The key has sent too many requests; the next is allowed after `Retry-After` seconds.',
  },
  sandbox_quota: {
    status: 429,
    meaning:
      'The account has used its daily words in the sandbox; nothing was created. The quota resets after `Retry-After` seconds.',
  },
  headers_too_large: {
    status: 431,
    meaning: 'The URL and the headers together exceed 16 KiB.',
  },
  server_error: { status: 500, meaning: 'The server failed; retrying with the same uid is safe.' },
  unavailable: {
    status: 503,
    meaning: 'The server cannot handle the request now; retry after `Retry-After` seconds.',
  },
} as const satisfies Record<string, { status: number; meaning: string }>;

export type ErrorCode = keyof typeof ERRORS;

/** An expected error. Its code and message are sent to the caller. */
export class ApiError extends Error {
  override name = 'ApiError';
  readonly code: ErrorCode;
  readonly headers: Record<string, string>;
  /** Further fields of the error body for the web app, in addition to `code` and `message`. */
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

/**
 * A mistake of an operator, in a command or on the console's pages. The message has one line for each fault.
 */
export class OperatorError extends Error {
  override name = 'OperatorError';
}

/**
 * The error messages for invalid fields that have a code, so that the web app can translate them. A test
 * checks that the web app has a sentence for each code. Messages without a code are shown in English. Names
 * in braces are replaced by values.
 */
export const REASONS = {
  required: 'This field is required.',
  text: 'must be a string.',
  not_empty: 'must not be empty.',
  text_length: 'must be a text of {least} to {most} characters.',
  text_at_most: 'must be at most {most} characters.',
  one_line: 'must be a text of one line.',
  has_length: 'Must have {least} to {most} characters.',
  has_at_least: 'Must have at least {least} characters.',
  has_at_most: 'Must have at most {most} characters.',
  number: 'must be a whole number.',
  whole_number: 'must be a whole number from {least} to {most}.',
  one_of: '"{given}" is not one of {accepted}.',
  exactly: 'must be {value}.',
  yes_or_no: 'must be true or false.',
  date: 'must be a date such as 2027-01-31 or 2027-01-31T12:00:00Z.',
  in_the_future: 'must be in the future.',
  before_the_end: 'must be before the end.',
  days_before_the_end: 'must be at most {most} days before the end.',
  language: 'must be the shortname of a language, such as pt-br.',
  id: 'must be an id.',
  list: 'must be a list of at most {most} items.',
  any_list: 'must be a list.',
  list_length: 'must be a list of {least} to {most} items.',
  list_of_texts: 'must be a list of strings.',
  object: 'must be a JSON object.',
  shape: 'has the wrong form.',
  unusable: 'must not contain NUL characters, noncharacters such as U+FFFF, or half surrogate pairs.',
  uid: 'must be 1 to 128 of A-Z a-z 0-9 . _ ~ : @ + - and neither "." nor "..".',
  origin: 'must be an origin such as https://app.example.com, without a path.',
  email: 'Must be an e-mail address.',
  email_taken: 'This e-mail address is already in use.',
  password_wrong: 'Is not your password.',
  password_guessed: 'Is guessed too easily. Choose another one.',
  password_is_email: 'Must not be your e-mail address.',
  code_wrong: 'Is not a valid code, or was used before.',
  account_name: 'must be the name of the account.',
  job_not_to_accept: 'only a completed job can be accepted; this job is {status}.',
  job_not_to_reject: 'only a completed job can be rejected; this job is {status}.',
  job_of_machine: 'no editor worked on this machine job, so it cannot be rejected. It can be upgraded.',
  job_without_editor: 'no editor worked on this job, so it cannot be rejected.',
  job_fell_back:
    'this job was delivered free of charge before its editors finished it, so it cannot be rejected.',
  job_forgotten: 'the texts of this job were deleted, so it cannot be rejected.',
  task_not_for_editor:
    'must be an editor of the language pair who has not skipped the task and, for a review, not edited the job.',
  rule_fails: 'The text fails the automatic checks.',
  term_known: 'is in the glossary already.',
  term_proposed: 'is proposed already.',
  term_untranslated: 'stays untranslated according to the glossary.',
  too_many_proposals: 'cannot be proposed, because the job has {most} proposals already.',
  query_exists: 'cannot be asked, because the segment has an open query.',
  url: '{why}',
  endpoint_exists: 'is already registered as a webhook endpoint.',
  too_many_endpoints: 'cannot be registered, because there are {most} webhook endpoints already.',
  tmx: '{why}',
  document_invalid: '{why} (line {line}, column {column})',
  language_undetermined: '{why}',
  pair_not_offered: '{why}',
  lines_at_most: 'must have at most {most} lines with text.',
  line_at_most: 'must have at most {most} characters in each line.',
  line_without_reference:
    'has no reference for line {line}. Each line of the text needs one, in the same line.',
  reference_without_line: 'has a reference in line {line}, but the text has nothing in this line.',
} as const;

export type ReasonCode = keyof typeof REASONS;

/** The reason why a field is invalid: an English sentence, or a code of `REASONS` with its values. */
export type Reason = string | { code: ReasonCode; values: Record<string, string | number> };

/** The names in braces that a sentence contains, as a union of string types. */
type Holes<Sentence extends string> = Sentence extends `${string}{${infer Hole}}${infer Rest}`
  ? Hole | Holes<Rest>
  : never;
type ValuesOf<Code extends ReasonCode> = Record<Holes<(typeof REASONS)[Code]>, string | number>;

/** Makes a reason from a code and the values that its sentence contains. */
export function reason<Code extends ReasonCode>(
  code: Code,
  ...[values]: Holes<(typeof REASONS)[Code]> extends never ? [] : [values: ValuesOf<Code>]
): Reason {
  return { code, values: values ?? {} };
}

/** Returns a reason as an English sentence. */
export function sentenceOf(given: Reason): string {
  if (typeof given === 'string') return given;
  return REASONS[given.code].replace(/\{(\w+)\}/g, (hole, name: string) =>
    String(given.values[name] ?? hole),
  );
}

/** The maximum number of lines in a 400 answer. Requests with more errors usually repeat the same error. */
export const MAX_LINES = 100;

/** Returns a 400 error for one field, with the message `field: reason`. */
export function fieldError(field: string, why: Reason): ApiError {
  return wrongFields({ [field]: why });
}

/** Returns a 400 error for several fields. The object's keys are the names of the fields. */
export function wrongFields(wrong: Record<string, Reason>): ApiError {
  const sentences = Object.entries(wrong).map(([field, why]) => [field, sentenceOf(why)] as const);
  const lines = sentences.map(([field, sentence]) => `${field}: ${sentence}`);
  const coded = Object.entries(wrong).flatMap(([field, why]) =>
    typeof why === 'string' ? [] : [[field, { code: why.code, ...why.values }] as const],
  );
  return new ApiError(
    'invalid_request',
    firstLines(lines),
    {},
    {
      fields: Object.fromEntries(sentences),
      ...(coded.length === 0 ? {} : { reasons: Object.fromEntries(coded) }),
    },
  );
}

/** Returns one 400 error with the lines, fields and reasons of several. */
export function joinFieldErrors(errors: readonly ApiError[]): ApiError {
  const joined = (part: 'fields' | 'reasons') =>
    Object.assign({}, ...errors.map(({ more }) => (more as Record<string, object>)[part]));
  const reasons = joined('reasons');
  const lines = errors
    .map(({ message }) => message)
    .join('\n')
    .split('\n');
  return new ApiError(
    'invalid_request',
    firstLines(lines),
    {},
    { fields: joined('fields'), ...(Object.keys(reasons).length === 0 ? {} : { reasons }) },
  );
}

/** Returns a 400 error with the first lines and the number of omitted lines. */
export function fieldErrors(lines: readonly string[]): ApiError {
  return new ApiError('invalid_request', firstLines(lines));
}

function firstLines(lines: readonly string[]): string {
  const more = lines.length - MAX_LINES;
  const shown = more > 0 ? [...lines.slice(0, MAX_LINES), `and ${more} more like these.`] : lines;
  return shown.join('\n');
}

/** Returns a 404 error. An unknown uid and the uid of another account get the same error. */
export function notFound(): ApiError {
  return new ApiError('not_found', 'Not found');
}

/** Returns a 401 error. The error is the same for every wrong part of a credential. */
export function unauthorized(): ApiError {
  return new ApiError('unauthorized', 'Unauthorized', { 'www-authenticate': 'ApiKey' });
}

/** Returns the 403 error for a suspended account. */
export function accountSuspended(): ApiError {
  return new ApiError('account_suspended', 'This account is suspended. Contact the operator.');
}

/** Returns a 401 error for the web app. */
export function notSignedIn(): ApiError {
  return new ApiError('not_signed_in', 'Please sign in.');
}

/** Returns a 413 error for a field. @param maxBytes the limit in bytes of UTF-8 */
export function tooLarge(field: string, maxBytes: number): ApiError {
  return new ApiError('too_large', `${field}: must be at most ${maxBytes} bytes of UTF-8.`);
}
