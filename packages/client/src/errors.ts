/** A field of a request that the service rejected as invalid. */
export interface FieldError {
  /** The path of the field, such as `text`, or `objects[3].text` in a request with many jobs. */
  field: string;
  reason: string;
}

/**
 * Thrown when the service rejects a request or does not respond. Distinguish errors by `status`, not by their
 * message.
 */
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

/**
 * Returns the error for a response with a status other than 2xx.
 *
 * @param text the response body, which may not be JSON
 */
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
    // A proxy may respond with another format than JSON.
    return {};
  }
}

function readFields(message: string): FieldError[] {
  return message.split('\n').flatMap((line) => {
    const [, field, reason] = /^([\w.[\]]+): (.+)$/.exec(line) ?? [];
    return field === undefined || reason === undefined ? [] : [{ field, reason }];
  });
}
