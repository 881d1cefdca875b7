/** C8: the people of the account. */
import { Button } from '@mantine/core';
import { useQueryClient, useSuspenseQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { call, query } from '../api/client.ts';
import type { SentLink, TeamMember } from '../api/generated.ts';
import type { Loading } from '../page.tsx';
import { CopyLine } from '../ui/CopyButton.tsx';
import { ConfirmDialog, Dialog, DialogActions } from '../ui/Dialog.tsx';
import { Empty } from '../ui/Empty.tsx';
import { Field, Form, SubmitButton } from '../ui/form.tsx';
import { Notice } from '../ui/Notice.tsx';
import { Page } from '../ui/Page.tsx';
import { RevokeKeys } from '../ui/RevokeKeys.tsx';
import { StatusBadge, Tag } from '../ui/StatusBadge.tsx';
import { type Column, Table } from '../ui/Table.tsx';
import { When } from '../ui/When.tsx';
import { useSay } from '../words.tsx';
import css from './account.module.css';

const team = () => query('listTeam');

export const load = ({ queries }: Loading) => queries.ensureQueryData(team());

export default function Team() {
  const say = useSay();
  const queries = useQueryClient();
  const { data } = useSuspenseQuery(team());
  const [inviting, setInviting] = useState(false);
  const [sent, setSent] = useState<SentLink>();
  const [leaving, setLeaving] = useState<TeamMember>();
  const [revoking, setRevoking] = useState(false);
  const [turning, setTurning] = useState<TeamMember>();
  const iAmOwner = data.objects.some(({ me, owner }) => me && owner);
  const changed = () => queries.invalidateQueries(team());
  const columns: Column<TeamMember>[] = [
    {
      key: 'name',
      header: say('me.name'),
      wide: true,
      cell: ({ name, email, me, owner }) => (
        <>
          <bdi>{name}</bdi> {me && <Tag>{say('account.team.you')}</Tag>}{' '}
          {owner && <Tag tone="info">{say('account.team.owner')}</Tag>}
          <div className={css.muted}>
            <bdi>{email}</bdi>
          </div>
        </>
      ),
    },
    { key: 'status', header: say('account.status'), cell: ({ status }) => <StatusBadge status={status} /> },
    {
      key: 'seen',
      header: say('me.sessions.seen'),
      cell: ({ last_seen_at: at }) => (at === null ? say('account.never') : <When at={at} />),
    },
    {
      key: 'acts',
      header: say('account.acts'),
      bare: true,
      align: 'end',
      cell: (member) =>
        member.me ||
        // An owner's sign-in is another owner's matter.
        ((iAmOwner || !member.owner) && (
          <Acts
            member={member}
            iAmOwner={iAmOwner}
            onSent={setSent}
            onChanged={changed}
            onLeaving={(leaving) => {
              setRevoking(false);
              setLeaving(leaving);
            }}
            onTurning={setTurning}
          />
        )),
    },
  ];
  return (
    <Page
      title={say('account.team.title')}
      lead={say('account.team.lead')}
      actions={
        <Button variant="filled" onClick={() => setInviting(true)}>
          {say('account.team.invite')}
        </Button>
      }
    >
      <Table
        label={say('account.team.title')}
        columns={columns}
        rows={data.objects}
        rowKey={({ user_id }) => user_id}
        empty={<Empty>{say('account.team.lead')}</Empty>}
      />
      <Dialog title={say('account.team.invite')} opened={inviting} onClose={() => setInviting(false)}>
        <Form
          onSubmit={async ({ email = '', name }) => {
            setSent(await call('inviteToTeam', { body: { email, ...(name ? { name } : {}) } }));
            setInviting(false);
            await changed();
          }}
        >
          <Field name="email" type="email" label={say('session.email')} autoComplete="off" ltr />
          <Field name="name" label={say('me.name')} autoComplete="off" optional />
          <DialogActions>
            <Button onClick={() => setInviting(false)}>{say('ui.cancel')}</Button>
            <SubmitButton>{say('account.team.invite')}</SubmitButton>
          </DialogActions>
        </Form>
      </Dialog>
      <Dialog title={say('account.team.link')} opened={sent !== undefined} onClose={() => setSent(undefined)}>
        {sent !== undefined && (
          <>
            <Notice tone={sent.mailed === false ? 'warning' : 'info'}>
              {say(sent.mailed ? 'account.team.mailed' : 'account.team.hand_on')}{' '}
              <When at={sent.expires_at} />
            </Notice>
            {sent.link !== null && <CopyLine text={sent.link} what={say('account.team.link')} />}
          </>
        )}
      </Dialog>
      <ConfirmDialog
        title={say(turning?.owner ? 'account.team.owner.end.title' : 'account.team.owner.make.title', {
          name: turning?.name,
        })}
        opened={turning !== undefined}
        onClose={() => setTurning(undefined)}
        action={say(turning?.owner ? 'account.team.owner.end' : 'account.team.owner.make')}
        onConfirm={async () => {
          const { user_id, owner } = turning!;
          await call('setOwnerInTeam', { path: { user_id }, body: { owner: !owner } });
          await changed();
        }}
      >
        {say('account.team.owner.text')}
      </ConfirmDialog>
      <ConfirmDialog
        title={say('account.team.disable.title', { name: leaving?.name })}
        opened={leaving !== undefined}
        onClose={() => setLeaving(undefined)}
        action={say('account.team.disable')}
        danger
        onConfirm={async () => {
          await call('disableInTeam', {
            path: { user_id: leaving!.user_id },
            body: { revoke_keys: revoking },
          });
          await changed();
        }}
      >
        {say('account.team.disable.text')}
        <RevokeKeys keys={leaving?.keys ?? []} checked={revoking} onChange={setRevoking} />
      </ConfirmDialog>
    </Page>
  );
}

interface ActsProps {
  member: TeamMember;
  onSent(sent: SentLink): void;
  onChanged(): Promise<void>;
  onLeaving(member: TeamMember): void;
  onTurning(member: TeamMember): void;
  iAmOwner: boolean;
}

function Acts({ member, iAmOwner, onSent, onChanged, onLeaving, onTurning }: ActsProps) {
  const say = useSay();
  const path = { user_id: member.user_id };
  if (member.status === 'disabled') {
    return (
      <Button
        size="xs"
        onClick={async () => {
          await call('enableInTeam', { path });
          await onChanged();
        }}
      >
        {say('account.team.enable')}
      </Button>
    );
  }
  return (
    <span className={css.buttons}>
      {iAmOwner && (
        <Button size="xs" onClick={() => onTurning(member)}>
          {say(member.owner ? 'account.team.owner.end' : 'account.team.owner.make')}
        </Button>
      )}
      {(iAmOwner || member.status === 'invited') && (
        <Button size="xs" onClick={async () => onSent(await call('linkForTeam', { path }))}>
          {say('account.team.link')}
        </Button>
      )}
      <Button size="xs" variant="subtle" color="danger" onClick={() => onLeaving(member)}>
        {say('account.team.disable')}
      </Button>
    </span>
  );
}
