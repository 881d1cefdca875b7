/** By a link: the key of a sandbox account, shown once. Opening the page shows nothing yet: what reads mail opens links. */
import { useQueryClient, useSuspenseQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { CallError, call, query } from '../api/client.ts';
import type { Loading, PageProps } from '../page.tsx';
import { paths } from '../paths.ts';
import { CopyBlock, CopyLine } from '../ui/CopyButton.tsx';
import { Form, SubmitButton } from '../ui/form.tsx';
import { Link } from '../ui/Link.tsx';
import { useSay } from '../words.tsx';
import { Door } from './Door.tsx';

const link = (token: string) => query('readSandboxLink', { path: { token } });

/** A link that is used up or too old is no fault of the page: it says so. */
export async function load({ queries, params }: Loading): Promise<void> {
  await queries.ensureQueryData({ ...link(params.token!), retry: false }).catch((error: unknown) => {
    if (!(error instanceof CallError && error.status === 404)) throw error;
  });
}

export default function SandboxKey({ params }: PageProps) {
  const queries = useQueryClient();
  const known = queries.getQueryState(link(params.token!).queryKey)?.status === 'success';
  return known ? <Show token={params.token!} /> : <TooLate />;
}

function TooLate() {
  const say = useSay();
  return (
    <Door title={say('invitation.over.title')} lead={say('sandbox.key.over')}>
      <p>
        <Link to={paths.sandbox}>{say('sandbox.ask.link')}</Link>
      </p>
    </Door>
  );
}

interface Credentials {
  key: string;
  webhook_secret: string;
  base_url: string;
}

function Show({ token }: { token: string }) {
  const say = useSay();
  const { data } = useSuspenseQuery({ ...link(token), staleTime: Number.POSITIVE_INFINITY });
  const [shown, setShown] = useState<Credentials>();
  if (shown === undefined) {
    return (
      <Door
        title={say('sandbox.key.title')}
        lead={
          <>
            <bdi>{data.username}</bdi>
            {' · '}
            {say('sandbox.key.once')}
          </>
        }
      >
        <Form onSubmit={async () => setShown(await call('openSandboxLink', { path: { token } }))}>
          <SubmitButton wide>{say('sandbox.key.show')}</SubmitButton>
        </Form>
      </Door>
    );
  }
  const lines = [
    ['key', say('sandbox.key.key'), shown.key],
    ['secret', say('sandbox.key.secret'), shown.webhook_secret],
    ['address', say('sandbox.key.address'), shown.base_url],
  ] as const;
  return (
    <Door title={say('sandbox.key.title')} lead={say('sandbox.key.shown')}>
      {lines.map(([name, what, text]) => (
        <section key={name} aria-label={what}>
          <p>{what}</p>
          <CopyLine text={text} what={what} />
        </section>
      ))}
      <section>
        <p>{say('sandbox.key.try')}</p>
        <CopyBlock text={example(shown)} what={say('sandbox.key.try')} />
      </section>
    </Door>
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
