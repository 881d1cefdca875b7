/** Every service reached over HTTP, against a server of ours that speaks its protocol: no vendor was ever called. */

import { afterAll } from 'vitest';
import { conformance } from './conformance.ts';
import { makers } from './servers/makers.ts';
import { stopServices } from './servers/service.ts';

afterAll(stopServices);

for (const { name, start } of makers) {
  const { make } = await start();
  conformance(name, { make: () => make(), to: 'es' });
}
