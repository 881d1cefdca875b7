export type EmbeddedPostgresErrorCode =
  /** There are no server binaries for this operating system, processor or C library. */
  | 'unsupported_platform'
  /** Another process owns the data directory. */
  | 'in_use'
  /** The data directory cannot be created, written or locked. */
  | 'data_directory'
  /** The program was started as root, and the server cannot run as another user. */
  | 'root'
  /** The cluster is damaged or was created by another major version. */
  | 'cluster'
  /** `initdb` or the server failed or never answered. */
  | 'start'
  /** Another process owns the server, but the server does not answer. */
  | 'owner_unavailable';

/** Thrown when the server cannot run. The message tells the operator what to do. */
export class EmbeddedPostgresError extends Error {
  override name = 'EmbeddedPostgresError';
  readonly code: EmbeddedPostgresErrorCode;

  constructor(code: EmbeddedPostgresErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
