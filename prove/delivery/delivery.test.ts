/** The delivery run, short: two kills. `npm run prove -- delivery` runs it at length. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { CHECKS } from './checks.ts';
import { isSuccess } from './history.ts';
import { runDeliveries } from './run.ts';

const directory = mkdtempSync(join(tmpdir(), 'dragoman-delivery-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

it('delivers everything, once in order, to a hostile sink over two kills', async () => {
  const seed = Math.floor(Math.random() * 2 ** 31);
  const options = {
    directory,
    deliveries: 60,
    kills: 2,
    seed,
    hostile: true,
    leaseSeconds: 2,
    say: () => {},
  };
  const history = await runDeliveries(options);
  const faults = Object.entries(CHECKS).flatMap(([name, check]) =>
    check(history).map((fault) => `${name}: ${fault}`),
  );
  expect(faults, `seed ${seed}`).toEqual([]);
  expect(history.kills).toHaveLength(2);
  expect(history.accepted).toHaveLength(60);
  // The sink was hostile indeed.
  expect(history.arrivals.some((arrival) => !isSuccess(arrival))).toBe(true);
});
