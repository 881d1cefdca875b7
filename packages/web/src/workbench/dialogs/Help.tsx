import { useTranslate } from '../../i18n.tsx';
import { Dialog } from '../../ui/Dialog.tsx';
import { Caps } from '../actions/Caps.tsx';
import { bindings, capsOf, type Group, hintOf, keysOf } from '../actions/keys.ts';
import { mac, useWorkbench } from '../session/context.tsx';
import { hasFlow } from '../session/view.ts';
import css from './dialogs.module.css';

const GROUPS: readonly Group[] = ['segment', 'moving', 'flow', 'codes', 'task', 'review', 'help'];

/** Lists all keyboard shortcuts. */
export function Help() {
  const workbench = useWorkbench();
  const t = useTranslate();
  const { kind, job } = workbench.task;
  const isShown = (group: Group) =>
    (group !== 'review' || kind === 'review') && (group !== 'flow' || hasFlow(job.format));
  return (
    <Dialog opened wide title={t('workbench.key.help')} onClose={() => workbench.close('dialog')}>
      <div className={css.help}>
        {GROUPS.filter(isShown).map((group) => (
          <section key={group}>
            <h3>{t(`workbench.keys.${group}`)}</h3>
            <dl>
              {bindings
                .filter((binding) => binding.group === group && !/^use[2-5]$/.test(binding.action))
                .map((binding) => (
                  <div key={`${binding.action} ${binding.where}`}>
                    <dt>
                      {keysOf(binding, mac).map((keys) => (
                        <Caps key={keys} caps={capsOf(keys, mac)} />
                      ))}
                      {binding.action === 'use1' && (
                        <>
                          {' – '}
                          <Caps caps={hintOf('use5', mac).slice(-1)} />
                        </>
                      )}
                    </dt>
                    <dd>
                      {t(`workbench.key.${binding.action === 'use1' ? 'use' : binding.action}`)}
                      {binding.where === 'row' && <small> · {t('workbench.keys.row')}</small>}
                    </dd>
                  </div>
                ))}
            </dl>
          </section>
        ))}
      </div>
    </Dialog>
  );
}
