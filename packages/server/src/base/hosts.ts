/**
 * Connection strings of PostgreSQL that name several hosts, as libpq writes them:
 * `postgres://user@a:5432,b:5432/name?target_session_attrs=read-write`.
 * https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-MULTIPLE-HOSTS
 */
const MOST_HOSTS = 16;

/**
 * Splits a connection string with several hosts into one connection string per host. A string with one host is returned
 * unchanged.
 * @throws Error when the string names several hosts in a form that is not supported. The message completes the sentence
 * "DATABASE_URL must be …".
 */
export function splitHosts(connectionString: string): string[] {
  const start = connectionString.indexOf('://') + 3;
  if (start < 3) return [connectionString];
  const end = endOfAuthority(connectionString, start);
  const at = connectionString.lastIndexOf('@', end - 1);
  const user = at < start ? '' : connectionString.slice(start, at + 1);
  const hosts = connectionString.slice(start + user.length, end).split(',');
  requireWritable(connectionString.slice(end), hosts.length);
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

/**
 * Checks the parameters that select among hosts. The program always writes, so it accepts only the values of
 * `target_session_attrs` that ask for a host that accepts writes.
 */
function requireWritable(pathAndQuery: string, hosts: number): void {
  const parameters = new URLSearchParams(pathAndQuery.split('?', 2)[1]);
  const wanted = parameters.get('target_session_attrs');
  if (wanted !== null && wanted !== 'read-write' && wanted !== 'primary') {
    throw new Error('a URL without target_session_attrs other than read-write, because the program writes');
  }
  if ((parameters.get('host') ?? '').includes(',') || (hosts > 1 && parameters.has('host'))) {
    throw new Error('a URL that names several hosts before the database: postgres://user@a:5432,b:5432/name');
  }
}
