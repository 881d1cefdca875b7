/**
 * Helper for tests that need a real Apertium. Without Apertium, such tests fail in CI and are skipped
 * elsewhere.
 */

import { test } from 'vitest';
import { findApertium } from '../src/engines.ts';

const found = await findApertium();

/**
 * Returns whether the modes are installed. If not, it registers a test that fails or is skipped, with a
 * message.
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
