/**
 * Runs the conformance tests of every HTTP engine with a local server that implements the protocol of its
 * service.
 */

import { afterAll } from 'vitest';
import { conformance } from './conformance.ts';
import { makers } from './servers/makers.ts';
import { stopServices } from './servers/service.ts';

afterAll(stopServices);

for (const { name, start } of makers) {
  const { make } = await start();
  conformance(name, { make: () => make(), to: 'es' });
}
