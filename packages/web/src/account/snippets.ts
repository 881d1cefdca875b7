/** Commands to paste into a terminal. */
import { baseUrlOf, type Environment } from './environment.tsx';

/** Returns a command that sends a first request. @param key `user:key` or a placeholder */
export function firstRequest(environment: Environment, key: string): string {
  const body = { text: 'The house is big.', source_language: 'en', target_language: 'es' };
  return [
    `curl -X POST ${baseUrlOf(environment)}/tapi/v2/mt_translation/ \\`,
    `  -H 'Authorization: ApiKey ${key}' \\`,
    "  -H 'Content-Type: application/json' \\",
    `  -d '${JSON.stringify(body)}'`,
  ].join('\n');
}

export function readJob(
  environment: Environment,
  tier: 'human' | 'machine',
  uid: string,
  key: string,
): string {
  const list = tier === 'machine' ? 'mt_translation' : 'translation';
  const path = `${baseUrlOf(environment)}/tapi/v2/${list}/${encodeURIComponent(uid).replaceAll("'", '%27')}/`;
  return `curl '${path}' \\\n  -H 'Authorization: ApiKey ${key}'`;
}
