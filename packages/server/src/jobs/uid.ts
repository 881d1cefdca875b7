/** The format of a job's uid. */
import { reason } from '../base/errors.ts';
import { explainPattern } from '../http/input.ts';

/** `.` and `..` are excluded: HTTP clients remove them from paths, so such jobs could not be read. */
export const UID_PATTERN = explainPattern('^(?!\\.{1,2}$)[A-Za-z0-9._~:@+-]{1,128}$', reason('uid'));
const UID = new RegExp(UID_PATTERN);

/** Returns whether a text is a valid uid. */
export function isUid(value: string): boolean {
  return UID.test(value);
}

/** Returns whether a uid can contain this text. */
export function isPartOfUid(value: string): boolean {
  return /^[A-Za-z0-9._~:@+-]{1,128}$/.test(value);
}
