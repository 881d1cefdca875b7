/** Finds sources of a document that were confirmed with several texts, also in tasks of other editors. */
import { hasWords, type Piece } from '@dragoman/documents';
import { createTurns } from '../base/turns.ts';
import { openTask } from './access.ts';
import type { EditingContext, EditingUser } from './context.ts';
import * as edits from './edits-store.ts';
import { hashTarget } from './readings.ts';
import { readingOf } from './repeats.ts';
import type { TaskKey } from './store.ts';
import type { InconsistenciesBody } from './suggestion-schemas.ts';

/** The maximum number of sources that are listed. */
const MAX_SOURCES = 100;
const MAX_POSITION = 2 ** 31 - 1;

/**
 * Returns the sources that have different confirmed texts in the document of a task, in the order of the document.
 * @throws ApiError `not_found` if the user does not hold the task
 */
export async function findInconsistencies(
  context: EditingContext,
  user: EditingUser,
  key: TaskKey,
): Promise<InconsistenciesBody> {
  await openTask(context, user, key, 'held');
  const rows = await edits.readSegments(context.database, key.account, key.jobId, 0, MAX_POSITION);
  const turn = createTurns();
  const sources = new Map<
    string,
    { source: Piece[]; texts: Map<string, { target: Piece[]; positions: number[] }> }
  >();
  for (const { position, source, target, status } of rows) {
    if (status !== 'confirmed' || target === null || !hasWords(source)) continue;
    const reading = readingOf(source);
    const { texts } =
      sources.get(reading) ?? sources.set(reading, { source, texts: new Map() }).get(reading)!;
    const text = hashTarget(source, target).toString('base64');
    if (!texts.has(text)) texts.set(text, { target, positions: [] });
    texts.get(text)!.positions.push(position);
    await turn(source.length + target.length);
  }
  const several = [...sources.values()].filter(({ texts }) => texts.size > 1);
  return {
    count: several.length,
    sources: several
      .slice(0, MAX_SOURCES)
      .map(({ source, texts }) => ({ source, texts: [...texts.values()] })),
  };
}
