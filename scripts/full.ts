/**
 * Whether all tests run (`npm run test:full`). `npm test` leaves out the short runs of the proofs and tries
 * fewer examples of each property.
 */
export const FULL = process.env.FULL === '1';
