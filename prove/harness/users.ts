/** Creates users who sign in to the web app. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { DRAGOMAN } from '../../scripts/program.ts';

export const PASSWORD = 'a long and quiet password';
/** The header that browsers send with requests of the web app's own pages. */
export const SAME_ORIGIN = { 'sec-fetch-site': 'same-origin' };

/**
 * Creates a user with {@link PASSWORD}.
 *
 * @param options further options of `dragoman user create`
 */
export async function createUser(
  directory: string,
  email: string,
  role: string,
  ...options: string[]
): Promise<void> {
  const args = ['user', 'create', email, '--role', role, ...options, '--password-stdin', '--data', directory];
  const running = promisify(execFile)(process.execPath, [DRAGOMAN, ...args]);
  running.child.stdin?.end(PASSWORD);
  await running;
}

/**
 * Signs a user in.
 *
 * @returns the cookies of the session, as the value of a `cookie` header
 */
export async function signIn(url: string, email: string): Promise<string> {
  const response = await fetch(`${url}/api/session`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...SAME_ORIGIN },
    body: JSON.stringify({ email, password: PASSWORD }),
  });
  if (response.status >= 300) throw new Error(`signing in was answered ${response.status}`);
  const cookies = response.headers.getSetCookie().map((one) => one.split(';')[0]!);
  return cookies.join('; ');
}
