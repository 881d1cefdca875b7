/**
 * A dialog over the workbench that asks for the password when the session has ended. The open segment and an open
 * dialog stay as they are.
 */
import { useLayoutEffect, useState } from 'react';
import { call } from '../api/client.ts';
import { useTranslate } from '../i18n.tsx';
import { SignInForm } from '../SignInForm.tsx';
import { useUser } from '../session.ts';
import { Dialog } from '../ui/Dialog.tsx';
import { useWorkbench } from './context.tsx';

export function SignInAgain() {
  const workbench = useWorkbench();
  const user = useUser();
  const t = useTranslate();
  const email = user?.email ?? '';
  const [focused] = useState(() => document.activeElement);
  // The password field gets the focus a moment later. Until then, keys must not reach the page.
  useLayoutEffect(() => {
    if (focused instanceof HTMLElement) focused.blur();
  }, [focused]);

  function close(): void {
    workbench.update({ signedOut: false });
    if (workbench.page.dialog && focused instanceof HTMLElement) focused.focus();
    else workbench.focusActive();
  }

  return (
    <Dialog opened title={t('workbench.session.title')} onClose={close}>
      <p>{t('workbench.session.text', { email })}</p>
      <SignInForm
        email={email}
        onSubmit={async (credentials) => {
          await call('signIn', { body: credentials });
          close();
          workbench.online();
        }}
      />
    </Dialog>
  );
}
