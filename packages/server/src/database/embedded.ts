/** Starts the embedded PostgreSQL with this program's user and database, and adds advice to its errors. */
import {
  type EmbeddedPostgres,
  EmbeddedPostgresError,
  type EmbeddedPostgresErrorCode,
  type EmbeddedPostgresOptions,
  startEmbeddedPostgres,
} from '@dragoman/embedded-postgres';

/** The server's superuser owns the schema. The migrations create the role that the application runs as. */
const NAMES = { user: 'dragoman_owner', database: 'dragoman' };

/**
 * Codes of errors that do not occur with a separate PostgreSQL server. For these, the message recommends a
 * separate server.
 */
const SOLVED_BY_ANOTHER_SERVER: readonly EmbeddedPostgresErrorCode[] = [
  'unsupported_platform',
  'root',
  'start',
];

/** Thrown when the data directory has no database and the command may not create one. */
export class NoDatabaseError extends Error {
  override name = 'NoDatabaseError';
}

/**
 * Starts the embedded server of a data directory, or joins the one that is running there.
 * @throws EmbeddedPostgresError with a message that tells the operator what to do
 */
export async function startEmbedded(
  options: Omit<EmbeddedPostgresOptions, 'user' | 'database'>,
): Promise<EmbeddedPostgres> {
  try {
    return await startEmbeddedPostgres({ ...options, ...NAMES });
  } catch (error) {
    if (!(error instanceof EmbeddedPostgresError) || !SOLVED_BY_ANOTHER_SERVER.includes(error.code))
      throw error;
    const advice = 'Set DATABASE_URL to use another PostgreSQL server (15 or later) instead.';
    throw new EmbeddedPostgresError(error.code, `${error.message}\n${advice}`, { cause: error });
  }
}
