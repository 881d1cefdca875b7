/** By the link of an e-mail: a password is chosen, and whoever was invited is in. */
import { useQueryClient, useSuspenseQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { CallError, call, query } from '../api/client.ts';
import type { Loading, PageProps } from '../page.tsx';
import { HOMES, paths } from '../paths.ts';
import { welcome } from '../session.ts';
import { Field, Form, PasswordField, SubmitButton } from '../ui/form.tsx';
import { Link } from '../ui/Link.tsx';
import { useSay } from '../words.tsx';
import { Door } from './Door.tsx';

const invitation = (token: string) => query('readInvitation', { path: { token } });

/** A link that is used up or too old is no fault of the page: it says so. */
export async function load({ queries, params }: Loading): Promise<void> {
  await queries.ensureQueryData({ ...invitation(params.token!), retry: false }).catch((error: unknown) => {
    if (!(error instanceof CallError && error.status === 404)) throw error;
  });
}

export default function Invitation({ params }: PageProps) {
  const queries = useQueryClient();
  const known = queries.getQueryState(invitation(params.token!).queryKey)?.status === 'success';
  return known ? <Accept token={params.token!} /> : <TooLate />;
}

function TooLate() {
  const say = useSay();
  return (
    <Door title={say('invitation.over.title')} lead={say('invitation.over.text')}>
      <p>
        <Link to={paths.signIn}>{say('session.sign_in')}</Link>
      </p>
    </Door>
  );
}

function Accept({ token }: { token: string }) {
  const say = useSay();
  const queries = useQueryClient();
  const navigate = useNavigate();
  const { data } = useSuspenseQuery({ ...invitation(token), staleTime: Number.POSITIVE_INFINITY });
  const reset = data.purpose === 'reset';
  return (
    <Door
      title={say(reset ? 'invitation.reset' : 'invitation.title')}
      lead={
        <>
          <bdi>{data.email}</bdi>
          {data.account !== undefined && (
            <>
              {' · '}
              <bdi>{data.account}</bdi>
            </>
          )}
        </>
      }
    >
      <Form
        onSubmit={async ({ name, password = '' }) => {
          const body = reset ? { password } : { name, password };
          const me = await welcome(queries, await call('acceptInvitation', { path: { token }, body }));
          await navigate({ to: HOMES[me.role], replace: true });
        }}
      >
        {!reset && (
          <Field name="name" label={say('me.name')} defaultValue={data.name} autoComplete="name" autoFocus />
        )}
        <input type="hidden" autoComplete="username" value={data.email} readOnly />
        <PasswordField
          name="password"
          label={say('me.password.new')}
          description={say('me.password.length')}
          autoComplete="new-password"
          autoFocus={reset}
        />
        <SubmitButton wide>{say('invitation.accept')}</SubmitButton>
      </Form>
    </Door>
  );
}
