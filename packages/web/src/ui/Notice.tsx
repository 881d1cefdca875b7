import { IconAlertTriangle, IconCircleCheck, IconCircleX, IconInfoCircle } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import css from './Notice.module.css';

export type NoticeTone = 'info' | 'success' | 'warning' | 'danger';

const ICONS = {
  info: IconInfoCircle,
  success: IconCircleCheck,
  warning: IconAlertTriangle,
  danger: IconCircleX,
};

/** A message in the page. Screen readers announce a message of the tone `danger` at once. */
export function Notice({
  tone,
  action,
  children,
}: {
  tone: NoticeTone;
  action?: ReactNode;
  children: ReactNode;
}) {
  const Icon = ICONS[tone];
  return (
    <div className={css.notice} data-tone={tone} role={tone === 'danger' ? 'alert' : undefined}>
      <Icon size={20} aria-hidden className={css.icon} />
      <div className={css.words}>{children}</div>
      {action}
    </div>
  );
}
