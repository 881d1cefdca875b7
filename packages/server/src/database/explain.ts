/**
 * Explains in one sentence why PostgreSQL cannot be used, with the remedy. For commands; logs have codes and stacks.
 */
import { isConnectionLoss } from './database.ts';

interface SystemError {
  code?: string;
  syscall?: string;
  address?: string;
  port?: number;
  severity?: string;
}

/** The problem and the remedy, two halves of one sentence. */
export interface Trouble {
  problem: string;
  /** Starts in lower case and ends with a full stop. */
  remedy: string;
}

/**
 * Explains an error of PostgreSQL or of the connection. PostgreSQL's messages name users and databases, never
 * passwords.
 * @returns undefined for any other error
 */
export function explainDatabaseError(error: unknown): Trouble | undefined {
  if (!(error instanceof Error)) return undefined;
  const { code = '', severity, syscall } = error as SystemError;
  const reason = error.message.replaceAll(/\s+/g, ' ').replace(/\.$/, '');
  const remedy = REMEDIES[code];
  if (severity !== undefined && remedy !== undefined)
    return { problem: `PostgreSQL refuses (${reason})`, remedy };
  // Errors of files have the same codes as errors of sockets.
  const elsewhere = syscall !== undefined && !/^(connect|getaddrinfo|read|write)$/.test(syscall);
  if (elsewhere || !(code === 'ENOTFOUND' || isConnectionLoss(error))) return undefined;
  return {
    problem: `PostgreSQL cannot be reached (${whereOf(error as SystemError) ?? reason})`,
    remedy: 'check DATABASE_URL, and that the server runs.',
  };
}

/** By SQLSTATE. */
const REMEDIES: Record<string, string> = {
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
