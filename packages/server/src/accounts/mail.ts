/**
 * Sends mail through the SMTP server of the settings. Without an SMTP server, links are shown to the person who created
 * them.
 */
import { createTransport } from 'nodemailer';
import type { Vault } from '../access/secrets.ts';
import { forgiveAttempt, limitAttempts, mayAttempt } from '../access/sessions.ts';
import type { AccountRef } from '../base/account.ts';
import type { Log } from '../base/log.ts';
import type { Queryable } from '../database/database.ts';
import type { Settings } from '../settings/settings.ts';

export interface Mail {
  to: string;
  subject: string;
  text: string;
}

export interface Mailer {
  /** @returns whether the SMTP server accepted the mail; undefined when no SMTP server is configured */
  send(mail: Mail): Promise<boolean | undefined>;
}

/**
 * The timeout of sending a mail is short, because a request waits for it. Nodemailer's own timeouts would be
 * minutes.
 */
const TIMEOUT_MILLISECONDS = 10_000;

/**
 * The limit of mails that the users of an account may cause in a day, by invitations, links and finished documents: 50
 * without a delay, then delays of 1, 3, 7 … seconds, up to an hour.
 */
const MAILS_OF_ACCOUNT = { free: 50, mostSeconds: 3600 };

/** Counts a mail that a user of an account causes. @throws ApiError `too_many_attempts` */
export function limitMails(on: Queryable, vault: Vault, account: AccountRef): Promise<void> {
  return limitAttempts(on, markOf(vault, account), MAILS_OF_ACCOUNT);
}

/** Counts a mail like `limitMails`. @returns false if it must wait */
export function mayMail(on: Queryable, vault: Vault, account: AccountRef): Promise<boolean> {
  return mayAttempt(on, markOf(vault, account), MAILS_OF_ACCOUNT);
}

/** Takes back one count, because the mail could not be sent. */
export function forgiveMail(on: Queryable, vault: Vault, account: AccountRef): Promise<void> {
  return forgiveAttempt(on, markOf(vault, account));
}

const markOf = (vault: Vault, { accountId }: AccountRef) => vault.mark(`mails of ${accountId}`);

export function createMailer(settings: Pick<Settings, 'smtpUrl' | 'mailFrom'>, log: Log): Mailer {
  const { smtpUrl, mailFrom } = settings;
  if (smtpUrl === undefined) return { send: async () => undefined };
  const { hostname, port, protocol, username, password } = new URL(smtpUrl);
  const transport = createTransport({
    host: hostname.replace(/^\[|\]$/g, ''),
    port: port === '' ? (protocol === 'smtps:' ? 465 : 587) : Number(port),
    secure: protocol === 'smtps:',
    // Requires TLS, so that the password is never sent unencrypted.
    requireTLS: protocol === 'smtp:' && username !== '',
    ...(username === ''
      ? {}
      : { auth: { user: decodeURIComponent(username), pass: decodeURIComponent(password) } }),
    connectionTimeout: TIMEOUT_MILLISECONDS,
    greetingTimeout: TIMEOUT_MILLISECONDS,
    socketTimeout: TIMEOUT_MILLISECONDS,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  return {
    async send({ to, subject, text }) {
      try {
        await transport.sendMail({
          from: mailFrom,
          // An object with one address, because a comma in a string could add a second recipient.
          to: { name: '', address: to },
          subject,
          text,
          headers: { 'Auto-Submitted': 'auto-generated' },
        });
        return true;
      } catch (error) {
        log.warn({ error }, 'mail could not be sent');
        return false;
      }
    },
  };
}
