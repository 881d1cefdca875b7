/** The dialog in which an operator cancels a job, with a message to its customer. */
import { Button } from '@mantine/core';
import { call } from '../api/client.ts';
import { useTranslate } from '../i18n.tsx';
import { Dialog, DialogActions } from '../ui/Dialog.tsx';
import { Form, SubmitButton, TextField } from '../ui/form.tsx';
import { useChange } from './shared.tsx';

interface CancelJobProps {
  /** Undefined while the dialog is closed. */
  job: { account: string; job: string; order_number: number } | undefined;
  onClose(): void;
}

/** The field for a message that the customer of a canceled job sees. */
export function NoteField() {
  const t = useTranslate();
  return <TextField name="note" label={t('console.job.note')} description={t('console.job.note_about')} />;
}

export function CancelJob({ job, onClose }: CancelJobProps) {
  const t = useTranslate();
  const change = useChange();
  return (
    <Dialog title={t('console.job.cancel')} opened={job !== undefined} onClose={onClose}>
      {job !== undefined && (
        <Form
          onSubmit={async ({ note }) => {
            const path = { username: job.account, job: job.job };
            const body = note ? { note } : {};
            await change(() => call('cancelConsoleJob', { path, body }), t('console.job.canceled'));
            onClose();
          }}
        >
          <p>{t('console.job.cancel_about', { number: job.order_number, account: job.account })}</p>
          <NoteField />
          <DialogActions>
            <Button onClick={onClose}>{t('ui.close')}</Button>
            <SubmitButton danger>{t('console.job.cancel')}</SubmitButton>
          </DialogActions>
        </Form>
      )}
    </Dialog>
  );
}
