/** The status of a segment. If the segment can be edited, the status is a button that confirms or reopens the segment. */
import { IconCheck, IconCircle, IconCircleFilled, IconLock } from '@tabler/icons-react';
import { useTranslate } from '../../i18n.tsx';
import { applyPlainText } from '../actions/actions.ts';
import { keepFocus, usePage, useWorkbench } from '../session/context.tsx';
import type { SegmentState } from '../session/state.ts';
import css from '../styles/workbench.module.css';

export function Status({ state }: { state: SegmentState }) {
  const workbench = useWorkbench();
  const t = useTranslate();
  const { segment, status, findings } = state;
  const readOnly = usePage((page) => page.readOnly !== undefined);
  const active = usePage((page) => page.active === segment.position);
  const errors = findings?.some(({ severity }) => severity === 'error') && status !== 'open';
  if (!segment.mine) {
    return (
      <span data-tone="muted" title={t('workbench.status.context')}>
        <IconLock size={16} aria-hidden />
        <span className="visually-hidden">{t('workbench.status.context')}</span>
      </span>
    );
  }
  const Icon = status === 'confirmed' ? IconCheck : status === 'draft' ? IconCircleFilled : IconCircle;
  const icon = <Icon size={status === 'draft' ? 12 : 16} aria-hidden />;
  const tone = errors ? 'danger' : status;
  const words = errors ? t('workbench.status.errors') : t(`workbench.status.${status}`);
  if (readOnly) {
    return (
      <span data-tone={tone} title={words}>
        {icon}
        <span className="visually-hidden">{words}</span>
      </span>
    );
  }
  const number = workbench.numberOf(segment.position);
  const action = t(status === 'confirmed' ? 'workbench.reopen_segment' : 'workbench.confirm_segment', {
    number,
  });
  return (
    <button
      type="button"
      className={css.statusButton}
      data-tone={tone}
      tabIndex={active ? 0 : -1}
      title={`${words} · ${action}`}
      onMouseDown={keepFocus}
      onClick={() => {
        applyPlainText(workbench);
        workbench.toggleConfirmed(segment.position);
      }}
    >
      {icon}
      <span className="visually-hidden">{`${words}. ${action}`}</span>
    </button>
  );
}
