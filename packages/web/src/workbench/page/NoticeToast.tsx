/**
 * A message over the grid about a change in other segments, with a button that undoes the change. The grid
 * does not move.
 */
import { Button, CloseButton } from '@mantine/core';
import { useTranslate } from '../../i18n.tsx';
import { keepFocus, usePage, useWorkbench } from '../session/context.tsx';
import css from '../styles/bar.module.css';

export function NoticeToast() {
  const workbench = useWorkbench();
  const t = useTranslate();
  const notice = usePage((page) => page.notice);
  const readOnly = usePage((page) => page.readOnly !== undefined);
  // A notice with the button "Undo" is not shown on a read-only page, where nothing can be undone.
  if (!notice || (readOnly && 'undo' in notice)) return null;
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: a press keeps the focus in the text
    <div className={css.notice} data-notice onMouseDown={keepFocus}>
      <span>
        {notice.type === 'code-moved' && t('workbench.notice.code-moved', { label: notice.label })}
        {notice.type === 'not-joined' && t(`workbench.join.${notice.why}`)}
        {notice.type === 'not-split' && t(`workbench.split.${notice.why}`)}
        {'number' in notice && t(`workbench.notice.${notice.type}`, { number: notice.number })}
        {'count' in notice && t(`workbench.notice.${notice.type}`, { count: notice.count })}
      </span>
      {'undo' in notice && (
        <Button
          size="compact-sm"
          onClick={() => {
            workbench.close('notice');
            notice.undo();
          }}
        >
          {t('workbench.undo')}
        </Button>
      )}
      <CloseButton size="sm" aria-label={t('ui.close')} onClick={() => workbench.close('notice')} />
    </div>
  );
}
