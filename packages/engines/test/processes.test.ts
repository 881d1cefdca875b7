/**
 * Tests of faults in real Apertium pipelines: stages that are killed or stopped, and a killed parent
 * process.
 */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { getPriority } from 'node:os';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { privateApertium } from '../../../scripts/test-tools.ts';
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
  describe('a real Apertium pipeline', () => {
    let engine: ApertiumEngine;
    let expected: string[];
    /**
     * The deadline of the next segment in ms. Undefined for no deadline: on a busy machine, any deadline may be too
     * short.
     */
    let nextDeadline: number | undefined;
    function takeDeadline(): number {
      const deadline = nextDeadline ?? 2 ** 31 - 1;
      nextDeadline = undefined;
      return deadline;
    }
    /**
     * Waits for one reply. After a reply, all processes run, so that the test's signal does not interrupt their
     * start.
     */
    const warmUp = () => engine.draft({ from: 'en', to: 'es', segments: segments.slice(0, 1), lane: 'bulk' });
    beforeAll(async () => {
      // The high limit keeps the circuit breaker closed during the repeated kills; faults.test.ts tests the
      // breaker.
      engine = createApertium({
        ...privateApertium(),
        limits: { bulk: { deadlineMs: takeDeadline, loopCount: 1_000 } },
      });
      expected = plain(await draft(engine));
    });
    afterAll(() => engine.stop());

    test.each(Array.from({ length: 13 }, (_, n) => n))(
      'loses no segment when its stage %i is killed',
      async (stage) => {
        await warmUp();
        const pid = engine.pipelines()[0]!.pids[stage]!;
        const work = draft(engine);
        await new Promise((resolve) => setImmediate(resolve));
        process.kill(pid, 'SIGKILL');
        expect(plain(await work)).toEqual(expected);
      },
    );

    test.each([0, 6, 12])(
      'replaces its stopped stage %i at the deadline and loses no segment',
      async (stage) => {
        await warmUp();
        const pid = engine.pipelines()[0]!.pids[stage]!;
        process.kill(pid, 'SIGSTOP');
        nextDeadline = 2_000;
        expect(plain(await draft(engine))).toEqual(expected);
        expect(engine.pipelines()[0]!.pids).not.toContain(pid);
      },
    );

    test('runs bulk stages at a lower priority than interactive stages', async () => {
      await engine.draft({ from: 'en', to: 'es', segments: segments.slice(0, 1), lane: 'interactive' });
      const niceness = (lane: string) =>
        new Set(
          engine
            .pipelines()
            .flatMap((one) => (one.lane === lane ? one.pids.map((pid) => getPriority(pid)) : [])),
        );
      const own = getPriority();
      expect([niceness('interactive'), niceness('bulk')]).toEqual([new Set([own]), new Set([19])]);
    });

    test('gives its stages no open files, sockets or environment variables of the program', async () => {
      for (const pid of engine.pipelines()[0]!.pids) {
        for (const fd of readdirSync(`/proc/${pid}/fd`)) {
          if (Number(fd) <= 2) continue;
          const target = readlinkSync(`/proc/${pid}/fd/${fd}`);
          // A stage may only have its own data files open, and the pipes and terminals that Node itself inherited.
          expect(target).toMatch(
            /^(pipe:|\/dev\/|.*\/share\/apertium\/|.*\/dragoman-[0-9a-f-]+ \(deleted\)$)/,
          );
        }
        const names = readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0').filter(Boolean);
        expect(names.map((each) => each.split('=')[0]).sort()).toEqual(['GLIBC_TUNABLES', 'LC_ALL', 'PATH']);
      }
    });

    test('ends every process when the engine stops', async () => {
      const other = createApertium(privateApertium());
      await draft(other);
      const { pids } = other.pipelines()[0]!;
      await other.stop();
      expect(pids.filter((pid) => existsSync(`/proc/${pid}`))).toEqual([]);
    });

    test('leaves no process behind when its parent is killed with SIGKILL', async () => {
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

/** With Debian 12's eng-cat, apertium-postchunk crashes (SIGSEGV) on this sentence of a public manual page. */
const CRASHES = "This file is slowly turning into the Anomy sanitizer's user manual.";

if (needApertium(['eng-cat'])) {
  test('a real Apertium pipeline fails only the sentence that crashes a stage', async () => {
    const engine = createApertium(privateApertium());
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
