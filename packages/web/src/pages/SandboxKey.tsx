/**
 * The page of a sandbox link. It shows the key once, and only after a click, because mail scanners open
 * links.
 */
import { useQueryClient, useSuspenseQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { CallError, call, query } from '../api/client.ts';
import { useTranslate } from '../i18n.tsx';
import type { Loading, PageProps } from '../page.tsx';
import { paths } from '../paths.ts';
import { CopyBlock, CopyLine } from '../ui/CopyButton.tsx';
import { Form, SubmitButton } from '../ui/form.tsx';
import { Link } from '../ui/Link.tsx';
import { SignedOutLayout } from './SignedOutLayout.tsx';

const link = (token: string) => query('readSandboxLink', { path: { token } });

/** For a used or expired link (404), the page shows a message instead of an error. */
export async function load({ queries, params }: Loading): Promise<void> {
  await queries.ensureQueryData({ ...link(params.token!), retry: false }).catch((error: unknown) => {
    if (!(error instanceof CallError && error.status === 404)) throw error;
  });
}

export default function SandboxKey({ params }: PageProps) {
  const queries = useQueryClient();
  const isValid = queries.getQueryState(link(params.token!).queryKey)?.status === 'success';
  return isValid ? <ShowKey token={params.token!} /> : <ExpiredLink />;
}

function ExpiredLink() {
  const t = useTranslate();
  return (
    <SignedOutLayout title={t('invitation.expired.title')} lead={t('sandbox.key.expired')}>
      <p>
        <Link to={paths.sandbox}>{t('sandbox.ask.link')}</Link>
      </p>
    </SignedOutLayout>
  );
}

interface Credentials {
  key: string;
  webhook_secret: string;
  base_url: string;
}

function ShowKey({ token }: { token: string }) {
  const t = useTranslate();
  const { data } = useSuspenseQuery({ ...link(token), staleTime: Number.POSITIVE_INFINITY });
  const [shown, setShown] = useState<Credentials>();
  if (shown === undefined) {
    return (
      <SignedOutLayout
        title={t('sandbox.key.title')}
        lead={
          <>
            <bdi>{data.username}</bdi>
            {' · '}
            {t('sandbox.key.once')}
          </>
        }
      >
        <Form onSubmit={async () => setShown(await call('openSandboxLink', { path: { token } }))}>
          <SubmitButton wide>{t('sandbox.key.show')}</SubmitButton>
        </Form>
      </SignedOutLayout>
    );
  }
  const lines = [
    ['key', t('sandbox.key.key'), shown.key],
    ['secret', t('sandbox.key.secret'), shown.webhook_secret],
    ['address', t('sandbox.key.address'), shown.base_url],
  ] as const;
  return (
    <SignedOutLayout title={t('sandbox.key.title')} lead={t('sandbox.key.shown')}>
      {lines.map(([name, what, text]) => (
        <section key={name} aria-label={what}>
          <p>{what}</p>
          <CopyLine text={text} what={what} />
        </section>
      ))}
      <section>
        <p>{t('sandbox.key.try')}</p>
        <CopyBlock text={example(shown)} what={t('sandbox.key.try')} />
      </section>
    </SignedOutLayout>
  );
}

function example({ key, base_url }: Credentials): string {
  const body = JSON.stringify({
    text: 'The sea is calm today.',
    source_language: 'en',
    target_language: 'es',
  });
  return [
    `curl ${base_url}/tapi/v2/mt_translation/ \\`,
    `  -H 'Authorization: ApiKey ${key}' \\`,
    `  -H 'Content-Type: application/json' \\`,
    `  -d '${body}'`,
  ].join('\n');
}
