/** Below the grid: the keys that are wanted most. */
import { useSay } from '../words.tsx';
import { Caps } from './Caps.tsx';
import { mac, useWorkbench } from './context.tsx';
import { type ActionId, hintOf } from './keys.ts';
import css from './workbench.module.css';

const SHOWN: readonly ActionId[] = ['confirm', 'previous', 'next', 'nextOpen', 'codes', 'use1', 'plainText'];

export function KeyBar() {
  const workbench = useWorkbench();
  const say = useSay();
  return (
    <footer className={css.keys}>
      {SHOWN.map((action) => (
        <span key={action}>
          <Caps caps={hintOf(action, mac)} /> {say(`workbench.key.${action}`)}
        </span>
      ))}
      <button type="button" onClick={() => workbench.update({ dialog: { dialog: 'help' } })}>
        <Caps caps={['?']} /> {say('workbench.key.help')}
      </button>
    </footer>
  );
}
