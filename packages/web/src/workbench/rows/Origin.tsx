/** The label of a row that says where its target comes from. */
import { IconCopy, IconPencil, IconRepeat, IconUser, IconUsers } from '@tabler/icons-react';
import { type ReactNode, useMemo } from 'react';
import { useTranslate } from '../../i18n.tsx';
import { useWorkbench } from '../session/context.tsx';
import {
  type DraftOrigin,
  hasLowConfidence,
  percentOf,
  type TargetOrigin,
  targetOriginOf,
} from '../session/origin.ts';
import type { SegmentState } from '../session/state.ts';
import { useVoteName } from '../session/vote-name.ts';
import css from './edge.module.css';

export function Origin({ state }: { state: SegmentState }) {
  const workbench = useWorkbench();
  const t = useTranslate();
  const voteName = useVoteName();
  const { segment, target } = state;
  const matches = workbench.receivedMatches(segment.position);
  const origin = useMemo(() => targetOriginOf({ segment, target }, matches), [segment, target, matches]);
  const { repeats } = segment;
  const isRepeat = repeats !== undefined && origin?.from !== 'repeat';
  return (
    <>
      {origin && (
        <span
          className={css.origin}
          data-from={origin.from}
          data-low={hasLowConfidence(origin) || undefined}
          title={nameOf(origin)}
        >
          <span aria-hidden>{shortOf(origin)}</span>
          <span className="visually-hidden">{nameOf(origin)}</span>
        </span>
      )}
      {isRepeat && (
        <span className={css.origin} title={repeatName(repeats)}>
          <IconRepeat size={12} aria-hidden />
          <span className="visually-hidden">{repeatName(repeats)}</span>
        </span>
      )}
    </>
  );

  function repeatName(first: number): string {
    return t('workbench.row.repeats', { number: workbench.numberOf(first) });
  }

  function nameOf(one: TargetOrigin): string {
    switch (one.from) {
      case 'machine': {
        const { engine, confidence } = one;
        if (!confidence) return t('workbench.row.machine', { engine });
        const [mean, minimum] = [percentOf(confidence.mean), percentOf(confidence.minimum)];
        return t('workbench.row.machine_confidence', { engine, mean, minimum });
      }
      case 'fuzzy':
        return t('workbench.row.fuzzy', { score: one.score });
      case 'kept':
        return t('workbench.origin.kept');
      case 'memory':
      case 'supplied':
        return t(`workbench.origin.${one.from}`);
      case 'vote':
        return voteName(one);
      case 'edited':
        return one.draft
          ? t('workbench.row.edited_draft', { draft: nameOf(one.draft) })
          : t('workbench.row.edited');
      default:
        return t(`workbench.row.${one.from}`);
    }
  }
}

function shortOf(origin: TargetOrigin | DraftOrigin): ReactNode {
  switch (origin.from) {
    case 'context':
    case 'exact':
    case 'fuzzy':
      return `${origin.score} %`;
    case 'machine':
      // The space before the percent sign does not break.
      return (
        <bdi dir="ltr">{origin.confidence ? `MT ${percentOf(origin.confidence.mean)}\u00a0%` : 'MT'}</bdi>
      );
    case 'memory':
      return 'TM';
    case 'supplied':
      return <IconUser size={14} />;
    case 'kept':
      return <IconCopy size={14} />;
    case 'repeat':
      return <IconRepeat size={14} />;
    case 'vote':
      return (
        <>
          <IconUsers size={14} /> {origin.agree > 1 && origin.agree}
        </>
      );
    case 'edited':
      return <IconPencil size={14} />;
  }
}
