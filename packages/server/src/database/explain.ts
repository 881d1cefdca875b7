/**
 * Explains in one sentence why PostgreSQL cannot be used, with the remedy. Commands print it; logs contain
 * codes and stacks.
 */
import { isConnectionLoss } from './database.ts';

interface SystemError {
  code?: string;
  syscall?: string;
  address?: string;
  port?: number;
  severity?: string;
}

/** A problem and its remedy, the two halves of one sentence. */
export interface Trouble {
  problem: string;
  /** The remedy starts in lower case and ends with a full stop. */
  remedy: string;
}

/**
 * Explains an error of PostgreSQL or of the connection to it. PostgreSQL's messages contain names of users
 * and databases, but no passwords.
 * @returns undefined for an error that has another cause
 */
export function explainDatabaseError(error: unknown): Trouble | undefined {
  if (!(error instanceof Error)) return undefined;
  const { code = '', severity, syscall } = error as SystemError;
  const reason = error.message.replaceAll(/\s+/g, ' ').replace(/\.$/, '');
  // The session goes on, so the lost connection is one between nodes of a Citus cluster.
  const isOfNode = severity === 'ERROR' && /^(08|58|XX)/.test(code) && isConnectionLoss(error);
  const refuses = severity !== undefined && isConnectionLoss(error) ? SERVER_REMEDY : undefined;
  const remedy = isOfNode ? NODE_REMEDY : (REMEDIES[code] ?? refuses);
  if (severity !== undefined && remedy !== undefined)
    return { problem: `PostgreSQL refuses (${reason})`, remedy };
  // File errors and socket errors have the same codes, so the system call tells them apart.
  const elsewhere = syscall !== undefined && !/^(connect|getaddrinfo|read|write)$/.test(syscall);
  if (elsewhere || !(code === 'ENOTFOUND' || isConnectionLoss(error))) return undefined;
  return {
    problem: `PostgreSQL cannot be reached (${whereOf(error as SystemError) ?? reason})`,
    remedy: 'check DATABASE_URL, and that the server runs.',
  };
}

const NODE_REMEDY =
  'check that all nodes run, that pg_hba.conf allows this user, and its password in ~postgres/.pgpass.';

/** The remedy when the server, or a pooler before it, refuses a connection for another reason. */
const SERVER_REMEDY = 'correct DATABASE_URL, or see the log of the server or the pooler.';

/** Remedies for errors of PostgreSQL, by SQLSTATE. */
const REMEDIES: Record<string, string> = {
  '08P01':
    'remove the parameter from DATABASE_URL, or use a pooler in session mode (docs/operating.md#pooler).',
  '28P01': 'correct the user name or the password in DATABASE_URL.',
  '28000': 'correct the user name in DATABASE_URL, or allow it in pg_hba.conf.',
  '3D000': 'create it with CREATE DATABASE, or correct the name in DATABASE_URL.',
  '42501': 'the user of DATABASE_URL must own the database.',
  '53300': 'raise max_connections of PostgreSQL, or run fewer processes.',
  '57P03': 'wait until the server has started.',
};

function whereOf({ code, address, port }: SystemError): string | undefined {
  if (code === undefined) return undefined;
  return address === undefined ? code : `${code} ${address}${port === undefined ? '' : `:${port}`}`;
}
