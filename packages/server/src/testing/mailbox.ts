/** An SMTP server on the loopback that stores all received mails. */
import type { AddressInfo } from 'node:net';
import { SMTPServer } from 'smtp-server';

export interface ReceivedMail {
  from: string;
  to: string[];
  /** Headers and body of the mail, as received. */
  raw: string;
  /** The decoded body of the mail, with its lines joined. */
  text: string;
}

export interface Mailbox {
  /** For `DRAGOMAN_SMTP_URL`. */
  url: string;
  received: ReceivedMail[];
  /** Makes the server refuse every later mail, or accept mails again. */
  refuse(refusing?: boolean): void;
  close(): Promise<void>;
}

export async function startMailbox(): Promise<Mailbox> {
  const received: ReceivedMail[] = [];
  let refusing = false;
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['AUTH', 'STARTTLS'],
    onRcptTo: (_, __, done) => done(refusing ? new Error('no such mailbox') : undefined),
    onData(stream, session, done) {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        const raw = Buffer.concat(chunks).toString();
        const { mailFrom, rcptTo } = session.envelope;
        received.push({
          from: mailFrom === false ? '' : mailFrom.address,
          to: rcptTo.map(({ address }) => address),
          raw,
          text: readBody(raw),
        });
        done();
      });
    },
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()));
  const { port } = server.server.address() as AddressInfo;
  return {
    url: `smtp://127.0.0.1:${port}`,
    received,
    refuse(refuses = true) {
      refusing = refuses;
    },
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

/**
 * Decodes quoted-printable (RFC 2045 §6.7): `=` at the end of a line joins it with the next line; `=3D` is the byte
 * 3D.
 */
function readBody(raw: string): string {
  const [head, ...body] = raw.split('\r\n\r\n');
  const text = body.join('\n\n').replaceAll('\r\n', '\n');
  if (!/^content-transfer-encoding: quoted-printable/im.test(head!)) return text;
  const bytes = text
    .replace(/=\n/g, '')
    .replace(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  return Buffer.from(bytes, 'latin1').toString();
}
