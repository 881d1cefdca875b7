/** How the link that lets a person choose a password reaches them: by mail, else by whoever made it. */
import type { Static } from 'typebox';
import Type from 'typebox';
import { MOMENT } from '../console.ts';
import type { Mailer } from './mail.ts';
import { invitationLink, type Link, type User } from './people.ts';

export const SentLink = Type.Object(
  {
    link: Type.Union([Type.String(), Type.Null()], {
      description:
        'Opens once. Shown this once. Null: it is for another password, and was mailed to its owner alone.',
    }),
    expires_at: MOMENT,
    mailed: Type.Union([Type.Boolean(), Type.Null()], {
      description: 'Whether the mail was sent; null: none was to be.',
    }),
  },
  { title: 'SentLink' },
);

/**
 * Mails a link to its person. A link to another password is then shown to nobody else: it opens their sign-in.
 * @param root of the server, as its people reach it
 * @param by who made it, as the mail names them
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
          'Another password for Dragoman',
          `${by} made this link for you. Choose another password for Dragoman here:`,
        ];
  const mailed = await mailer.send({
    to: user.email,
    subject,
    text: `Hello ${user.name},\n\n${line}\n\n${link}\n\nThe link opens once, until ${until} UTC. If you did not expect this, do nothing.\n`,
  });
  const shown = purpose === 'reset' && mailed === true ? null : link;
  return { link: shown, expires_at: expires_at.toISOString(), mailed: mailed ?? null };
}

/** Tells a person by mail that their password was changed by a link. @param by who made the link */
export async function mailPasswordChanged(
  mailer: Mailer,
  user: Pick<User, 'email' | 'name'>,
  by: string,
): Promise<void> {
  await mailer.send({
    to: user.email,
    subject: 'Your Dragoman password was changed',
    text: `Hello ${user.name},\n\nyour password for Dragoman was changed with a link that ${by} made. If that was not you, tell an owner of your account or the operator.\n`,
  });
}
