/** The crash run, short: six kills, one of them of the database too. `npm run prove -- crash --kills N` runs as many as wanted. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { CHECKS } from './checks.ts';
import { runCrash } from './run.ts';

const directory = mkdtempSync(join(tmpdir(), 'dragoman-crash-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

it('loses nothing and charges nothing twice over six kills', async () => {
  const seed = Math.floor(Math.random() * 2 ** 31);
  const history = await runCrash({ directory, kills: 6, seed, say: () => {} });
  const faults = Object.entries(CHECKS).flatMap(([name, check]) =>
    check(history).map((fault) => `${name}: ${fault}`),
  );
  expect(faults, `seed ${seed}`).toEqual([]);
  expect(history.kills).toHaveLength(6);
  expect(history.attempted.filter(({ acknowledged }) => acknowledged).length).toBeGreaterThan(30);
});
