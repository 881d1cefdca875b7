/** The actions of the active segment on touch screens, above the on-screen keyboard. */
import { IconBulb, IconCheck, IconChevronDown, IconChevronUp, IconTag } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { useTranslate } from '../../i18n.tsx';
import { pressAction } from '../actions/actions.ts';
import type { ActionId } from '../actions/keys.ts';
import { keepFocus, usePage, useWorkbench } from '../session/context.tsx';
import css from '../styles/bar.module.css';

export function ActionBar() {
  const t = useTranslate();
  const editable = usePage((page) => page.readOnly === undefined);
  return (
    <div className={css.bar} role="toolbar" aria-label={t('workbench.actions')} onMouseDown={keepFocus}>
      <Action action="previous" icon={<IconChevronUp size={22} aria-hidden />} />
      <Action action="next" icon={<IconChevronDown size={22} aria-hidden />} />
      {editable && (
        <>
          <Action action="codes" icon={<IconTag size={20} aria-hidden />} />
          <Action action="cycleNext" icon={<IconBulb size={20} aria-hidden />} />
          <Confirm />
        </>
      )}
    </div>
  );
}

function Action({ action, icon }: { action: ActionId; icon: ReactNode }) {
  const workbench = useWorkbench();
  const t = useTranslate();
  return (
    <button
      type="button"
      aria-label={t(`workbench.key.${action}`)}
      onClick={() => pressAction(workbench, action)}
    >
      {icon}
    </button>
  );
}

function Confirm() {
  const workbench = useWorkbench();
  const t = useTranslate();
  const keeps = usePage(() => workbench.keepsWarnings);
  return (
    <button
      type="button"
      className={css.barConfirm}
      data-tone={keeps ? 'warning' : undefined}
      onClick={() => pressAction(workbench, 'confirm')}
    >
      <IconCheck size={20} aria-hidden /> {t(keeps ? 'workbench.checks.accept' : 'workbench.confirm')}
    </button>
  );
}
