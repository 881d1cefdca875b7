/**
 * Whether all tests run (`npm run test:full`). `npm test` leaves out the short runs of the proofs and of the real
 * neural engine, checks a page once and not for each role, and tries fewer examples of each property.
 */
export const FULL = process.env.FULL === '1';
