/** The user's own profile: name, password, second factor and sessions. */
import { Button } from '@mantine/core';
import { useQueryClient, useSuspenseQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { call, query } from '../api/client.ts';
import type { Session } from '../api/generated.ts';
import { useTranslate } from '../i18n.tsx';
import type { Loading } from '../page.tsx';
import { sessionQuery, useUser } from '../session.ts';
import { ConfirmDialog } from '../ui/Dialog.tsx';
import { Empty } from '../ui/Empty.tsx';
import { Field, Form, FormActions, PasswordField, SubmitButton } from '../ui/form.tsx';
import { Card, Page, Section } from '../ui/Page.tsx';
import { Tag } from '../ui/StatusBadge.tsx';
import { type Column, Table } from '../ui/Table.tsx';
import { toast } from '../ui/Toast.tsx';
import { When } from '../ui/When.tsx';
import { SecondFactor, secondFactor } from './SecondFactor.tsx';

const sessions = () => query('listSessions');

export const load = ({ queries }: Loading) =>
  Promise.all([queries.ensureQueryData(sessions()), queries.ensureQueryData(secondFactor())]);

export default function Me() {
  const t = useTranslate();
  const me = useUser()!;
  return (
    <Page title={t('me.title')} prose>
      <Profile />
      {me.has_password && <Password />}
      {me.has_password && <SecondFactor />}
      <Sessions />
    </Page>
  );
}

function Profile() {
  const t = useTranslate();
  const queries = useQueryClient();
  const me = useUser()!;
  return (
    <Section title={t('me.profile')}>
      <Card>
        <Form
          onSubmit={async ({ name }) => {
            queries.setQueryData(sessionQuery().queryKey, await call('changeMe', { body: { name } }));
            toast(t('ui.saved'));
          }}
        >
          <Field name="name" label={t('me.name')} defaultValue={me.name} autoComplete="name" />
          <p>
            {t('session.email')}: <bdi>{me.email}</bdi>
          </p>
          <FormActions>
            <SubmitButton>{t('ui.save')}</SubmitButton>
          </FormActions>
        </Form>
      </Card>
    </Section>
  );
}

function Password() {
  const t = useTranslate();
  // The changed React key replaces the form with an empty one after each change.
  const [changes, setChanges] = useState(0);
  return (
    <Section title={t('session.password')}>
      <Card>
        <Form
          key={changes}
          onSubmit={async ({ current_password = '', password = '' }) => {
            await call('changePassword', { body: { current_password, password } });
            setChanges(changes + 1);
            toast(t('me.password.changed'));
          }}
        >
          <PasswordField
            name="current_password"
            label={t('me.password.current')}
            autoComplete="current-password"
          />
          <PasswordField
            name="password"
            label={t('me.password.new')}
            description={t('me.password.length')}
            autoComplete="new-password"
          />
          <FormActions>
            <SubmitButton secondary>{t('me.password.change')}</SubmitButton>
          </FormActions>
        </Form>
      </Card>
    </Section>
  );
}

function Sessions() {
  const t = useTranslate();
  const queries = useQueryClient();
  const [confirming, setConfirming] = useState(false);
  const { data } = useSuspenseQuery(sessions());
  const changed = () => queries.invalidateQueries(sessions());
  const columns: Column<Session>[] = [
    {
      header: t('me.sessions.where'),
      wide: true,
      cell: ({ user_agent, current }) => (
        <>
          <bdi>{user_agent || t('me.sessions.unknown')}</bdi> {current && <Tag>{t('me.sessions.this')}</Tag>}
        </>
      ),
    },
    { header: t('me.sessions.seen'), cell: ({ last_seen_at }) => <When at={last_seen_at} /> },
    {
      header: t('me.sessions.end'),
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
            {t('me.sessions.end')}
          </Button>
        ),
    },
  ];
  return (
    <Section
      title={t('me.sessions')}
      actions={
        data.objects.length > 1 && (
          <Button onClick={() => setConfirming(true)}>{t('me.sessions.end_others')}</Button>
        )
      }
    >
      <Table
        label={t('me.sessions')}
        columns={columns}
        rows={data.objects}
        rowKey={({ session_id }) => session_id}
        empty={<Empty>{t('me.sessions.unknown')}</Empty>}
      />
      <ConfirmDialog
        title={t('me.sessions.end_others')}
        opened={confirming}
        onClose={() => setConfirming(false)}
        action={t('me.sessions.end_others')}
        danger
        onConfirm={async () => {
          await call('endOtherSessions');
          await changed();
          toast(t('me.sessions.ended'));
        }}
      >
        {t('me.sessions.end_others.text')}
      </ConfirmDialog>
    </Section>
  );
}
