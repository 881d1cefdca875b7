/**
 * Dialogs and side panels. Each has an accessible name, closes with Esc or a button, and then returns the
 * focus to where it was.
 */
import { Button, Drawer, Modal } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { useTranslate } from '../i18n.tsx';
import css from './Dialog.module.css';
import { FailureNotice } from './Failure.tsx';

interface DialogProps {
  title: string;
  opened: boolean;
  onClose(): void;
  children: ReactNode;
}

/** A dialog with a title. @param wide true for a dialog that contains lines of code */
export function Dialog({ title, opened, onClose, wide = false, children }: DialogProps & { wide?: boolean }) {
  const t = useTranslate();
  return (
    <Modal
      size={wide ? '42rem' : 'md'}
      title={title}
      opened={opened}
      onClose={onClose}
      closeButtonProps={{ 'aria-label': t('ui.close') }}
    >
      <div className={css.body}>{children}</div>
    </Modal>
  );
}

/** Shows the details of a row next to its list. @param wide true for a panel with texts side by side */
export function SidePanel({
  title,
  opened,
  onClose,
  wide = false,
  children,
}: DialogProps & { wide?: boolean }) {
  const t = useTranslate();
  return (
    <Drawer
      title={title}
      opened={opened}
      onClose={onClose}
      size={wide ? '56rem' : '34rem'}
      closeButtonProps={{ 'aria-label': t('ui.close') }}
    >
      <div className={css.body}>{children}</div>
    </Drawer>
  );
}

interface ConfirmProps extends Omit<DialogProps, 'children'> {
  /** The text of the dialog: what will happen, and to which object. */
  children: ReactNode;
  /** The button's label: a verb, never "OK". */
  action: string;
  danger?: boolean;
  /** The dialog closes when the promise resolves. When the promise rejects, the dialog shows the error. */
  onConfirm(): Promise<unknown>;
}

/** Asks for confirmation before an action that cannot be undone. */
export function ConfirmDialog({ action, danger = false, onConfirm, children, ...dialog }: ConfirmProps) {
  const t = useTranslate();
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<Error>();
  async function confirm(): Promise<void> {
    setBusy(true);
    setError(undefined);
    try {
      await onConfirm();
      dialog.onClose();
    } catch (failed) {
      setError(failed as Error);
    } finally {
      setBusy(false);
    }
  }
  return (
    <Dialog {...dialog}>
      <div>{children}</div>
      {error !== undefined && <FailureNotice error={error} />}
      <DialogActions>
        <Button onClick={dialog.onClose} data-autofocus>
          {t('ui.cancel')}
        </Button>
        <Button
          variant="filled"
          {...(danger ? { color: 'danger' } : {})}
          loading={busy}
          onClick={() => void confirm()}
        >
          {action}
        </Button>
      </DialogActions>
    </Dialog>
  );
}

export function DialogActions({ children }: { children: ReactNode }) {
  return <div className={css.actions}>{children}</div>;
}
