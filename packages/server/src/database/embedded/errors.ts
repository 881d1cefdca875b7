/** What can keep the embedded server from running. Each is a sentence for the operator, told apart by code. */
export type EmbeddedErrorCode =
  /** No server binaries for this operating system, processor or C library. */
  | 'unsupported_platform'
  /** Another owner lives in the data directory. */
  | 'in_use'
  /** The data directory cannot be created, written or locked. */
  | 'data_directory'
  /** The data directory has no database, and the command may not make one. */
  | 'no_data'
  /** Started as root, and no way to run the server as somebody else was found. */
  | 'root'
  /** The cluster was made by another major version, or is not a whole cluster. */
  | 'cluster'
  /** `initdb` or the server ended with an error, or never answered. */
  | 'start';

export class EmbeddedError extends Error {
  override name = 'EmbeddedError';
  readonly code: EmbeddedErrorCode;

  constructor(code: EmbeddedErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** The way out that always works, as the last sentence of a refusal. */
export const USE_OTHER_DATABASE =
  'Set DATABASE_URL to a PostgreSQL server (15 or later) to use that one instead.';
