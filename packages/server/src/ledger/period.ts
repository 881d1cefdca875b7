/** Reads the period of a statement from a request. */
import Type, { type Static } from 'typebox';
import { fieldError, reason } from '../base/errors.ts';
import { GIVEN_MOMENT, IN_ENVIRONMENT } from '../http/schemas.ts';

const DAY_MILLISECONDS = 86_400_000;
const USUAL_DAYS = 30;
const MAX_DAYS = 400;

const date = (description: string) => Type.Optional(Type.String({ ...GIVEN_MOMENT, description }));

export const PERIOD = Type.Object({
  environment: IN_ENVIRONMENT,
  from: date(`The first day; by default ${USUAL_DAYS} days before the end.`),
  until: date('The end, exclusive; now by default.'),
});

/** Returns the period of a request, by default the last 30 days. @throws ApiError `invalid_request` */
export function periodOf(given: Static<typeof PERIOD>): { from: Date; until: Date } {
  const until = given.until === undefined ? new Date() : new Date(given.until);
  const usual = until.getTime() - USUAL_DAYS * DAY_MILLISECONDS;
  const from = new Date(given.from ?? usual);
  if (from > until) throw fieldError('from', reason('before_the_end'));
  if (until.getTime() - from.getTime() > MAX_DAYS * DAY_MILLISECONDS) {
    throw fieldError('from', reason('days_before_the_end', { most: MAX_DAYS }));
  }
  return { from, until };
}
