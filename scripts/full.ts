/**
 * Whether all tests run (`npm run test:full`). `npm test` leaves out:
 *
 * - the short runs of the proofs and of the real neural engine;
 * - most examples of each property, and most pairs of a text and a place in the tests of growth;
 * - the accessibility of a page with further roles, and of pages and dialogs in a second theme;
 * - the installation of a release's packages, generated clients, and the doctor's test of every language pair.
 *
 * As a program, it notes the commit of a full run, which must have no changes.
 */
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';

export const FULL = process.env.FULL === '1';
/** The file with the commit of the last full run. */
export const LAST_FULL_RUN = new URL('../prove/full-run.json', import.meta.url);

if (import.meta.main) {
  const git = (...args: string[]) => execFileSync('git', args, { encoding: 'utf8' }).trim();
  if (git('status', '--porcelain') !== '')
    throw new Error('Commit your changes first: the run is noted for a commit.');
  writeFileSync(LAST_FULL_RUN, `{ "commit": "${git('rev-parse', 'HEAD')}", "ran": true }\n`);
}
