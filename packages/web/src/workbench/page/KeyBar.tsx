/** The bar below the grid that shows the most used keyboard shortcuts. */
import { useTranslate } from '../../i18n.tsx';
import { pressAction } from '../actions/actions.ts';
import { Caps } from '../actions/Caps.tsx';
import { type ActionId, hintOf } from '../actions/keys.ts';
import { keepFocus, mac, useFlow, usePage, useWorkbench } from '../session/context.tsx';
import css from '../styles/workbench.module.css';

const READING: readonly ActionId[] = ['previous', 'next', 'nextOpen'];
/** The shortcuts shown in the flow view while the active segment has the focus, but its text is not edited. */
const FLOW: readonly ActionId[] = ['readOn', 'nextDoubt', 'edit', 'confirm', 'view'];
const EDITING: readonly ActionId[] = ['confirm', ...READING, 'codes', 'use1', 'plainText'];

export function KeyBar() {
  const workbench = useWorkbench();
  const t = useTranslate();
  const editable = usePage((page) => page.readOnly === undefined);
  const flow = useFlow();
  const reading = usePage((page) => page.focus === 'row') && flow;
  const shown = reading ? FLOW : editable ? EDITING : READING;
  return (
    <footer className={css.keys}>
      <div>
        {shown.map((action) => (
          <button
            key={action}
            type="button"
            onMouseDown={keepFocus}
            onClick={() => pressAction(workbench, action)}
          >
            <Caps caps={hintOf(action, mac)} /> {t(`workbench.key.${action}`)}
          </button>
        ))}
      </div>
      <button type="button" onClick={() => workbench.update({ dialog: { dialog: 'help' } })}>
        <Caps caps={['?']} /> {t('workbench.key.help')}
      </button>
    </footer>
  );
}
