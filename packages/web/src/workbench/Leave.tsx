/** Somebody goes while texts cannot be sent: they are told, and nothing is lost either way. */
import { ConfirmDialog } from '../ui/Dialog.tsx';
import { useSay } from '../words.tsx';
import { usePage } from './context.tsx';

interface LeaveProps {
  onStay(): void;
  onLeave(): void;
}

export default function Leave({ onStay, onLeave }: LeaveProps) {
  const say = useSay();
  const count = usePage(({ saving }) => ('waiting' in saving ? saving.waiting : 1));
  return (
    <ConfirmDialog
      opened
      title={say('workbench.leave.title')}
      action={say('workbench.leave')}
      onClose={onStay}
      onConfirm={async () => onLeave()}
    >
      {say('workbench.leave.text', { count })}
    </ConfirmDialog>
  );
}
