/**
 * Connection strings of PostgreSQL that name several hosts, as libpq writes them:
 * `postgres://user@a:5432,b:5432/name?target_session_attrs=read-write`.
 * https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-MULTIPLE-HOSTS
 */
const MOST_HOSTS = 16;

/** The server to connect to: the primary, which accepts writes, or a standby, which does not. */
export type WantedHost = 'primary' | 'standby';

/**
 * Splits a connection string with several hosts into one connection string per host. A string with one host is returned
 * unchanged.
 * @throws Error when the string names several hosts in a form that is not supported, or asks for another kind of host.
 * The message completes the sentence "DATABASE_URL must be …".
 */
export function splitHosts(connectionString: string, wanted: WantedHost = 'primary'): string[] {
  const start = connectionString.indexOf('://') + 3;
  if (start < 3) return [connectionString];
  const end = endOfAuthority(connectionString, start);
  const at = connectionString.lastIndexOf('@', end - 1);
  const user = at < start ? '' : connectionString.slice(start, at + 1);
  const hosts = connectionString.slice(start + user.length, end).split(',');
  requireKind(connectionString.slice(end), hosts.length, wanted);
  if (hosts.length === 1) return [connectionString];
  if (hosts.length > MOST_HOSTS || hosts.includes('')) {
    throw new Error(
      `a URL with at most ${MOST_HOSTS} hosts, each as host:port, with a comma between two hosts`,
    );
  }
  const scheme = connectionString.slice(0, start);
  return hosts.map((host) => `${scheme}${user}${host}${connectionString.slice(end)}`);
}

function endOfAuthority(text: string, start: number): number {
  for (let index = start; index < text.length; index++) if ('/?#'.includes(text[index]!)) return index;
  return text.length;
}

/** The values of libpq's `target_session_attrs` that ask for the wanted kind of host. */
const ACCEPTED: Readonly<Record<WantedHost, readonly string[]>> = {
  primary: ['read-write', 'primary'],
  standby: ['read-only', 'standby', 'prefer-standby', 'any'],
};

/** Checks the parameters that select among hosts. */
function requireKind(pathAndQuery: string, hosts: number, wanted: WantedHost): void {
  const parameters = new URLSearchParams(pathAndQuery.split('?', 2)[1]);
  const asked = parameters.get('target_session_attrs');
  if (asked !== null && !ACCEPTED[wanted].includes(asked)) {
    const why = wanted === 'primary' ? 'the program writes' : 'the program only reads there';
    throw new Error(`a URL without target_session_attrs other than ${ACCEPTED[wanted][0]}, because ${why}`);
  }
  if ((parameters.get('host') ?? '').includes(',') || (hosts > 1 && parameters.has('host'))) {
    throw new Error('a URL that names several hosts before the database: postgres://user@a:5432,b:5432/name');
  }
}
