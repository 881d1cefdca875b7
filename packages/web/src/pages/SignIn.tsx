import { useQueryClient, useSuspenseQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { query } from '../api/client.ts';
import type { Loading, PageProps } from '../page.tsx';
import { HOMES, paths } from '../paths.ts';
import { signIn } from '../session.ts';
import { Field, Form, PasswordField, SubmitButton } from '../ui/form.tsx';
import { Link } from '../ui/Link.tsx';
import { useSay } from '../words.tsx';
import { Door } from './Door.tsx';

const asking = () => query('readSandboxAsking');

export const load = ({ queries }: Loading) => queries.ensureQueryData(asking());

export default function SignIn({ search }: PageProps) {
  const say = useSay();
  const queries = useQueryClient();
  const navigate = useNavigate();
  const { data } = useSuspenseQuery(asking());
  return (
    <Door title={say('session.sign_in')}>
      <Form
        onSubmit={async ({ email = '', password = '' }) => {
          const person = await signIn(queries, { email, password });
          await navigate({ to: ownAddress(search.next) ?? HOMES[person.role], replace: true });
        }}
      >
        <Field name="email" type="email" label={say('session.email')} autoComplete="username" autoFocus ltr />
        <PasswordField
          name="password"
          label={say('session.password')}
          autoComplete="current-password"
          plain
        />
        <SubmitButton wide>{say('session.sign_in')}</SubmitButton>
      </Form>
      {data.open && (
        <p>
          <Link to={paths.sandbox}>{say('sandbox.ask.link')}</Link>
        </p>
      )}
    </Door>
  );
}

/** Only an address within the app: a link must not lead somebody who signs in to another place. */
function ownAddress(next: string | undefined): string | undefined {
  return next !== undefined && /^\/(?![/\\])/.test(next) ? next : undefined;
}
