/** Faults planted in real pipelines: stages killed, stopped, orphaned. */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { getPriority } from 'node:os';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ApertiumEngine, Draft } from '../src/engines.ts';
import { createApertium } from '../src/engines.ts';
import { textOf, translated } from './conformance.ts';
import { needApertium } from './need.ts';

const texts = Array.from({ length: 40 }, (_, n) => `The house number ${n} is big.`);
const segments = texts.map((text, n) => ({ id: String(n), pieces: [{ text }] }));
const draft = (engine: ApertiumEngine): Promise<Draft[]> =>
  engine.draft({ from: 'en', to: 'es', segments, lane: 'bulk' });
const plain = (drafts: Draft[]): string[] => drafts.map((each) => textOf(translated(each)));

if (needApertium(['eng-spa'])) {
  describe('a real pipeline', () => {
    let engine: ApertiumEngine;
    let expected: string[];
    beforeAll(async () => {
      // Kills one after another are no reason to close the direction here; chain.test.ts has the closing.
      engine = createApertium({ limits: { bulk: { deadlineMs: () => 2_000, loopCount: 1_000 } } });
      expected = plain(await draft(engine));
    });
    afterAll(() => engine.stop());

    test.each(Array.from({ length: 13 }, (_, n) => n))(
      'stage %i killed in mid-flight: nothing lost',
      async (stage) => {
        // Answered once, so its processes are up and proven: the kill meets segments in flight, not a start.
        await engine.draft({ from: 'en', to: 'es', segments: segments.slice(0, 1), lane: 'bulk' });
        const pid = engine.pipelines()[0]!.pids[stage]!;
        const work = draft(engine);
        await new Promise((resolve) => setImmediate(resolve));
        process.kill(pid, 'SIGKILL');
        expect(plain(await work)).toEqual(expected);
      },
    );

    test.each([0, 6, 12])('stage %i stopped: replaced at the deadline, nothing lost', async (stage) => {
      const pid = engine.pipelines()[0]!.pids[stage]!;
      process.kill(pid, 'SIGSTOP');
      expect(plain(await draft(engine))).toEqual(expected);
      expect(engine.pipelines()[0]!.pids).not.toContain(pid);
    });

    test('stages of the bulk lane go behind those of the live one at the processor', async () => {
      await engine.draft({ from: 'en', to: 'es', segments: segments.slice(0, 1), lane: 'live' });
      const niceness = (lane: string) =>
        new Set(
          engine
            .pipelines()
            .flatMap((one) => (one.lane === lane ? one.pids.map((pid) => getPriority(pid)) : [])),
        );
      const own = getPriority();
      expect([niceness('live'), niceness('bulk')]).toEqual([new Set([own]), new Set([19])]);
    });

    test('stages have no sockets or files of ours open and nothing of our environment', async () => {
      for (const pid of engine.pipelines()[0]!.pids) {
        for (const fd of readdirSync(`/proc/${pid}/fd`)) {
          if (Number(fd) <= 2) continue;
          const target = readlinkSync(`/proc/${pid}/fd/${fd}`);
          // The stage's own data; and Node passes on a pipe or terminal that it was started with itself.
          expect(target).toMatch(/^(pipe:|\/dev\/|.*\/share\/apertium\/)/);
        }
        const names = readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0').filter(Boolean);
        expect(names.map((each) => each.split('=')[0]).sort()).toEqual(['GLIBC_TUNABLES', 'LC_ALL', 'PATH']);
      }
    });

    test('stop ends every process', async () => {
      const other = createApertium();
      await draft(other);
      const { pids } = other.pipelines()[0]!;
      await other.stop();
      expect(pids.filter((pid) => existsSync(`/proc/${pid}`))).toEqual([]);
    });

    test('a parent killed with -9 leaves no process behind', async () => {
      const parent = spawn(process.execPath, [`${import.meta.dirname}/parent.ts`], {
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      const [line] = await once(createInterface({ input: parent.stdout! }), 'line');
      const pids: number[] = JSON.parse(line);
      expect(pids).toHaveLength(13);
      const gone = pids.map((pid) => once(spawn('tail', [`--pid=${pid}`, '-f', '/dev/null']), 'exit'));
      parent.kill('SIGKILL');
      await Promise.all(gone);
    });
  });
}

/** Debian 12's eng-cat: apertium-postchunk ends by SIGSEGV on this sentence of a public manual page. */
const CRASHES = "This file is slowly turning into the Anomy sanitizer's user manual.";

if (needApertium(['eng-cat'])) {
  test('a sentence that crashes a stage fails alone; the rest of the batch does not', async () => {
    const engine = createApertium();
    try {
      const batch = [
        ...segments.slice(0, 20),
        { id: 'bad', pieces: [{ text: CRASHES }] },
        ...segments.slice(20),
      ];
      const drafts = await engine.draft({ from: 'en', to: 'ca', segments: batch, lane: 'bulk' });
      const failed = drafts.filter(({ status }) => status !== 'translated');
      expect(failed).toEqual([
        { id: 'bad', status: 'failed', reason: 'crashed', detail: expect.stringContaining('SIGSEGV') },
      ]);
      expect(drafts).toHaveLength(41);
      expect(engine.pipelines()[0]!.restarts).toBe(2);
    } finally {
      await engine.stop();
    }
  });
}
