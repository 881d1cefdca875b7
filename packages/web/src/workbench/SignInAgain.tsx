/** A dialog over the workbench that asks for the password when the session has ended. The open segment stays open. */
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
  return (
    <Dialog opened title={t('workbench.session.title')} onClose={() => workbench.close('dialog')}>
      <p>{t('workbench.session.text', { email })}</p>
      <SignInForm
        email={email}
        onSubmit={async (credentials) => {
          await call('signIn', { body: credentials });
          workbench.close('dialog');
          workbench.online();
        }}
      />
    </Dialog>
  );
}
