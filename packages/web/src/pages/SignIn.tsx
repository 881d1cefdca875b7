import { Button } from '@mantine/core';
import { useQueryClient, useSuspenseQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { query } from '../api/client.ts';
import { type MessageId, useTranslate } from '../i18n.tsx';
import type { Loading, PageProps } from '../page.tsx';
import { HOMES, paths } from '../paths.ts';
import { SignInForm } from '../SignInForm.tsx';
import { signIn } from '../session.ts';
import { Link } from '../ui/Link.tsx';
import { Notice } from '../ui/Notice.tsx';
import { ProviderButton } from '../ui/ProviderButton.tsx';
import { SignedOutLayout } from './SignedOutLayout.tsx';

const sandboxAvailability = () => query('readSandboxAsking');
export const signInOptions = () => query('readSignInOptions');

export const load = ({ queries }: Pick<Loading, 'queries'>) =>
  Promise.all([queries.ensureQueryData(sandboxAvailability()), queries.ensureQueryData(signInOptions())]);

/** The sentences for refused sign-ins with the provider, by the value of `refused` in the page's address. */
const REFUSED: Record<string, MessageId> = {
  canceled: 'provider.refused.canceled',
  clock: 'provider.refused.clock',
  disabled: 'provider.refused.disabled',
  domain: 'provider.refused.domain',
  down: 'provider.refused.down',
  expired: 'provider.refused.expired',
  failed: 'provider.refused.failed',
  linked: 'provider.refused.linked',
  no_email: 'provider.refused.no_email',
  no_role: 'provider.refused.no_role',
  not_invited: 'provider.refused.not_invited',
  second_factor: 'provider.refused.second_factor',
  too_many: 'error.too_many_attempts',
  unverified: 'provider.refused.unverified',
};

export default function SignIn({ search }: PageProps) {
  const t = useTranslate();
  const queries = useQueryClient();
  const navigate = useNavigate();
  const { data: sandbox } = useSuspenseQuery(sandboxAvailability());
  const { data: options } = useSuspenseQuery(signInOptions());
  const { provider } = options;
  const [hasForm, setHasForm] = useState(options.passwords);
  const next = ownAddress(search.next);
  const refused = Object.hasOwn(REFUSED, search.refused ?? '') ? REFUSED[search.refused!] : undefined;
  return (
    <SignedOutLayout title={t('session.sign_in')}>
      {refused !== undefined && <Notice tone="danger">{t(refused, { provider: provider ?? '' })}</Notice>}
      {!options.has_operator && <FirstOperator />}
      {provider !== null && <ProviderButton provider={provider} next={next} />}
      {hasForm ? (
        <>
          {provider !== null && <p>{t('provider.or')}</p>}
          <SignInForm
            secondary={provider !== null}
            onSubmit={async (credentials) => {
              const user = await signIn(queries, credentials);
              await navigate({ to: next ?? HOMES[user.role], replace: true });
            }}
          />
          <p>
            <Link to={paths.forgottenPassword}>{t('session.forgotten')}</Link>
          </p>
        </>
      ) : (
        <div>
          <Button variant="subtle" size="xs" onClick={() => setHasForm(true)}>
            {t('provider.emergency')}
          </Button>
        </div>
      )}
      {sandbox.open && (
        <p>
          <Link to={paths.sandbox}>{t('sandbox.ask.link')}</Link>
        </p>
      )}
    </SignedOutLayout>
  );
}

/** Explains how to create the first operator. The link itself is printed only on the server's terminal. */
function FirstOperator() {
  const t = useTranslate();
  return (
    <Notice tone="info">
      <div>{t('session.no_operator')}</div>
      <div>
        <code dir="ltr">dragoman user invite you@example.com --role operator</code>
      </div>
    </Notice>
  );
}

/**
 * Accepts only addresses within the app, so that a link cannot lead a user to another site after sign-in, nor, with `..`,
 * to another address of this server.
 */
function ownAddress(next: string | undefined): string | undefined {
  if (next === undefined || !/^\/(?![/\\])/.test(next)) return undefined;
  return new URL(`/app${next}`, location.origin).pathname.startsWith('/app/') ? next : undefined;
}
