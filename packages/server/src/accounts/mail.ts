/**
 * Mail, by the SMTP server of the settings; without one nobody is mailed, and links are shown to whoever asked for
 * them, to be passed on. A mail that cannot be sent fails nothing: the link is there to be shown then too.
 */
import { createTransport } from 'nodemailer';
import type { Log } from '../log.ts';
import type { Settings } from '../settings.ts';

export interface Mail {
  to: string;
  subject: string;
  text: string;
}

export interface Mailer {
  /** @returns whether the SMTP server took it; undefined: there is none */
  send(mail: Mail): Promise<boolean | undefined>;
}

/** An SMTP server that says nothing must not hold a request for minutes. */
const PATIENCE_MILLISECONDS = 10_000;

export function createMailer(settings: Pick<Settings, 'smtpUrl' | 'mailFrom'>, log: Log): Mailer {
  const { smtpUrl, mailFrom } = settings;
  if (smtpUrl === undefined) return { send: async () => undefined };
  const { hostname, port, protocol, username, password } = new URL(smtpUrl);
  const transport = createTransport({
    host: hostname.replace(/^\[|\]$/g, ''),
    port: port === '' ? (protocol === 'smtps:' ? 465 : 587) : Number(port),
    secure: protocol === 'smtps:',
    // A password is not sent in clear.
    requireTLS: protocol === 'smtp:' && username !== '',
    ...(username === ''
      ? {}
      : { auth: { user: decodeURIComponent(username), pass: decodeURIComponent(password) } }),
    connectionTimeout: PATIENCE_MILLISECONDS,
    greetingTimeout: PATIENCE_MILLISECONDS,
    socketTimeout: PATIENCE_MILLISECONDS,
    // What is written here is text: no file and no address is ever read into a mail.
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  return {
    async send({ to, subject, text }) {
      try {
        await transport.sendMail({
          from: mailFrom,
          // As an object: a comma in it makes no second address.
          to: { name: '', address: to },
          subject,
          text,
          headers: { 'Auto-Submitted': 'auto-generated' },
        });
        return true;
      } catch (error) {
        log.warn({ error }, 'a mail could not be sent');
        return false;
      }
    },
  };
}
