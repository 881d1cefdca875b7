/** Shows below the active segment why it is doubtful. Findings are shown in the panel and at the confirmation. */
import { IconAlertTriangle } from '@tabler/icons-react';
import { useRef } from 'react';
import { useTranslate } from '../../i18n.tsx';
import { useSegment, useWorkbench } from '../session/context.tsx';
import { type Doubt, doubtOf } from '../session/doubt.ts';
import css from './flow.module.css';

export function DoubtNote({ position }: { position: number }) {
  const workbench = useWorkbench();
  const t = useTranslate();
  const { findings } = useSegment(position);
  const doubt = useRef<Doubt>(undefined);
  // The checks run on a text only after a pause in typing. Until then, the note stays, so that the rows below it do not
  // move.
  if (findings) doubt.current = doubtOf(workbench, position);
  if (!doubt.current) return null;
  return (
    <small className={css.doubt}>
      <IconAlertTriangle size={14} aria-hidden /> {t(`workbench.doubt.${doubt.current}`)}
    </small>
  );
}
