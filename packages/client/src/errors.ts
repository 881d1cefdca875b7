/** The errors of this client. */

/** An invalid field of a request. */
export interface FieldError {
  /** Such as `text`, or `objects[3].text` in a request with many jobs. */
  field: string;
  reason: string;
}

/** The service rejected the request or did not respond. Distinguish errors by `status`, never by their message. */
export class DragomanError extends Error {
  override name = 'DragomanError';
  /** The HTTP status; undefined if there was no response (see `cause`). */
  readonly status: number | undefined;
  /** The error code of the chat API. */
  readonly code: string | undefined;
  /** The invalid fields of a request with status 400. */
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

/** Returns the error for a response outside 2xx. @param text its body, which may not be JSON */
export function refusal(status: number, text: string): DragomanError {
  const { message, code } = readError(text);
  return new DragomanError(message ?? `The service responded with ${status}.`, {
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
    // A proxy may respond with another format.
    return {};
  }
}

function readFields(message: string): FieldError[] {
  return message.split('\n').flatMap((line) => {
    const [, field, reason] = /^([\w.[\]]+): (.+)$/.exec(line) ?? [];
    return field === undefined || reason === undefined ? [] : [{ field, reason }];
  });
}
