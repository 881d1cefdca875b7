/** Shows below the active segment why it is doubtful. Findings are shown in the panel and at the confirmation. */
import { IconAlertTriangle } from '@tabler/icons-react';
import { useTranslate } from '../../i18n.tsx';
import { useSegment, useWorkbench } from '../context.tsx';
import { doubtOf } from './doubt.ts';
import css from './flow.module.css';

export function DoubtNote({ position }: { position: number }) {
  const workbench = useWorkbench();
  const t = useTranslate();
  const { findings } = useSegment(position);
  // The checks run on a text only after a pause in typing.
  const doubt = findings ? doubtOf(workbench, position) : undefined;
  if (!doubt) return null;
  return (
    <small className={css.doubt}>
      <IconAlertTriangle size={14} aria-hidden /> {t(`workbench.doubt.${doubt}`)}
    </small>
  );
}
