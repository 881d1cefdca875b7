import { Button } from '@mantine/core';
import { useTranslate } from '../i18n.tsx';
import { Dialog, DialogActions } from '../ui/Dialog.tsx';
import { directionOf, localeOf, useWorkbench } from './context.tsx';
import css from './dialogs.module.css';
import { diff } from './diff.ts';
import { plainText } from './pieces.ts';
import shared from './workbench.module.css';

/**
 * Shows the editor's and the server's text of a segment. The editor chooses one of them, or combines both.
 */
export function Conflict({ position }: { position: number }) {
  const workbench = useWorkbench();
  const t = useTranslate();
  const { job } = workbench.task;
  const { target } = workbench.segment(position);
  const theirs = workbench.serverVersion(position);
  if (!theirs) return null;
  const language = { lang: localeOf(job.target_language), dir: directionOf(job.target_language) };
  const mine = plainText(target);
  const other = plainText(theirs.target);
  const parts = diff(other, mine, language.lang);
  return (
    <Dialog
      opened
      title={t('workbench.conflict.title', { number: workbench.numberOf(position) })}
      onClose={() => workbench.close('dialog')}
    >
      <p>{t('workbench.conflict.text')}</p>
      <div className={css.versions}>
        <section>
          <h3>{t('workbench.conflict.mine')}</h3>
          <p {...language} translate="no" className={shared.diff}>
            {parts
              .filter(({ change }) => change !== 'removed')
              .map(({ text, change }, index) =>
                // biome-ignore lint/suspicious/noArrayIndexKey: the parts do not change
                change === 'added' ? <ins key={index}>{text}</ins> : <span key={index}>{text}</span>,
              )}
          </p>
          <Button data-autofocus onClick={() => workbench.resolve(position, target)}>
            {t('workbench.conflict.take_mine')}
          </Button>
        </section>
        <section>
          <h3>{t('workbench.conflict.theirs')}</h3>
          <p {...language} translate="no" className={shared.diff}>
            {parts
              .filter(({ change }) => change !== 'added')
              .map(({ text, change }, index) =>
                // biome-ignore lint/suspicious/noArrayIndexKey: the parts do not change
                change === 'removed' ? <del key={index}>{text}</del> : <span key={index}>{text}</span>,
              )}
          </p>
          <Button onClick={() => workbench.resolve(position, theirs.target)}>
            {t('workbench.conflict.take_theirs')}
          </Button>
        </section>
      </div>
      <DialogActions>
        <Button onClick={() => workbench.resolve(position, [...theirs.target, { text: ' ' }, ...target])}>
          {t('workbench.conflict.merge')}
        </Button>
      </DialogActions>
    </Dialog>
  );
}
