/**
 * A dialog over the workbench that asks its user to sign in when the session has ended. The open segment and an open
 * dialog stay as they are. If another user signs in, the page does not continue with the first user's work.
 */
import { useQuery } from '@tanstack/react-query';
import { useLayoutEffect, useState } from 'react';
import { CallError, call, query } from '../../api/client.ts';
import { useTranslate } from '../../i18n.tsx';
import { SignInForm } from '../../SignInForm.tsx';
import type { User } from '../../session.ts';
import { Dialog } from '../../ui/Dialog.tsx';
import { Form, SubmitButton } from '../../ui/form.tsx';
import { ProviderButton } from '../../ui/ProviderButton.tsx';
import { useWorkbench } from '../session/context.tsx';

export function SignInAgain({ user }: { user: User }) {
  const workbench = useWorkbench();
  const t = useTranslate();
  const { email } = user;
  const byProvider = user.session.by_provider;
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

  function resume(signedIn: User): void {
    if (signedIn.user_id !== user.user_id) {
      const message = t('workbench.session.another', { email, other: signedIn.email });
      throw new CallError('explained', message);
    }
    close();
    workbench.online();
  }

  return (
    <Dialog opened title={t('workbench.session.title')} onClose={close}>
      <p>{t(byProvider ? 'workbench.session.provider' : 'workbench.session.text', { email })}</p>
      {byProvider ? (
        <ProviderAgain onSignedIn={resume} />
      ) : (
        <SignInForm
          email={email}
          onSubmit={async (credentials) => resume(await call('signIn', { body: credentials }))}
        />
      )}
    </Dialog>
  );
}

/** Lets users of the provider sign in in another tab. The button then checks the session and closes the dialog. */
function ProviderAgain({ onSignedIn }: { onSignedIn(user: User): void }) {
  const t = useTranslate();
  const { data } = useQuery(query('readSignInOptions'));
  return (
    <>
      {data != null && data.provider !== null && <ProviderButton provider={data.provider} newTab />}
      <Form onSubmit={async () => onSignedIn(await call('whoAmI'))}>
        <SubmitButton wide secondary>
          {t('provider.continue')}
        </SubmitButton>
      </Form>
    </>
  );
}
