/** Sends invitation and reset links by mail, or returns them to the person who created them. */
import type { Static } from 'typebox';
import Type from 'typebox';
import { invitationLink, type Link } from '../access/invitations.ts';
import type { User } from '../access/people.ts';
import { MOMENT } from '../http/schemas.ts';
import type { Mailer } from './mail.ts';

export const SentLink = Type.Object(
  {
    link: Type.Union([Type.String(), Type.Null()], {
      description:
        'Valid once, and shown only in this answer. Null if it was mailed to the user. Customers never get it if a mail server is configured.',
    }),
    expires_at: MOMENT,
    mailed: Type.Union([Type.Boolean(), Type.Null()], {
      description: 'Whether the mail was sent; null if no mail server is configured.',
    }),
  },
  { title: 'SentLink' },
);

const minuteOf = (time: Date): string => time.toISOString().slice(0, 16).replace('T', ' ');

/**
 * Mails a link to its user. A mailed link is not returned to its creator, because anybody who has the link can sign in as
 * that user. Who uses a mailed link also proves that the mailbox is theirs. Customers therefore get no link either if the
 * mail server refuses the mail.
 * @param root the public address of the server
 * @param customer the customer who created the link, whom the mail of a reset link names; undefined for an operator
 */
export async function sendLink(
  mailer: Mailer,
  root: string,
  user: Pick<User, 'email' | 'name'>,
  { token, purpose, expires_at }: Link,
  customer?: string,
): Promise<Static<typeof SentLink>> {
  const link = invitationLink(root, token);
  const [subject, line] =
    purpose === 'invitation'
      ? ['You are invited to Dragoman', 'You are invited to Dragoman. Sign in for the first time here:']
      : [
          'Reset your Dragoman password',
          `${customer ?? 'The operator'} created this link for you. Choose a new password for Dragoman here:`,
        ];
  const mailed = await mailer.send({
    to: user.email,
    subject,
    text: `Hello ${user.name},\n\n${line}\n\n${link}\n\nThe link works once, until ${minuteOf(expires_at)} UTC. If you did not expect this e-mail, ignore it.\n`,
  });
  const isShown = mailed === undefined || (mailed === false && customer === undefined);
  return { link: isShown ? link : null, expires_at, mailed: mailed ?? null };
}

/** Mails a user a link for replacing a forgotten password. */
export async function mailForgottenPassword(
  mailer: Mailer,
  root: string,
  user: Pick<User, 'email' | 'name'>,
  { token, expires_at }: Link,
): Promise<void> {
  await mailer.send({
    to: user.email,
    subject: 'Reset your Dragoman password',
    text: `Hello ${user.name},\n\nSomebody requested a new password for your Dragoman user. Choose it here:\n\n${invitationLink(root, token)}\n\nThe link works once, until ${minuteOf(expires_at)} UTC. If you did not request it, ignore this e-mail: your password stays the same.\n`,
  });
}

/**
 * Notifies a user by mail that their password was changed with a link. @param by the person who created the
 * link; undefined if the user requested it
 */
export async function mailPasswordChanged(
  mailer: Mailer,
  user: Pick<User, 'email' | 'name'>,
  by: string | undefined,
): Promise<void> {
  const link = by === undefined ? 'a link that was mailed to you' : `a link that ${by} created`;
  await mailer.send({
    to: user.email,
    subject: 'Your Dragoman password was changed',
    text: `Hello ${user.name},\n\nYour Dragoman password was changed with ${link}. If you did not do this, contact an owner of your account or the operator.\n`,
  });
}
