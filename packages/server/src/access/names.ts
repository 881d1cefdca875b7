/** Validates and normalises e-mail addresses and names of users. */
import Type from 'typebox';
import { type Reason, reason } from '../base/errors.ts';
import { defineFormat } from '../http/input.ts';

const MAX_NAME = 100;

/** Returns an e-mail address in its stored form, in which addresses are compared, or undefined when it is not valid. */
export function normalEmail(written: string): string | undefined {
  const email = written.trim().normalize('NFKC').toLowerCase();
  return /^[^\s@<>()[\]\\,;:"]{1,64}@[^\s@<>()[\]\\,;:"]+$/u.test(email) &&
    !/\p{C}/u.test(email) &&
    [...email].length <= 254
    ? email
    : undefined;
}

/**
 * Returns whether the part of an e-mail address before the `@` has only ASCII characters. Others can look like, and
 * normalise to, the address of another person: U+212A becomes `k`.
 */
export function hasPlainLocalPart(written: string): boolean {
  return /^[\x21-\x7e]*$/.test(written.trim().split('@')[0]!);
}

/**
 * E-mails greet users by name, and mail programs turn a bare host name into a link. Therefore names with a
 * host name are refused, and so are names with characters that change the direction of the surrounding text. `J.Smith` is
 * a name. Browsers read the three East Asian full stops as dots of a host name.
 */
const FORBIDDEN_IN_NAME =
  /[/\p{Cc}\p{Cs}\p{Zl}\p{Zp}]|(?![\u200c\u200d])\p{Cf}|(?:\p{L}{2}|\p{N})[.\u3002\uff0e\uff61]\p{L}{2}/u;
/**
 * Zero-width joiners belong to words in Persian and in Indic scripts, so they are allowed between letters.
 */
const STRAY_JOINER = /(?<![\p{L}\p{M}])[\u200c\u200d]|[\u200c\u200d](?![\p{L}\p{M}])/u;

/** Returns a name in its stored form. */
export function normalName(written: string): string {
  return written.trim().normalize('NFC');
}

/** Returns a name in its stored form, or the reason why it is not valid. */
export function readName(written: string): { name: string } | { fault: Reason } {
  const name = normalName(written);
  if (name === '' || [...name].length > MAX_NAME) {
    return { fault: reason('has_length', { least: 1, most: MAX_NAME }) };
  }
  if (FORBIDDEN_IN_NAME.test(name) || STRAY_JOINER.test(name)) {
    return { fault: 'Must be one line without slashes, host names and invisible characters.' };
  }
  return { name };
}

export const EMAIL = Type.String({
  format: defineFormat('email', (written) =>
    normalEmail(written) === undefined ? reason('email') : undefined,
  ),
});
export const PERSON_NAME = Type.String({
  format: defineFormat('person-name', (written) => {
    const read = readName(written);
    return 'fault' in read ? read.fault : undefined;
  }),
});
