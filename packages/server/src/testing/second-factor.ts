/** An authenticator app for tests. */
import { codeOfStep, stepAt } from '../access/totp.ts';
import { statement } from '../database/statements.ts';
import type { TestPerson, TestServer } from './harness.ts';

export interface Authenticator {
  /** Returns the code of the time step that is `later` steps after the current one. */
  code(later?: number): string;
  recoveryCodes: string[];
}

const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

/** Decodes base32 without padding (RFC 4648 §6). */
function decode(text: string): Buffer {
  const bits = [...text].map((letter) => BASE32.indexOf(letter).toString(2).padStart(5, '0')).join('');
  return Buffer.from(bits.match(/.{8}/g)!.map((byte) => Number.parseInt(byte, 2)));
}

/** Returns an authenticator app for a secret in base32. */
export function authenticatorOf(secret: string): Pick<Authenticator, 'code'> {
  const bytes = decode(secret);
  return { code: (later = 0) => codeOfStep(bytes, stepAt(Date.now()) + later) };
}

const FORGET_STEP = statement(
  'test.forget_step',
  'update second_factors set last_step = 0 where user_id = $1',
);

/** Turns on the second factor of a signed-in user. The app's current code can still be used once after that. */
export async function setUpSecondFactor(
  server: Pick<TestServer, 'database'>,
  { call, password, userId }: TestPerson,
): Promise<Authenticator> {
  const begun = await call('POST', '/api/me/second-factor', { current_password: password });
  if (begun.status !== 201) throw new Error(`the second factor could not be set up: ${begun.text}`);
  const app = authenticatorOf(begun.body.secret);
  const confirmed = await call('POST', '/api/me/second-factor/confirm', { code: app.code() });
  if (confirmed.status !== 200) throw new Error(`the code was refused: ${confirmed.text}`);
  await server.database.query(FORGET_STEP, [userId]);
  return { ...app, recoveryCodes: confirmed.body.recovery_codes };
}
