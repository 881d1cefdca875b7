/** The parts of an account's page with which an operator suspends and resumes it. */
import { Button } from '@mantine/core';
import { useState } from 'react';
import { call } from '../api/client.ts';
import { useTranslate } from '../i18n.tsx';
import { ConfirmDialog } from '../ui/Dialog.tsx';
import { Notice } from '../ui/Notice.tsx';
import { useChange } from './shared.tsx';

/** The button that suspends an account after a confirmation. */
export function Suspend({ username }: { username: string }) {
  const t = useTranslate();
  const change = useChange();
  const [confirming, setConfirming] = useState(false);
  return (
    <>
      <Button onClick={() => setConfirming(true)}>{t('console.account.suspend')}</Button>
      <ConfirmDialog
        title={t('console.account.suspend_what', { what: username })}
        action={t('console.account.suspend')}
        danger
        opened={confirming}
        onClose={() => setConfirming(false)}
        onConfirm={() =>
          change(() => call('suspendAccount', { path: { username } }), t('console.account.suspended'))
        }
      >
        {t('console.account.suspend_about')}
      </ConfirmDialog>
    </>
  );
}

/** Shows that the account is suspended, with the button that resumes it. */
export function Suspended({ username }: { username: string }) {
  const t = useTranslate();
  const change = useChange();
  return (
    <Notice
      tone="warning"
      action={
        <Button
          onClick={() =>
            void change(() => call('resumeAccount', { path: { username } }), t('console.account.resumed'))
          }
        >
          {t('console.account.resume')}
        </Button>
      }
    >
      {t('console.account.suspended_about')}
    </Notice>
  );
}
