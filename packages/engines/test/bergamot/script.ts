/**
 * A thread script for tests. It swaps the case of a-z outside tags and `code`, unless a word triggers a
 * fault. Each text has two words: a certain one, and one with a probability of 0.5. Models of the language `zz` cannot
 * be loaded.
 */

import { parentPort, workerData } from 'node:worker_threads';
import type { Order, Setup } from '../../src/bergamot/worker.ts';
import { swapMarked } from '../servers/service.ts';

const scoresOf = (text: string, wanted: boolean): number[] => {
  if (!wanted) return [];
  return /ODD/i.test(text) ? [0, Number.NaN] : [0, Math.log(0.5)];
};

const { model } = workerData as Setup;
if (model.includes('zz')) process.exit(134);
parentPort?.on('message', ({ texts, scores }: Order) => {
  const all = texts.join();
  if (/DIE/i.test(all)) process.exit(134);
  if (/SCORE/i.test(all) && scores) process.exit(134);
  if (/THROW/i.test(all)) throw new Error('thrown');
  if (/HANG/i.test(all)) return;
  const targets = texts.map((text) => ({ html: swapMarked(text), scores: scoresOf(text, scores) }));
  parentPort?.postMessage({ targets: /SHORT/i.test(all) ? [] : targets });
});
parentPort?.postMessage({ ready: true });
