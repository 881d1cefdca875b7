/** Sends invitation and reset links by mail, or returns them to the person who created them. */
import type { Static } from 'typebox';
import Type from 'typebox';
import { invitationLink, type Link, type User } from '../access/people.ts';
import { MOMENT } from '../http/schemas.ts';
import type { Mailer } from './mail.ts';

export const SentLink = Type.Object(
  {
    link: Type.Union([Type.String(), Type.Null()], {
      description:
        'Valid once, and shown only in this answer. Null for a password reset that was mailed to the user.',
    }),
    expires_at: MOMENT,
    mailed: Type.Union([Type.Boolean(), Type.Null()], {
      description: 'Whether the mail was sent; null if no mail server is configured.',
    }),
  },
  { title: 'SentLink' },
);

/**
 * Mails a link to its user. A mailed reset link is not returned to its creator, because anybody who has the
 * link can sign in as that user.
 * @param root the public address of the server
 * @param by the person who created the link; the mail names them
 */
export async function sendLink(
  mailer: Mailer,
  root: string,
  user: Pick<User, 'email' | 'name'>,
  { token, purpose, expires_at }: Link,
  by: string,
): Promise<Static<typeof SentLink>> {
  const link = invitationLink(root, token);
  const until = expires_at.toISOString().slice(0, 16).replace('T', ' ');
  const [subject, line] =
    purpose === 'invitation'
      ? ['You are invited to Dragoman', 'You are invited to Dragoman. Choose your password here:']
      : [
          'Reset your Dragoman password',
          `${by} created this link for you. Choose a new password for Dragoman here:`,
        ];
  const mailed = await mailer.send({
    to: user.email,
    subject,
    text: `Hello ${user.name},\n\n${line}\n\n${link}\n\nThe link works once, until ${until} UTC. If you did not expect this e-mail, ignore it.\n`,
  });
  const shown = purpose === 'reset' && mailed === true ? null : link;
  return { link: shown, expires_at: expires_at.toISOString(), mailed: mailed ?? null };
}

/**
 * Notifies a user by mail that their password was changed with a link. @param by the person who created the
 * link
 */
export async function mailPasswordChanged(
  mailer: Mailer,
  user: Pick<User, 'email' | 'name'>,
  by: string,
): Promise<void> {
  await mailer.send({
    to: user.email,
    subject: 'Your Dragoman password was changed',
    text: `Hello ${user.name},\n\nYour Dragoman password was changed with a link that ${by} created. If you did not do this, contact an owner of your account or the operator.\n`,
  });
}
