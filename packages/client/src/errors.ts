/** What a caller of this client may have to handle. */

/** One wrong field of a request, as the service names it. */
export interface FieldError {
  /** Such as `text`, or `objects[3].text` where many jobs were sent at once. */
  field: string;
  reason: string;
}

/** A request that the service refused, or that never got an answer. Told apart by `status`, never by wording. */
export class DragomanError extends Error {
  override name = 'DragomanError';
  /** The HTTP status of the refusal; undefined when no answer came (`cause` says why). */
  readonly status: number | undefined;
  /** The word for the refusal that the chat interface gives. */
  readonly code: string | undefined;
  /** The wrong fields of a request that was refused with 400. */
  readonly fields: readonly FieldError[];

  constructor(
    message: string,
    details: { status?: number; code?: string | undefined; fields?: FieldError[]; cause?: unknown } = {},
  ) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.status = details.status;
    this.code = details.code;
    this.fields = details.fields ?? [];
  }
}

/** The error for an answer that is none of 2xx. @param text its body, which may be empty or no JSON at all */
export function refusal(status: number, text: string): DragomanError {
  const { message, code } = readError(text);
  return new DragomanError(message ?? `The service answered ${status}.`, {
    status,
    code,
    fields: status === 400 && message !== undefined ? readFields(message) : [],
  });
}

function readError(text: string): { message?: string | undefined; code?: string | undefined } {
  try {
    const { error } = JSON.parse(text);
    return typeof error === 'string' ? { message: error } : { message: error.message, code: error.code };
  } catch {
    // A proxy on the way may answer in its own words.
    return {};
  }
}

function readFields(message: string): FieldError[] {
  return message.split('\n').flatMap((line) => {
    const [, field, reason] = /^([\w.[\]]+): (.+)$/.exec(line) ?? [];
    return field === undefined || reason === undefined ? [] : [{ field, reason }];
  });
}
