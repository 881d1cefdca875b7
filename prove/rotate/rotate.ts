/**
 * `npm run prove -- rotate` rotates webhook secrets, API keys and the secret key under load. Flags: `--rolls N` (default 4), `--seed
 * N`. An old secret stays valid for a day and at most five secrets sign at a time, so more than four rotations are
 * refused.
 */
import { type Figure, type Flags, goalZero, type Report } from '../../bench/figures.ts';
import { runProof } from '../harness/run.ts';
import { type RotateHistory, runRotate } from './run.ts';

export async function proveRotate(flags: Flags): Promise<Report> {
  return runProof('rotate', flags, async (options) =>
    judge(await runRotate({ ...options, rolls: flags.numbers.rolls ?? 4 })),
  );
}

export function judge(history: RotateHistory): Figure[] {
  const { rolls, asked, received, answers, revoked, secretKey, askedLater } = history;
  const arrived = new Set(received.map(({ id }) => id));
  const measured = asked.length > 0;
  const isOpened = (status: number) => status !== 401;
  return [
    { name: 'rotate, rolls of secret and key', value: rolls, unit: 'rolls' },
    { name: 'rotate, deliveries checked', value: received.length, unit: 'deliveries' },
    goalZero(
      'rotate, deliveries refused by the verifier',
      received.filter(({ verified }) => !verified).length,
      measured,
    ),
    goalZero('rotate, deliveries that never came', asked.filter((id) => !arrived.has(id)).length, measured),
    goalZero(
      'rotate, requests refused though their key was good',
      answers.filter((status) => status >= 400).length,
      measured,
    ),
    goalZero(
      'rotate, revoked keys that still opened a second later',
      revoked.filter(isOpened).length + Math.max(0, rolls - revoked.length),
      measured,
    ),
    goalZero(
      'rotate, secrets that the new secret key does not open',
      secretKey.left + secretKey.unreadable,
      secretKey.sealed > 0 && askedLater > 0,
    ),
  ];
}
