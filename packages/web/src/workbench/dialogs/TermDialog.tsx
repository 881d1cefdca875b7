/** The dialog that proposes a term for the glossary of the brand. */
import { Button } from '@mantine/core';
import { useTranslate } from '../../i18n.tsx';
import { Dialog, DialogActions } from '../../ui/Dialog.tsx';
import { Field, Form, SubmitButton, TextField } from '../../ui/form.tsx';
import { localeOf, useWorkbench } from '../session/context.tsx';
import type { Dialog as Opened } from '../session/state.ts';

export function TermDialog({ dialog }: { dialog: Opened & { dialog: 'term' } }) {
  const workbench = useWorkbench();
  const t = useTranslate();
  const { job } = workbench.task;
  const close = () => workbench.close('dialog');
  return (
    <Dialog opened title={t('workbench.key.term')} onClose={close}>
      <p>{t('workbench.term.text', { brand: job.brand ?? '' })}</p>
      <Form
        onSubmit={async ({ source = '', target = '', note = '' }) => {
          await workbench.session.proposeTerm({ source, target, ...(note.trim() === '' ? {} : { note }) });
          close();
        }}
      >
        <Field
          name="source"
          label={t('workbench.preview.source')}
          defaultValue={dialog.source}
          autoFocus={dialog.source === ''}
          lang={localeOf(job.source_language)}
        />
        <Field
          name="target"
          label={t('workbench.preview.target')}
          defaultValue={dialog.target}
          autoFocus={dialog.source !== ''}
          lang={localeOf(job.target_language)}
        />
        <TextField name="note" label={t('workbench.term.note')} rows={2} optional />
        <DialogActions>
          <Button onClick={close}>{t('ui.cancel')}</Button>
          <SubmitButton>{t('workbench.term.propose')}</SubmitButton>
        </DialogActions>
      </Form>
    </Dialog>
  );
}
