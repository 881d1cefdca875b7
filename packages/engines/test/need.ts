/** Tests on the real thing: they fail in CI where Apertium is missing, and are skipped with a sentence elsewhere. */

import { test } from 'vitest';
import { findApertium } from '../src/engines.ts';

const found = await findApertium();

/** @returns true when these modes are installed; else registers a failing or skipped test that says so */
export function needApertium(modes: readonly string[]): boolean {
  const missing = modes.filter((mode) => !found.modes.includes(mode));
  if (missing.length === 0) return true;
  const message = `Apertium has no ${missing.join(', ')} here; run: node scripts/prepare-tests.ts`;
  if (process.env.CI === 'true') {
    test(message, () => {
      throw new Error(message);
    });
  } else test.skip(message, () => {});
  return false;
}
