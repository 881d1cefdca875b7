/** The users of an account. */
import { Button } from '@mantine/core';
import { useQueryClient, useSuspenseQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { call, query } from '../api/client.ts';
import type { SentLink, TeamMember } from '../api/generated.ts';
import { useTranslate } from '../i18n.tsx';
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
import css from './account.module.css';

const team = () => query('listTeam');

export const load = ({ queries }: Loading) => queries.ensureQueryData(team());

interface MemberAction {
  act: 'disable' | 'owner';
  member: TeamMember;
}

export default function Team() {
  const t = useTranslate();
  const queries = useQueryClient();
  const { data } = useSuspenseQuery(team());
  const [inviting, setInviting] = useState(false);
  const [sent, setSent] = useState<SentLink>();
  const [action, setAction] = useState<MemberAction>();
  const isOwner = data.objects.some(({ me, owner }) => me && owner);
  const reload = () => queries.invalidateQueries(team());
  const columns: Column<TeamMember>[] = [
    {
      header: t('me.name'),
      wide: true,
      cell: ({ name, email, me, owner }) => (
        <>
          <bdi>{name}</bdi> {me && <Tag>{t('account.team.you')}</Tag>}{' '}
          {owner && <Tag tone="info">{t('account.team.owner')}</Tag>}
          <div className={css.muted}>
            <bdi>{email}</bdi>
          </div>
        </>
      ),
    },
    { header: t('account.status'), cell: ({ status }) => <StatusBadge status={status} /> },
    {
      header: t('me.sessions.seen'),
      cell: ({ last_seen_at: at }) => (at === null ? t('account.never') : <When at={at} />),
    },
    {
      header: t('account.actions'),
      bare: true,
      align: 'end',
      cell: (member) =>
        member.me ||
        // Only an owner may change a user who is an owner.
        ((isOwner || !member.owner) && (
          <Actions
            member={member}
            isOwner={isOwner}
            onLink={setSent}
            onEnabled={reload}
            onAct={(act) => setAction({ act, member })}
          />
        )),
    },
  ];
  return (
    <Page
      title={t('account.team.title')}
      lead={t('account.team.lead')}
      actions={
        <Button variant="filled" onClick={() => setInviting(true)}>
          {t('account.team.invite')}
        </Button>
      }
    >
      <Table
        label={t('account.team.title')}
        columns={columns}
        rows={data.objects}
        rowKey={({ user_id }) => user_id}
        empty={<Empty>{t('account.team.lead')}</Empty>}
      />
      <InviteDialog
        opened={inviting}
        onClose={() => setInviting(false)}
        onSent={async (link) => {
          setSent(link);
          setInviting(false);
          await reload();
        }}
      />
      <LinkDialog sent={sent} onClose={() => setSent(undefined)} />
      <OwnerDialog
        member={action?.act === 'owner' ? action.member : undefined}
        onClose={() => setAction(undefined)}
        onChanged={reload}
      />
      <DisableDialog
        member={action?.act === 'disable' ? action.member : undefined}
        onClose={() => setAction(undefined)}
        onChanged={reload}
      />
    </Page>
  );
}

interface InviteDialogProps {
  opened: boolean;
  onClose(): void;
  onSent(link: SentLink): Promise<void>;
}

function InviteDialog({ opened, onClose, onSent }: InviteDialogProps) {
  const t = useTranslate();
  return (
    <Dialog title={t('account.team.invite')} opened={opened} onClose={onClose}>
      <Form
        onSubmit={async ({ email = '', name }) =>
          onSent(await call('inviteToTeam', { body: { email, ...(name ? { name } : {}) } }))
        }
      >
        <Field name="email" type="email" label={t('session.email')} autoComplete="off" ltr />
        <Field name="name" label={t('me.name')} autoComplete="off" optional />
        <DialogActions>
          <Button onClick={onClose}>{t('ui.cancel')}</Button>
          <SubmitButton>{t('account.team.invite')}</SubmitButton>
        </DialogActions>
      </Form>
    </Dialog>
  );
}

/** Shows an invitation or reset link, or says whether it was sent by e-mail. */
function LinkDialog({ sent, onClose }: { sent: SentLink | undefined; onClose(): void }) {
  const t = useTranslate();
  return (
    <Dialog title={t('account.team.link')} opened={sent !== undefined} onClose={onClose}>
      {sent !== undefined && (
        <>
          <Notice tone={sent.mailed === false ? 'warning' : 'info'}>
            {sent.mailed === false ? (
              t('account.team.not_mailed')
            ) : (
              <>
                {t(sent.mailed ? 'account.team.mailed' : 'account.team.hand_on')}{' '}
                <When at={sent.expires_at} />
              </>
            )}
          </Notice>
          {sent.link !== null && <CopyLine text={sent.link} what={t('account.team.link')} />}
        </>
      )}
    </Dialog>
  );
}

interface MemberDialogProps {
  member: TeamMember | undefined;
  onClose(): void;
  onChanged(): Promise<void>;
}

function OwnerDialog({ member, onClose, onChanged }: MemberDialogProps) {
  const t = useTranslate();
  return (
    <ConfirmDialog
      title={t(member?.owner ? 'account.team.owner.end.title' : 'account.team.owner.make.title', {
        name: member?.name,
      })}
      opened={member !== undefined}
      onClose={onClose}
      action={t(member?.owner ? 'account.team.owner.end' : 'account.team.owner.make')}
      onConfirm={async () => {
        const { user_id, owner } = member!;
        await call('setOwnerInTeam', { path: { user_id }, body: { owner: !owner } });
        await onChanged();
      }}
    >
      {t('account.team.owner.text')}
    </ConfirmDialog>
  );
}

function DisableDialog({ member, onClose, onChanged }: MemberDialogProps) {
  const t = useTranslate();
  const [revoking, setRevoking] = useState(false);
  useEffect(() => {
    if (member !== undefined) setRevoking(false);
  }, [member]);
  return (
    <ConfirmDialog
      title={t('account.team.disable.title', { name: member?.name })}
      opened={member !== undefined}
      onClose={onClose}
      action={t('account.team.disable')}
      danger
      onConfirm={async () => {
        await call('disableInTeam', {
          path: { user_id: member!.user_id },
          body: { revoke_keys: revoking },
        });
        await onChanged();
      }}
    >
      {t('account.team.disable.text')}
      <RevokeKeys keys={member?.keys ?? []} checked={revoking} onChange={setRevoking} />
    </ConfirmDialog>
  );
}

interface ActionsProps {
  member: TeamMember;
  /** Whether the signed-in user is an owner. */
  isOwner: boolean;
  onLink(link: SentLink): void;
  onEnabled(): Promise<void>;
  onAct(act: MemberAction['act']): void;
}

function Actions({ member, isOwner, onLink, onEnabled, onAct }: ActionsProps) {
  const t = useTranslate();
  const path = { user_id: member.user_id };
  if (member.status === 'disabled') {
    return (
      <Button
        size="xs"
        onClick={async () => {
          await call('enableInTeam', { path });
          await onEnabled();
        }}
      >
        {t('account.team.enable')}
      </Button>
    );
  }
  return (
    <span className={css.buttons}>
      {isOwner && (
        <Button size="xs" onClick={() => onAct('owner')}>
          {t(member.owner ? 'account.team.owner.end' : 'account.team.owner.make')}
        </Button>
      )}
      {(isOwner || member.status === 'invited') && (
        <Button size="xs" onClick={async () => onLink(await call('linkForTeam', { path }))}>
          {t('account.team.link')}
        </Button>
      )}
      <Button size="xs" variant="subtle" color="danger" onClick={() => onAct('disable')}>
        {t('account.team.disable')}
      </Button>
    </span>
  );
}
