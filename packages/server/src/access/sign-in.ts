/** Signing in with an e-mail address, a password and, if the user has one, a second factor. */
import { ApiError } from '../base/errors.ts';
import type { Database } from '../database/database.ts';
import type { Settings } from '../settings/settings.ts';
import { passwordMatches } from './passwords.ts';
import { readUserByEmail, type User } from './people.ts';
import { requireCode } from './second-factor.ts';
import type { Vault } from './secrets.ts';
import {
  type AttemptLimit,
  forgiveAttempt,
  forgiveAttempts,
  limitAttemptsByNetwork,
  networkOf,
  type SessionClient,
  type SessionLimits,
  type StartedSession,
  startSession,
  wrongSignIn,
} from './sessions.ts';

/**
 * The limit per user and client address: three free attempts, then delays of 1, 3, 7 … seconds, up to 15
 * minutes.
 */
const BY_USER: AttemptLimit = { free: 3, mostSeconds: 900 };
/** The limit per client address. It is higher because a whole office may share an address. */
const BY_ADDRESS: AttemptLimit = { free: 20, mostSeconds: 300 };

export type PasswordSettings = Pick<Settings, 'passwordUsers' | 'oidcRoleClaim'>;

/**
 * Returns whether a user may sign in with a password. If a claim decides on roles, people of the provider may not, unless
 * the setting names them: the claim is checked only when they sign in with the provider.
 */
export function mayUsePassword(
  { passwordUsers, oidcRoleClaim }: PasswordSettings,
  { email, linked }: Pick<User, 'email' | 'linked'>,
): boolean {
  if (passwordUsers !== 'everybody') return passwordUsers.includes(email);
  return oidcRoleClaim === undefined || !linked;
}

export interface Credentials {
  email: string;
  password: string;
  /** A code of the authenticator app or a recovery code, for users with a second factor. */
  code?: string | undefined;
}

/**
 * Starts a session with an e-mail address and a password. The refusal of an unknown user has the same text and takes
 * the same time as that of a wrong password.
 * @throws ApiError `wrong_sign_in`; `second_factor_required` when the password is right and the code is missing;
 * `invalid_request` for a wrong code; `too_many_attempts`
 */
export async function signIn(
  database: Database,
  vault: Vault,
  limits: SessionLimits & PasswordSettings,
  { email, password, code }: Credentials,
  client: SessionClient,
): Promise<StartedSession> {
  const byUser = vault.mark(`sign-in ${networkOf(client.address)} ${email}`);
  const byNetwork = await limitAttemptsByNetwork(database, vault, 'sign-in', client.address, BY_ADDRESS, [
    { mark: byUser, limit: BY_USER },
  ]);
  const found = await readUserByEmail(database, email);
  const right = await passwordMatches(password, found?.passwordHash ?? undefined);
  if (!right || found === undefined || found.user.status === 'disabled') throw wrongSignIn();
  const { user, passwordHash } = found;
  // The answer does not reveal which users may sign in with a password.
  if (!mayUsePassword(limits, user)) throw wrongSignIn();
  try {
    await requireCode(database, vault, user, code);
  } catch (error) {
    // A sign-in without a code is the first of two steps and does not count as a wrong guess.
    if (!(error instanceof ApiError && error.code === 'second_factor_required')) throw error;
    for (const mark of [byUser, ...byNetwork]) await forgiveAttempt(database, mark);
    throw error;
  }
  await forgiveAttempts(database, byUser);
  for (const mark of byNetwork) await forgiveAttempt(database, mark);
  const authenticated = { userId: user.user_id, passwordHash };
  return database.transaction((transaction) => startSession(transaction, limits, authenticated, client));
}
