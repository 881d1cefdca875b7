/** The public form to request a sandbox account. */
import { useSuspenseQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { call, query } from '../api/client.ts';
import { useTranslate } from '../i18n.tsx';
import type { Loading } from '../page.tsx';
import { paths } from '../paths.ts';
import { Field, Form, SubmitButton, TextField } from '../ui/form.tsx';
import { Link } from '../ui/Link.tsx';
import { SignedOutLayout } from './SignedOutLayout.tsx';

const availability = () => query('readSandboxAsking');

export const load = ({ queries }: Loading) => queries.ensureQueryData(availability());

export default function Sandbox() {
  const t = useTranslate();
  const navigate = useNavigate();
  const { data } = useSuspenseQuery(availability());
  const [requested, setRequested] = useState(false);
  if (requested) {
    return (
      <SignedOutLayout title={t('sandbox.requested.title')} lead={t('sandbox.requested.text')}>
        <p>
          <Link to={paths.signIn}>{t('session.sign_in')}</Link>
        </p>
      </SignedOutLayout>
    );
  }
  return (
    <SignedOutLayout
      title={t('sandbox.ask.title')}
      lead={t(data.open ? 'sandbox.ask.lead' : 'sandbox.ask.closed')}
    >
      {data.open && (
        <Form
          onSubmit={async ({ name = '', email = '', company = '', use = '' }) => {
            const answer = await call('requestSandbox', { body: { name, email, company, use } });
            if (answer.status === 'received') return setRequested(true);
            const token = answer.link.split('/').at(-1)!;
            await navigate({ to: paths.sandboxKey(token), replace: true });
          }}
        >
          <Field name="name" label={t('sandbox.ask.name')} autoComplete="name" autoFocus />
          <Field name="email" type="email" label={t('session.email')} autoComplete="email" ltr />
          <Field name="company" label={t('sandbox.ask.company')} autoComplete="organization" optional />
          <TextField name="use" label={t('sandbox.ask.use')} optional />
          <SubmitButton wide>{t('sandbox.ask.send')}</SubmitButton>
        </Form>
      )}
    </SignedOutLayout>
  );
}
