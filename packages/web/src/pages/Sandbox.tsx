/** Asking for a sandbox account, for anybody. */
import { useSuspenseQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { call, query } from '../api/client.ts';
import type { Loading } from '../page.tsx';
import { paths } from '../paths.ts';
import { Field, Form, SubmitButton, TextField } from '../ui/form.tsx';
import { Link } from '../ui/Link.tsx';
import { useSay } from '../words.tsx';
import { Door } from './Door.tsx';

const asking = () => query('readSandboxAsking');

export const load = ({ queries }: Loading) => queries.ensureQueryData(asking());

export default function Sandbox() {
  const say = useSay();
  const navigate = useNavigate();
  const { data } = useSuspenseQuery(asking());
  const [asked, setAsked] = useState(false);
  if (asked) {
    return (
      <Door title={say('sandbox.asked.title')} lead={say('sandbox.asked.text')}>
        <p>
          <Link to={paths.signIn}>{say('session.sign_in')}</Link>
        </p>
      </Door>
    );
  }
  return (
    <Door title={say('sandbox.ask.title')} lead={say(data.open ? 'sandbox.ask.lead' : 'sandbox.ask.closed')}>
      {data.open && (
        <Form
          onSubmit={async ({ name = '', email = '', company = '', use = '' }) => {
            const answer = await call('requestSandbox', { body: { name, email, company, use } });
            if (answer.status === 'received') return setAsked(true);
            const token = answer.link.split('/').at(-1)!;
            await navigate({ to: paths.sandboxKey(token), replace: true });
          }}
        >
          <Field name="name" label={say('sandbox.ask.name')} autoComplete="name" autoFocus />
          <Field name="email" type="email" label={say('session.email')} autoComplete="email" ltr />
          <Field name="company" label={say('sandbox.ask.company')} autoComplete="organization" optional />
          <TextField name="use" label={say('sandbox.ask.use')} optional />
          <SubmitButton wide>{say('sandbox.ask.send')}</SubmitButton>
        </Form>
      )}
    </Door>
  );
}
