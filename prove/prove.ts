/** `npm run prove [-- NAME …] [--json]`: every promise, each with a goal. */
import { runNamed } from '../bench/figures.ts';
import { proveCrash } from './crash/crash.ts';

await runNamed({ crash: proveCrash });
