/** `npm run bench [-- NAME …] [--rounds N] [--json]`: every figure of speed, as a ratio to its limit. */
import { benchApi } from './api.ts';
import { benchEngines } from './engines.ts';
import { runNamed } from './figures.ts';

await runNamed({ api: benchApi, engines: benchEngines });
