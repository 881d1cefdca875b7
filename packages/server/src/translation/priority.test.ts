/**
 * Tests how many sentences a busy engine translates before the sentence of a new account. The engine of this
 * test answers one sentence in each lane per turn of the event loop, so the counts do not depend on the
 * machine.
 */
import type { Segment } from '@dragoman/documents';
import type { Draft, DraftRequest, Engine, Lane } from '@dragoman/engines';
import { expect, it } from 'vitest';
import type { AccountRef } from '../base/account.ts';
import { createTranslator } from './translator.ts';

const never = new AbortController().signal;

/** Creates an engine that answers one sentence at a time in each lane. The requests of a lane take turns. */
function createSlow() {
  const lines: Record<Lane, Map<DraftRequest, (() => void)[]>> = { bulk: new Map(), interactive: new Map() };
  const answered: Record<Lane, string[]> = { bulk: [], interactive: [] };
  let ticking = false;
  function tick(): void {
    for (const line of Object.values(lines)) {
      const [first] = line;
      if (first === undefined) continue;
      const [request, waits] = first;
      waits.shift()!();
      line.delete(request);
      if (waits.length > 0) line.set(request, waits);
    }
    ticking = lines.bulk.size + lines.interactive.size > 0;
    if (ticking) setImmediate(tick);
  }
  const engine: Engine = {
    name: 'slow',
    capabilities: {
      codes: 'kept',
      terms: false,
      tone: false,
      instructions: false,
      context: false,
      remote: false,
    },
    version: async () => '1',
    directions: async () => [{ from: 'en', to: 'es', route: 'slow', hops: 1 }],
    draft(request) {
      const drafts = request.segments.map(({ id, pieces }) => {
        const { promise, resolve } = Promise.withResolvers<Draft>();
        const own = lines[request.lane].get(request) ?? [];
        lines[request.lane].set(request, own);
        own.push(() => {
          answered[request.lane].push(id);
          resolve({ id, status: 'translated', route: 'slow', pieces: [...pieces] });
        });
        return promise;
      });
      if (!ticking) setImmediate(tick);
      ticking = true;
      return Promise.all(drafts);
    },
    health: async () => ({ ok: true, detail: '' }),
    stop: async () => {},
  };
  return { engine, answered };
}

/** Creates segments of about eighty characters. */
const sentences = (name: string, count: number): Segment[] =>
  Array.from({ length: count }, (_, n) => ({
    id: `${name}-${n}`,
    unit: 0,
    pieces: [
      { text: `The old fisherman of ${name} bought the red house number ${n} near the river on Monday.` },
    ],
  }));

/** Returns how many sentences of other accounts the lane answered before the sentence of a new account. */
async function ahead(lane: Lane, backlogs: Record<string, number[]>): Promise<number> {
  const { engine, answered } = createSlow();
  const translator = createTranslator({
    engines: [engine],
    limitsOf: () => ({ concurrency: 8, perSecond: undefined, centsPerMillion: 0 }),
    engineRoutes: async () => [],
    recall: async () => [],
    inSandbox: () => true,
    observer: { asked() {}, translated() {}, failed() {}, cached() {} },
    cacheBytes: 1024,
  });
  const draft = (account: string, segments: Segment[], own: Lane) =>
    translator.draft(segments, {
      account: { part: 1, accountId: account } as AccountRef,
      tier: 'machine',
      brand: undefined,
      environment: 'production',
      from: 'en',
      to: 'es',
      lane: own,
      signal: never,
    });
  const loads = Object.entries(backlogs).flatMap(([account, jobs]) =>
    jobs.map((count, n) => draft(account, sentences(`${account}-${n}`, count), 'bulk')),
  );
  while (answered.bulk.length < 100) await new Promise((resolve) => setImmediate(resolve));
  const before = answered[lane].length;
  await draft('small', sentences('small', 1), lane);
  const at = answered[lane].findIndex((id) => id.startsWith('small'));
  await Promise.all(loads);
  return at - before;
}

const FLOOD = Array<number>(600).fill(1);

it('the interactive lane answers a small request before ten thousand jobs and a large document', async () => {
  expect(await ahead('interactive', { flood: FLOOD, document: [2_000] })).toBe(0);
});

it.each([
  ['a flood of jobs', { flood: FLOOD }, 75],
  ['a document', { document: [2_000] }, 75],
  ['both, and pages', { flood: FLOOD, document: [2_000], pages: Array<number>(60).fill(40) }, 75],
])(
  "the bulk lane answers a new account's sentence right after the sentences that the engine has already received: %s",
  async (_what, loads, most) => {
    expect(await ahead('bulk', loads)).toBeLessThanOrEqual(most);
  },
);
