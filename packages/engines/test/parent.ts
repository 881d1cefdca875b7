/** Starts a pipeline, keeps it busy and prints its process ids, for a test that kills this process. */

import { privateApertium } from '../../../scripts/test-tools.ts';
import { createApertium } from '../src/engines.ts';

const engine = createApertium(privateApertium());
const segments = Array.from({ length: 2_000 }, (_, n) => ({
  id: String(n),
  pieces: [{ text: 'The house is big.' }],
}));
await engine.draft({ from: 'en', to: 'es', segments: segments.slice(0, 1), lane: 'bulk' });
console.log(JSON.stringify(engine.pipelines()[0]!.pids));
for (;;) await engine.draft({ from: 'en', to: 'es', segments, lane: 'bulk' });
