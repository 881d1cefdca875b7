/** The dialog that asks the customer about a segment. */
import { Button } from '@mantine/core';
import { useTranslate } from '../../i18n.tsx';
import { Dialog, DialogActions } from '../../ui/Dialog.tsx';
import { Form, SubmitButton, TextField } from '../../ui/form.tsx';
import { useWorkbench } from '../session/context.tsx';
import type { Dialog as Opened } from '../session/state.ts';
import { plainText } from '../text/pieces.ts';
import css from './dialogs.module.css';

export function AskDialog({ dialog: { position } }: { dialog: Opened & { dialog: 'ask' } }) {
  const workbench = useWorkbench();
  const t = useTranslate();
  const close = () => workbench.close('dialog');
  return (
    <Dialog opened title={t('workbench.key.ask')} onClose={close}>
      <blockquote className={css.quote} dir="auto" translate="no">
        {plainText(workbench.segment(position).segment.source)}
      </blockquote>
      <p>{t('workbench.queries.text')}</p>
      <Form
        onSubmit={async ({ question = '' }) => {
          await workbench.session.ask(position, question.trim());
          close();
        }}
      >
        <TextField name="question" label={t('workbench.queries.question')} autoFocus />
        <DialogActions>
          <Button onClick={close}>{t('ui.cancel')}</Button>
          <SubmitButton>{t('workbench.key.ask')}</SubmitButton>
        </DialogActions>
      </Form>
    </Dialog>
  );
}
