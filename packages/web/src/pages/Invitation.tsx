/** The page of an invitation or reset link: sets a password and signs in. */
import { useQueryClient, useSuspenseQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { type Answer, CallError, call, query } from '../api/client.ts';
import { useTranslate } from '../i18n.tsx';
import type { Loading, PageProps } from '../page.tsx';
import { HOMES, paths } from '../paths.ts';
import { CodeField } from '../SignInForm.tsx';
import { startSession } from '../session.ts';
import { Field, Form, PasswordField, SubmitButton } from '../ui/form.tsx';
import { Link } from '../ui/Link.tsx';
import { ProviderButton } from '../ui/ProviderButton.tsx';
import { SignedOutLayout } from './SignedOutLayout.tsx';
import { signInOptions } from './SignIn.tsx';

const invitation = (token: string) => query('readInvitation', { path: { token } });

/** For a used or expired link (404), the page shows a message instead of an error. */
export async function load({ queries, params }: Loading): Promise<void> {
  await queries.ensureQueryData(signInOptions());
  await queries.ensureQueryData({ ...invitation(params.token!), retry: false }).catch((error: unknown) => {
    if (!(error instanceof CallError && error.status === 404)) throw error;
  });
}

export default function Invitation({ params }: PageProps) {
  return <OpenLink key={params.token!} token={params.token!} />;
}

function OpenLink({ token }: { token: string }) {
  const queries = useQueryClient();
  // Keeps the invitation's data, because the link is invalid as soon as it is accepted, but the page is still shown.
  const [data] = useState(() => queries.getQueryData(invitation(token).queryKey));
  return data === undefined ? <ExpiredLink /> : <Accept token={token} data={data} />;
}

function ExpiredLink() {
  const t = useTranslate();
  return (
    <SignedOutLayout title={t('invitation.expired.title')} lead={t('invitation.expired.text')}>
      <p>
        <Link to={paths.signIn}>{t('session.sign_in')}</Link>
      </p>
    </SignedOutLayout>
  );
}

const TITLES = {
  invitation: 'invitation.title',
  reset: 'invitation.reset',
  operator: 'invitation.operator.title',
} as const;

function Accept({ token, data }: { token: string; data: Answer<'readInvitation'> }) {
  const t = useTranslate();
  const queries = useQueryClient();
  const navigate = useNavigate();
  const { data: options } = useSuspenseQuery(signInOptions());
  const { purpose } = data;
  const reset = purpose === 'reset';
  const isFirst = purpose === 'operator';
  // Accepting with the provider would bypass the user's second factor, and it cannot create the first operator.
  const provider = data.second_factor || isFirst ? null : options.provider;
  return (
    <SignedOutLayout
      title={t(TITLES[purpose])}
      lead={
        isFirst ? (
          t('invitation.operator.text')
        ) : (
          <>
            <bdi>{data.email}</bdi>
            {data.account !== undefined && (
              <>
                {' · '}
                <bdi>{data.account}</bdi>
              </>
            )}
          </>
        )
      }
    >
      {provider !== null && <ProviderButton provider={provider} link={token} />}
      {provider !== null && (options.passwords || reset) && <p>{t('provider.or')}</p>}
      {(options.passwords || reset || isFirst) && (
        <Form
          onSubmit={async ({ name, email, password = '', code }) => {
            const body = reset
              ? { password, code }
              : isFirst
                ? { name, email, password }
                : { name, password };
            const me = await startSession(queries, await call('acceptInvitation', { path: { token }, body }));
            await navigate({ to: HOMES[me.role], replace: true });
          }}
        >
          {!reset && (
            <Field
              name="name"
              label={t('me.name')}
              defaultValue={data.name ?? ''}
              autoComplete="name"
              autoFocus
            />
          )}
          {isFirst ? (
            <Field name="email" type="email" label={t('session.email')} autoComplete="username" ltr />
          ) : (
            <input type="hidden" autoComplete="username" value={data.email} readOnly />
          )}
          <PasswordField
            name="password"
            label={t('me.password.new')}
            description={t('me.password.length')}
            autoComplete="new-password"
            autoFocus={reset}
          />
          {data.second_factor && <CodeField autoFocus={false} />}
          <SubmitButton wide secondary={provider !== null}>
            {t('invitation.accept')}
          </SubmitButton>
        </Form>
      )}
    </SignedOutLayout>
  );
}
