import { useQueryClient, useSuspenseQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { query } from '../api/client.ts';
import { useTranslate } from '../i18n.tsx';
import type { Loading, PageProps } from '../page.tsx';
import { HOMES, paths } from '../paths.ts';
import { SignInForm } from '../SignInForm.tsx';
import { signIn } from '../session.ts';
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
      <SignInForm
        onSubmit={async (credentials) => {
          const user = await signIn(queries, credentials);
          await navigate({ to: ownAddress(search.next) ?? HOMES[user.role], replace: true });
        }}
      />
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
