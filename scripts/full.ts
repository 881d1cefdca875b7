/**
 * Whether all tests run (`npm run test:full`). `npm test` leaves out the short runs of the proofs and of the real
 * neural engine, tries fewer examples of each property, and checks the accessibility of a page with one role. As a program, it notes the commit of a full run.
 */
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';

export const FULL = process.env.FULL === '1';
/** The file with the commit of the last full run. */
export const LAST_FULL_RUN = new URL('../prove/full-run.json', import.meta.url);

if (import.meta.main) {
  const commit = execFileSync('git', ['rev-parse', 'HEAD'], { encoding: 'utf8' }).trim();
  writeFileSync(LAST_FULL_RUN, `${JSON.stringify({ commit })}\n`);
}
