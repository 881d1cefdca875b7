/**
 * Asks before the user leaves the page while texts cannot be sent. The browser keeps these texts in any case.
 */

import { useTranslate } from '../../i18n.tsx';
import { ConfirmDialog } from '../../ui/Dialog.tsx';
import { usePage } from '../session/context.tsx';

interface LeaveProps {
  onStay(): void;
  onLeave(): void;
}

export default function Leave({ onStay, onLeave }: LeaveProps) {
  const t = useTranslate();
  const count = usePage(({ saving }) => ('waiting' in saving ? saving.waiting : 1));
  return (
    <ConfirmDialog
      opened
      title={t('workbench.leave.title')}
      action={t('workbench.leave')}
      onClose={onStay}
      onConfirm={async () => onLeave()}
    >
      {t('workbench.leave.text', { count })}
    </ConfirmDialog>
  );
}
