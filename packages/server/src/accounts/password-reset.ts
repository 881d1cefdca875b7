/**
 * Forgotten passwords: mails a reset link to the user with an e-mail address. Neither the answer nor its
 * duration reveals whether a user has the address.
 */
import { linkForForgottenPassword } from '../access/invitations.ts';
import type { Vault } from '../access/secrets.ts';
import { limitAttempts, limitAttemptsByNetwork } from '../access/sessions.ts';
import type { PasswordSettings } from '../access/sign-in.ts';
import { notFound } from '../base/errors.ts';
import type { Log } from '../base/log.ts';
import type { Database } from '../database/database.ts';
import type { Settings } from '../settings/settings.ts';
import { mailForgottenPassword } from './links.ts';
import type { Mailer } from './mail.ts';

export interface PasswordResetOptions {
  database: Database;
  vault: Vault;
  mailer: Mailer;
  settings: Pick<Settings, 'smtpUrl'> & PasswordSettings;
  log: Log;
  /** Returns the public address of the server. */
  root(): string;
}

/** The limit per e-mail address, whether a user has it or not: three requests, then delays up to an hour. */
const BY_EMAIL = { free: 3, mostSeconds: 3600 };
/** The limit per client address. */
const BY_ADDRESS = { free: 10, mostSeconds: 3600 };

/** Returns whether users can reset a forgotten password themselves. */
export function canResetByMail({ smtpUrl }: Pick<Settings, 'smtpUrl'>): boolean {
  return smtpUrl !== undefined;
}

/**
 * Mails a reset link to the active user with this e-mail address, if there is one.
 * @throws ApiError `not_found` when no mail server is configured; `too_many_attempts`
 */
export async function requestPasswordReset(
  options: PasswordResetOptions,
  address: string,
  email: string,
): Promise<void> {
  const { database, vault, settings, log } = options;
  if (!canResetByMail(settings)) throw notFound();
  await limitAttemptsByNetwork(database, vault, 'password reset', address, BY_ADDRESS);
  await limitAttempts(database, vault.mark(`password reset ${email}`), BY_EMAIL);
  // The link is created after the answer was sent, because the duration of the answer would reveal whether a
  // user has the address.
  sendResetLink(options, email).catch((error: unknown) =>
    log.warn({ error }, 'the link for a forgotten password could not be created'),
  );
}

async function sendResetLink(options: PasswordResetOptions, email: string): Promise<void> {
  const { database, mailer, settings, root } = options;
  const made = await linkForForgottenPassword(database, settings, email);
  if (made !== undefined) await mailForgottenPassword(mailer, root(), made.user, made);
}
