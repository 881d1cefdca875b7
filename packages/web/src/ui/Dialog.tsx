/** Dialogs and side panels: a name, a way out by Esc and by button, and the focus back where it was. */
import { Button, Drawer, Modal } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { useSay } from '../words.tsx';
import css from './Dialog.module.css';
import { FailureNotice } from './Failure.tsx';

interface DialogProps {
  title: string;
  opened: boolean;
  onClose(): void;
  children: ReactNode;
}

/** @param wide for what is copied, such as lines of code */
export function Dialog({ title, opened, onClose, wide = false, children }: DialogProps & { wide?: boolean }) {
  const say = useSay();
  return (
    <Modal
      size={wide ? '42rem' : 'md'}
      title={title}
      opened={opened}
      onClose={onClose}
      closeButtonProps={{ 'aria-label': say('ui.close') }}
    >
      <div className={css.body}>{children}</div>
    </Modal>
  );
}

/** Beside a list, with what one of its rows holds. */
export function SidePanel({ title, opened, onClose, children }: DialogProps) {
  const say = useSay();
  return (
    <Drawer
      title={title}
      opened={opened}
      onClose={onClose}
      size="34rem"
      closeButtonProps={{ 'aria-label': say('ui.close') }}
    >
      <div className={css.body}>{children}</div>
    </Drawer>
  );
}

interface ConfirmProps extends Omit<DialogProps, 'children'> {
  /** What will happen, and to what by its name. */
  children: ReactNode;
  /** The word on the button: what it does, never "OK". */
  action: string;
  danger?: boolean;
  /** The dialog closes when it is done, and says why when it fails. */
  onConfirm(): Promise<unknown>;
}

/** Asks before something that cannot be undone. */
export function ConfirmDialog({ action, danger = false, onConfirm, children, ...dialog }: ConfirmProps) {
  const say = useSay();
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
          {say('ui.cancel')}
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
