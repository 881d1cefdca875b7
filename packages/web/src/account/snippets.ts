/** What can be pasted into a terminal as it is. */
import { addressOf, type Environment } from './environment.tsx';

/** @param key `user:key`, or what stands for it */
export function firstRequest(environment: Environment, key: string): string {
  const body = { text: 'The house is big.', source_language: 'en', target_language: 'es' };
  return [
    `curl -X POST ${addressOf(environment)}/tapi/v2/mt_translation/ \\`,
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
  const path = `${addressOf(environment)}/tapi/v2/${list}/${encodeURIComponent(uid).replaceAll("'", '%27')}/`;
  return `curl '${path}' \\\n  -H 'Authorization: ApiKey ${key}'`;
}
