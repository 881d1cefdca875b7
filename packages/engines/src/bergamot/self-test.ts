/** Tests a model before it is installed. */

import type { Piece } from '../engine.ts';
import { BERGAMOT, Garbled, read, visibleText, write } from '../markup.ts';
import { MemoryBudget } from '../memory-budget.ts';
import { megabytesOf } from './bergamot.ts';
import type { Model } from './models.ts';
import { ModelError } from './models.ts';
import { THREAD_LIMITS, Thread } from './thread.ts';

/** A sentence with a pair of codes. The test does not judge its translation, so any language is good enough. */
const SENTENCE: Piece[] = [
  { text: 'The ' },
  { open: 1 },
  { text: 'house' },
  { close: 1 },
  { text: ' is big.' },
];

/**
 * Translates a sentence with a model.
 * @param freeBytes the free memory of the machine
 * @throws ModelError when the model does not fit into the free memory, does not load, writes nothing, or loses the codes
 */
export async function testModel(model: Model, freeBytes: number): Promise<void> {
  const megabytes = megabytesOf(model);
  const free = Math.floor(freeBytes / 1024 / 1024);
  if (megabytes > free)
    throw new ModelError(`it needs about ${megabytes} MB of memory, and ${free} MB are free`);
  const thread = new Thread({
    name: `${model.manifest.from}-${model.manifest.to}`,
    megabytes,
    urgent: false,
    script: new URL('./worker.ts', import.meta.url),
    model: model.setup,
    limits: THREAD_LIMITS,
    memory: new MemoryBudget(megabytes, 0),
  });
  try {
    const { text, table } = write(SENTENCE, BERGAMOT);
    const reply = await thread.send(text, {});
    if (!reply.ok) throw new ModelError(`its self-test failed: ${reply.detail}`);
    const pieces = read(reply.html, table, BERGAMOT);
    if (visibleText(pieces).trim() === '')
      throw new ModelError('its self-test failed: it translated a sentence into nothing');
    const codes = pieces.filter((piece) => 'open' in piece || 'close' in piece);
    if (codes.length !== 2) throw new ModelError('its self-test failed: it lost the codes of a sentence');
  } catch (error) {
    if (error instanceof Garbled) throw new ModelError(`its self-test failed: ${error.message}`);
    throw error;
  } finally {
    await thread.stop();
  }
}
