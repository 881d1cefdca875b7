/**
 * A thread script for tests. It swaps the case of a-z outside tags and `code`, unless a word triggers a
 * fault. Models of the language `zz` cannot be loaded.
 */

import { parentPort, workerData } from 'node:worker_threads';
import type { Order, Setup } from '../../src/bergamot/worker.ts';
import { swap, swapMarked } from '../servers/service.ts';

const { model } = workerData as Setup;
if (model.includes('zz')) process.exit(134);
parentPort?.on('message', ({ texts }: Order) => {
  const all = texts.map(({ text }) => text).join();
  if (/DIE/i.test(all)) process.exit(134);
  if (/THROW/i.test(all)) throw new Error('thrown');
  if (/HANG/i.test(all)) return;
  const targets = texts.map(({ text, marked }) => (marked ? swapMarked(text) : swap(text)));
  parentPort?.postMessage({ targets: /SHORT/i.test(all) ? [] : targets });
});
parentPort?.postMessage({ ready: true });
