/** The form to request a link for a forgotten password. Without a mail server, it says whom to ask. */
import { useSuspenseQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { call, query } from '../api/client.ts';
import { useTranslate } from '../i18n.tsx';
import type { Loading } from '../page.tsx';
import { paths } from '../paths.ts';
import { Field, Form, SubmitButton } from '../ui/form.tsx';
import { Link } from '../ui/Link.tsx';
import { SignedOutLayout } from './SignedOutLayout.tsx';

const options = () => query('readSignInOptions');

export const load = ({ queries }: Loading) => queries.ensureQueryData(options());

export default function ForgottenPassword() {
  const t = useTranslate();
  const { data } = useSuspenseQuery(options());
  const [email, setEmail] = useState<string>();
  const back = (
    <p>
      <Link to={paths.signIn}>{t('session.sign_in')}</Link>
    </p>
  );
  if (!data.reset_by_mail) {
    return (
      <SignedOutLayout title={t('forgotten.title')} lead={t('forgotten.ask')}>
        {back}
      </SignedOutLayout>
    );
  }
  if (email !== undefined) {
    return (
      <SignedOutLayout title={t('forgotten.sent.title')} lead={t('forgotten.sent.text', { email })}>
        {back}
      </SignedOutLayout>
    );
  }
  return (
    <SignedOutLayout title={t('forgotten.title')} lead={t('forgotten.lead')}>
      <Form
        onSubmit={async ({ email = '' }) => {
          await call('requestPasswordReset', { body: { email } });
          setEmail(email);
        }}
      >
        <Field name="email" type="email" label={t('session.email')} autoComplete="username" autoFocus ltr />
        <SubmitButton wide>{t('forgotten.send')}</SubmitButton>
      </Form>
      {back}
    </SignedOutLayout>
  );
}
