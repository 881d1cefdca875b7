/** Oneself: name, password, and where one is signed in. */
import { Button } from '@mantine/core';
import { useQueryClient, useSuspenseQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { call, query } from '../api/client.ts';
import type { Session } from '../api/generated.ts';
import type { Loading } from '../page.tsx';
import { person, usePerson } from '../session.ts';
import { ConfirmDialog } from '../ui/Dialog.tsx';
import { Empty } from '../ui/Empty.tsx';
import { Field, Form, FormActions, PasswordField, SubmitButton } from '../ui/form.tsx';
import { Card, Page, Section } from '../ui/Page.tsx';
import { Tag } from '../ui/StatusBadge.tsx';
import { type Column, Table } from '../ui/Table.tsx';
import { toast } from '../ui/Toast.tsx';
import { When } from '../ui/When.tsx';
import { useSay } from '../words.tsx';

const sessions = () => query('listSessions');

export const load = ({ queries }: Loading) => queries.ensureQueryData(sessions());

export default function Me() {
  const say = useSay();
  return (
    <Page title={say('me.title')} prose>
      <Profile />
      <Password />
      <Sessions />
    </Page>
  );
}

function Profile() {
  const say = useSay();
  const queries = useQueryClient();
  const me = usePerson()!;
  return (
    <Section title={say('me.profile')}>
      <Card>
        <Form
          onSubmit={async ({ name }) => {
            queries.setQueryData(person().queryKey, await call('changeMe', { body: { name } }));
            toast(say('ui.saved'));
          }}
        >
          <Field name="name" label={say('me.name')} defaultValue={me.name} autoComplete="name" />
          <p>
            {say('session.email')}: <bdi>{me.email}</bdi>
          </p>
          <FormActions>
            <SubmitButton>{say('ui.save')}</SubmitButton>
          </FormActions>
        </Form>
      </Card>
    </Section>
  );
}

function Password() {
  const say = useSay();
  // A new form for each password: what was typed is gone when it is changed.
  const [changes, setChanges] = useState(0);
  return (
    <Section title={say('session.password')}>
      <Card>
        <Form
          key={changes}
          onSubmit={async ({ current_password = '', password = '' }) => {
            await call('changePassword', { body: { current_password, password } });
            setChanges(changes + 1);
            toast(say('me.password.changed'));
          }}
        >
          <PasswordField
            name="current_password"
            label={say('me.password.current')}
            autoComplete="current-password"
          />
          <PasswordField
            name="password"
            label={say('me.password.new')}
            description={say('me.password.length')}
            autoComplete="new-password"
          />
          <FormActions>
            <SubmitButton secondary>{say('me.password.change')}</SubmitButton>
          </FormActions>
        </Form>
      </Card>
    </Section>
  );
}

function Sessions() {
  const say = useSay();
  const queries = useQueryClient();
  const [asking, setAsking] = useState(false);
  const { data } = useSuspenseQuery(sessions());
  const changed = () => queries.invalidateQueries(sessions());
  const columns: Column<Session>[] = [
    {
      key: 'where',
      header: say('me.sessions.where'),
      wide: true,
      cell: ({ user_agent, current }) => (
        <>
          <bdi>{user_agent || say('me.sessions.unknown')}</bdi>{' '}
          {current && <Tag>{say('me.sessions.this')}</Tag>}
        </>
      ),
    },
    { key: 'seen', header: say('me.sessions.seen'), cell: ({ last_seen_at }) => <When at={last_seen_at} /> },
    {
      key: 'end',
      header: say('me.sessions.end'),
      bare: true,
      align: 'end',
      cell: ({ session_id, current }) =>
        current || (
          <Button
            size="xs"
            onClick={async () => {
              await call('endSession', { path: { session_id } });
              await changed();
            }}
          >
            {say('me.sessions.end')}
          </Button>
        ),
    },
  ];
  return (
    <Section
      title={say('me.sessions')}
      actions={
        data.objects.length > 1 && (
          <Button onClick={() => setAsking(true)}>{say('me.sessions.end_others')}</Button>
        )
      }
    >
      <Table
        label={say('me.sessions')}
        columns={columns}
        rows={data.objects}
        rowKey={({ session_id }) => session_id}
        empty={<Empty>{say('me.sessions.unknown')}</Empty>}
      />
      <ConfirmDialog
        title={say('me.sessions.end_others')}
        opened={asking}
        onClose={() => setAsking(false)}
        action={say('me.sessions.end_others')}
        danger
        onConfirm={async () => {
          await call('endOtherSessions');
          await changed();
          toast(say('me.sessions.ended'));
        }}
      >
        {say('me.sessions.end_others.text')}
      </ConfirmDialog>
    </Section>
  );
}
