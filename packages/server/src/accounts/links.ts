/** How the link that lets a person choose a password reaches them: by mail, else by whoever made it. */
import type { Static } from 'typebox';
import Type from 'typebox';
import { MOMENT } from '../console.ts';
import type { Mailer } from './mail.ts';
import { invitationLink, type Link, type User } from './people.ts';

export const SentLink = Type.Object(
  {
    link: Type.String({ description: 'Opens once. Shown this once, also where it was mailed.' }),
    expires_at: MOMENT,
    mailed: Type.Union([Type.Boolean(), Type.Null()], {
      description: 'Whether the mail was sent; null: none was to be.',
    }),
  },
  { title: 'SentLink' },
);

/** @param root of the server, as its people reach it */
export async function sendLink(
  mailer: Mailer,
  root: string,
  user: Pick<User, 'email' | 'name'>,
  { token, purpose, expires_at }: Link,
): Promise<Static<typeof SentLink>> {
  const link = invitationLink(root, token);
  const until = expires_at.toISOString().slice(0, 16).replace('T', ' ');
  const [subject, line] =
    purpose === 'invitation'
      ? ['You are invited to Dragoman', 'You are invited to Dragoman. Choose your password here:']
      : ['Another password for Dragoman', 'Choose another password for Dragoman here:'];
  const mailed = await mailer.send({
    to: user.email,
    subject,
    text: `Hello ${user.name},\n\n${line}\n\n${link}\n\nThe link opens once, until ${until} UTC. If you did not expect this, do nothing.\n`,
  });
  return { link, expires_at: expires_at.toISOString(), mailed: mailed ?? null };
}
