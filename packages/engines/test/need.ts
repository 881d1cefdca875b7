/**
 * Helper for tests that need a real Apertium. Without Apertium, such tests fail in CI and are skipped
 * elsewhere.
 */

import { test } from 'vitest';
import { privateApertium } from '../../../scripts/test-tools.ts';
import { findApertium } from '../src/engines.ts';

const found = await findApertium(privateApertium());

/**
 * Returns whether Apertium has all of these modes. If not, registers one test whose title names the missing
 * modes. That test fails if the environment variable CI is `true`, and is skipped otherwise.
 */
export function needApertium(modes: readonly string[]): boolean {
  const missing = modes.filter((mode) => !found.modes.includes(mode));
  if (missing.length === 0) return true;
  const message = `Apertium lacks the modes ${missing.join(', ')}; run: node scripts/prepare-tests.ts`;
  if (process.env.CI === 'true') {
    test(message, () => {
      throw new Error(message);
    });
  } else test.skip(message, () => {});
  return false;
}
