import { IconArrowMerge, IconArrowsSplit2, IconCut } from '@tabler/icons-react';
import { useTranslate } from '../../i18n.tsx';
import { pressAction } from '../actions/actions.ts';
import { Caps } from '../actions/Caps.tsx';
import { ariaKeys, hintOf } from '../actions/keys.ts';
import { mac, usePage, useSegment, useWorkbench } from '../session/context.tsx';
import css from '../styles/bar.module.css';
import { isSplit } from '../text/pieces.ts';

const ICONS = { join: IconArrowMerge, unsplit: IconArrowMerge, separate: IconArrowsSplit2, split: IconCut };

/** The buttons that join the segment with the next one, split it, and undo both. */
export function Join({ position }: { position: number }) {
  const workbench = useWorkbench();
  const t = useTranslate();
  const { segment } = useSegment(position);
  const isNext = usePage(() => workbench.nextToJoin(position) !== undefined);
  const maySplit = usePage(() => workbench.maySplit(position));
  const isEditing = workbench.task.kind === 'edit';
  const shown = [
    ...(isSplit(segment.source) && isEditing ? (['unsplit'] as const) : isNext ? (['join'] as const) : []),
    ...(segment.joined_to !== undefined && isEditing ? (['separate'] as const) : []),
    ...(maySplit ? (['split'] as const) : []),
  ];
  return shown.map((name) => {
    const Icon = ICONS[name];
    // Both shortcuts undo the other one: what one takes apart, the other puts together.
    const action = name === 'join' || name === 'unsplit' ? 'join' : 'separate';
    return (
      <button
        key={name}
        type="button"
        className={css.flat}
        aria-keyshortcuts={ariaKeys(action, mac)}
        title={t(`workbench.key.${action}`)}
        onClick={() => pressAction(workbench, action)}
      >
        <Icon size={16} aria-hidden /> {t(`workbench.${name}`)} <Caps caps={hintOf(action, mac)} />
      </button>
    );
  });
}
