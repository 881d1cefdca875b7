import { IconArrowMerge, IconArrowsSplit2 } from '@tabler/icons-react';
import { useTranslate } from '../i18n.tsx';
import { pressAction } from './actions.ts';
import css from './bar.module.css';
import { Caps } from './Caps.tsx';
import { mac, usePage, useSegment, useWorkbench } from './context.tsx';
import { ariaKeys, hintOf } from './keys.ts';

/** The buttons that join the segment with the next one, and separate joined segments. */
export function Join({ position }: { position: number }) {
  const workbench = useWorkbench();
  const t = useTranslate();
  const { segment } = useSegment(position);
  const isNext = usePage(() => workbench.nextToJoin(position) !== undefined);
  const actions = [
    ...(isNext ? (['join'] as const) : []),
    ...(segment.joined_to !== undefined && workbench.task.kind === 'edit' ? (['separate'] as const) : []),
  ];
  return actions.map((action) => (
    <button
      key={action}
      type="button"
      className={css.flat}
      aria-keyshortcuts={ariaKeys(action, mac)}
      title={t(`workbench.key.${action}`)}
      onClick={() => pressAction(workbench, action)}
    >
      {action === 'join' ? (
        <IconArrowMerge size={16} aria-hidden />
      ) : (
        <IconArrowsSplit2 size={16} aria-hidden />
      )}{' '}
      {t(`workbench.${action}`)} <Caps caps={hintOf(action, mac)} />
    </button>
  ));
}
