import { useQueryClient, useSuspenseQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { query } from '../api/client.ts';
import { useTranslate } from '../i18n.tsx';
import type { Loading, PageProps } from '../page.tsx';
import { HOMES, paths } from '../paths.ts';
import { signIn } from '../session.ts';
import { Field, Form, PasswordField, SubmitButton } from '../ui/form.tsx';
import { Link } from '../ui/Link.tsx';
import { SignedOutLayout } from './SignedOutLayout.tsx';

const sandboxAvailability = () => query('readSandboxAsking');

export const load = ({ queries }: Loading) => queries.ensureQueryData(sandboxAvailability());

export default function SignIn({ search }: PageProps) {
  const t = useTranslate();
  const queries = useQueryClient();
  const navigate = useNavigate();
  const { data } = useSuspenseQuery(sandboxAvailability());
  return (
    <SignedOutLayout title={t('session.sign_in')}>
      <Form
        onSubmit={async ({ email = '', password = '' }) => {
          const user = await signIn(queries, { email, password });
          await navigate({ to: ownAddress(search.next) ?? HOMES[user.role], replace: true });
        }}
      >
        <Field name="email" type="email" label={t('session.email')} autoComplete="username" autoFocus ltr />
        <PasswordField name="password" label={t('session.password')} autoComplete="current-password" plain />
        <SubmitButton wide>{t('session.sign_in')}</SubmitButton>
      </Form>
      <p>
        <Link to={paths.forgottenPassword}>{t('session.forgotten')}</Link>
      </p>
      {data.open && (
        <p>
          <Link to={paths.sandbox}>{t('sandbox.ask.link')}</Link>
        </p>
      )}
    </SignedOutLayout>
  );
}

/**
 * Accepts only addresses within the app, so that a link cannot redirect a user to another site after sign-in.
 */
function ownAddress(next: string | undefined): string | undefined {
  return next !== undefined && /^\/(?![/\\])/.test(next) ? next : undefined;
}
