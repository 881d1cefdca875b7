/** A dialog over the workbench that asks for the password when the session has ended. The open segment stays open. */
import { call } from '../api/client.ts';
import { useTranslate } from '../i18n.tsx';
import { useUser } from '../session.ts';
import { Dialog } from '../ui/Dialog.tsx';
import { Form, PasswordField, SubmitButton } from '../ui/form.tsx';
import { useWorkbench } from './context.tsx';

export function SignInAgain() {
  const workbench = useWorkbench();
  const user = useUser();
  const t = useTranslate();
  const email = user?.email ?? '';
  return (
    <Dialog opened title={t('workbench.session.title')} onClose={() => workbench.close('dialog')}>
      <p>{t('workbench.session.text', { email })}</p>
      <Form
        onSubmit={async ({ password = '' }) => {
          await call('signIn', { body: { email, password } });
          workbench.close('dialog');
          workbench.online();
        }}
      >
        <PasswordField
          name="password"
          label={t('session.password')}
          autoComplete="current-password"
          autoFocus
          plain
        />
        <SubmitButton wide>{t('session.sign_in')}</SubmitButton>
      </Form>
    </Dialog>
  );
}
