/**
 * A dialog over the workbench that asks for the password when the session has ended. The open segment and an open
 * dialog stay as they are.
 */
import { useQuery } from '@tanstack/react-query';
import { useLayoutEffect, useState } from 'react';
import { call, query } from '../api/client.ts';
import { useTranslate } from '../i18n.tsx';
import { SignInForm } from '../SignInForm.tsx';
import { useUser } from '../session.ts';
import { Dialog } from '../ui/Dialog.tsx';
import { Form, SubmitButton } from '../ui/form.tsx';
import { ProviderButton } from '../ui/ProviderButton.tsx';
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

  function resume(): void {
    close();
    workbench.online();
  }

  return (
    <Dialog opened title={t('workbench.session.title')} onClose={close}>
      <p>{t('workbench.session.text', { email })}</p>
      {user?.has_password === false ? (
        <ProviderAgain onSignedIn={resume} />
      ) : (
        <SignInForm
          email={email}
          onSubmit={async (credentials) => {
            await call('signIn', { body: credentials });
            resume();
          }}
        />
      )}
    </Dialog>
  );
}

/** For users without a password: the provider opens in another tab, and the dialog then continues. */
function ProviderAgain({ onSignedIn }: { onSignedIn(): void }) {
  const t = useTranslate();
  const { data } = useQuery(query('readSignInOptions'));
  return (
    <>
      {data != null && data.provider !== null && <ProviderButton provider={data.provider} newTab />}
      <Form
        onSubmit={async () => {
          await call('whoAmI');
          onSignedIn();
        }}
      >
        <SubmitButton wide secondary>
          {t('provider.continue')}
        </SubmitButton>
      </Form>
    </>
  );
}
