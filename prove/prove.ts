/** `npm run prove [-- NAME …] [--json]`: every promise, each with a goal. */
import { runNamed } from '../bench/figures.ts';
import { proveAddresses } from './addresses/addresses.ts';
import { proveCrash } from './crash/crash.ts';
import { proveDelivery } from './delivery/delivery.ts';
import { proveEngines } from './engines/engines.ts';
import { proveFair } from './fair/fair.ts';

await runNamed({
  crash: proveCrash,
  delivery: proveDelivery,
  addresses: proveAddresses,
  fair: proveFair,
  engines: proveEngines,
});
