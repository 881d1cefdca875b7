/**
 * Sends mail through the SMTP server of the settings. Without an SMTP server, or when sending fails, links
 * are shown to the person who created them.
 */
import { createTransport } from 'nodemailer';
import type { Log } from '../base/log.ts';
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
