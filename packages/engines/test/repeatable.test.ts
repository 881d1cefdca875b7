/** Tests that a translation does not depend on the texts that the same processes have translated before. */

import { readFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { privateApertium } from '../../../scripts/test-tools.ts';
import { readChain, type Stage } from '../src/apertium/chain.ts';
import { keepTestOrder } from '../src/apertium/constraint-grammar.ts';
import { Framing } from '../src/apertium/framing.ts';
import { MODES } from '../src/apertium/modes.ts';
import { spawnChain } from '../src/apertium/processes.ts';
import { completeTaggerModel } from '../src/apertium/tagger-model.ts';
import { DATA_PREFIX, hasMode, treeFor } from '../src/apertium/tree.ts';
import { UnknownFormat } from '../src/apertium/unknown-format.ts';
import { createApertium } from '../src/engines.ts';
import { textOf, translated } from './conformance.ts';
import { needApertium } from './need.ts';

const tree = treeFor(privateApertium().root);

/** Returns the stage of a mode that runs this program. */
async function stageOf(mode: string, program: string): Promise<Stage> {
  const chain = await readChain(tree, mode);
  return chain.find(({ command }) => command.endsWith(`/${program}`))!;
}

/** Sends all segments to one new process of a stage, and returns its output for each. */
async function runStage(stage: Stage, segments: readonly string[]): Promise<string[]> {
  const framing = new Framing();
  const replies: string[] = [];
  let fail: (error: Error) => void = () => {};
  const failed = new Promise<never>((_, reject) => {
    fail = reject;
  });
  const answered = new Promise<void>((resolve) => {
    const processes = spawnChain([stage], tree.env, {
      onDeath: (detail) => fail(new Error(detail)),
      onOutput: (chunk) => {
        replies.push(...framing.push(chunk));
        if (replies.length < segments.length) return;
        processes.kill();
        resolve();
      },
      onEnd: () => {},
    });
    processes.input.write(segments.map((each) => `${each}\0`).join(''));
  });
  await Promise.race([answered, failed]);
  return replies;
}

if (needApertium(['gl-es'])) {
  test('translates unknown words alike before and after a word that the tagger does not expect', async () => {
    const engine = createApertium(privateApertium());
    const translate = async (text: string): Promise<string> => {
      const segments = [{ id: 'a', pieces: [{ text }] }];
      const [draft] = await engine.draft({ from: 'gl', to: 'es', segments, lane: 'interactive' });
      return textOf(translated(draft));
    };
    try {
      expect(await translate('O widget é novo.')).toBe('El widget es nuevo.');
      // "polas" is a preposition with an article, and a form of a verb. The tagger's model does not list this set.
      expect(await translate('Camiñamos polas rúas.')).toBe('Caminamos por las calles.');
      // Without the completed model, this is "Lo widget es nuevo."
      expect(await translate('O widget é novo.')).toBe('El widget es nuevo.');
    } finally {
      await engine.stop();
    }
  });
}

if (needApertium(['spa-cat'])) {
  test('disambiguates words alike before and after a rule has failed', async () => {
    const cohorts = '^del/de<pr>+el<det><def><m><sg>$ ^argumento/argumento<n><m><sg>/argumentar<vblex><p1>$';
    const other = '^este/este<n><m><sg>/este<det><dem><m><sg>$';
    const stage = await stageOf('spa-cat', 'cg-proc');
    const [before, , after] = await runStage(stage, [cohorts, other, cohorts]);
    const [fresh] = await runStage(stage, [cohorts]);
    const [, afterOther] = await runStage(stage, [other, cohorts]);
    expect([before, after, afterOther]).toEqual([fresh, fresh, fresh]);
    expect(fresh).not.toContain('argumentar');
  });

  const read = (name: string) => readFile(`${tree.root}${DATA_PREFIX}apertium-spa-cat/spa-cat.${name}`);

  test('changes the rules of each known revision of a grammar, and rejects others', async () => {
    const grammar = await read('rlx.bin');
    const changed = keepTestOrder(grammar);
    const rules = changed.subarray(8);
    for (const revision of [13892, 13897]) {
      grammar.writeUInt32BE(revision, 4);
      expect(keepTestOrder(grammar).subarray(8)).toEqual(rules);
    }
    grammar.writeUInt32BE(13898, 4);
    expect(() => keepTestOrder(grammar)).toThrow(UnknownFormat);
  });

  test('rejects a damaged file', async () => {
    const [model, grammar] = [await read('prob'), await read('rlx.bin')];
    for (const length of [0, 1, 1_000, 10_000])
      expect(() => completeTaggerModel(model.subarray(0, length))).toThrow(UnknownFormat);
    for (const length of [0, 4, 8, 1_000, grammar.length - 1])
      expect(() => keepTestOrder(grammar.subarray(0, length))).toThrow(UnknownFormat);
  });
}

const installed = MODES.filter(({ name }) => hasMode(tree, name));
if (installed.length > 0) {
  describe('the data files of the installed modes', () => {
    test.each(installed)('have a known format: $name', async ({ name }) => {
      const stages = await readChain(tree, name);
      const unchanged = stages
        .filter(({ command, args }) => /\/(cg-proc|apertium-tagger)$/.test(command) && !args.includes('-gx'))
        .filter(({ data }) => data === undefined);
      expect(unchanged).toEqual([]);
      for (const { command, data } of stages) {
        if (data === undefined) continue;
        const change = command.endsWith('/cg-proc') ? keepTestOrder : completeTaggerModel;
        expect(change(data).equals(data)).toBe(true);
      }
    });
  });
}
