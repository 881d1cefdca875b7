/** The two buttons in the header that switch between the rows and the flow view of a task. */
import { TRAITS } from '@dragoman/documents/formats';
import { IconFileText, IconTable } from '@tabler/icons-react';
import { useTranslate } from '../../i18n.tsx';
import { pressAction } from '../actions/actions.ts';
import { ariaKeys } from '../actions/keys.ts';
import { mac, useFlow, useWhole, useWorkbench } from '../session/context.tsx';
import { hasFlow } from '../session/view.ts';
import css from './flow.module.css';

export function ViewSwitch() {
  const workbench = useWorkbench();
  const t = useTranslate();
  const flow = useFlow();
  const whole = useWhole();
  const { format } = workbench.task.job;
  if (!hasFlow(format) || (TRAITS[format].flow === 'page' && !whole)) return null;
  return (
    <fieldset className={css.switch} aria-label={t('workbench.view')}>
      {(['rows', 'flow'] as const).map((view) => {
        const pressed = flow === (view === 'flow');
        const Icon = view === 'flow' ? IconFileText : IconTable;
        return (
          <button
            key={view}
            type="button"
            aria-pressed={pressed}
            aria-label={t(`workbench.view.${view}`)}
            aria-keyshortcuts={ariaKeys('view', mac)}
            title={`${t(`workbench.view.${view}`)} (Shift+F4)`}
            onClick={() => !pressed && pressAction(workbench, 'view')}
          >
            <Icon size={18} aria-hidden />
          </button>
        );
      })}
    </fieldset>
  );
}
