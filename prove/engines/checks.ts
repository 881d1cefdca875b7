/** The invariants that the history of an engine run must satisfy. */
import { isCorrect, type Piece } from '../../packages/documents/src/documents.ts';
import type { Checks } from '../harness/run.ts';
import type { EngineHistory } from './run.ts';

const marksOf = (pieces: readonly Piece[]) =>
  pieces.flatMap((piece) => ('keep' in piece ? [piece.text] : []));

const each = (
  history: EngineHistory,
  judge: (batch: EngineHistory['batches'][number], number: number) => string[],
): string[] => history.batches.flatMap(judge);

export const CHECKS: Checks<EngineHistory> = {
  'every batch ends': (history) =>
    each(history, ({ answered, error }, number) =>
      answered === undefined ? [`batch ${number}: ${error ?? 'no end'}`] : [],
    ),
  'no segment is lost': (history) =>
    each(history, ({ asked, answered }, number) =>
      answered === undefined || answered.length === asked.length
        ? []
        : [`batch ${number}: ${answered.length} of ${asked.length}`],
    ),
  'no segment is swapped': (history) =>
    each(history, ({ asked, answered }, number) =>
      asked.flatMap((segment, index) => {
        const one = answered?.[index];
        if (one === undefined) return [];
        if (one.segment.id !== segment.id)
          return [`batch ${number}: ${segment.id} answered as ${one.segment.id}`];
        if (one.status === 'failed') return [];
        const [wanted, got] = [marksOf(segment.pieces).join(), marksOf(one.pieces).join()];
        const strange = JSON.stringify(one.pieces).match(/MARK-\d+-\d+/g) ?? [];
        return wanted === got && strange.every((mark) => mark === wanted)
          ? []
          : [`batch ${number}: ${wanted} came back as ${strange.join()}`];
      }),
    ),
  'no code is lost': (history) =>
    each(history, ({ answered }, number) =>
      (answered ?? []).flatMap((one) =>
        one.status === 'failed' || isCorrect(one.segment.pieces, one.pieces)
          ? []
          : [`batch ${number}: codes of ${one.segment.id}`],
      ),
    ),
  'what is not in the source language is kept': (history) =>
    each(history, ({ answered, foreign }, number) =>
      (answered ?? []).flatMap((one) => {
        if (!foreign.has(one.segment.id)) return [];
        const isKept =
          one.status === 'translated' &&
          one.route.startsWith('kept:') &&
          JSON.stringify(one.pieces) === JSON.stringify(one.segment.pieces);
        return isKept ? [] : [`batch ${number}: ${one.segment.id}`];
      }),
    ),
  'most are translated': ({ batches, isRandom }) => {
    const all = batches
      .flatMap(({ answered }) => answered ?? [])
      .filter((one) => !(isRandom && one.status === 'failed' && one.reason === 'garbled'));
    const done = all.filter(({ status }) => status === 'translated').length;
    return done > 0.9 * all.length ? [] : [`${done} of ${all.length}`];
  },
  'each kind of fault was injected': ({ faults }) =>
    Object.entries(faults).flatMap(([word, count]) => (count > 0 ? [] : [`nothing was ${word}`])),
};
