/** Chats and their messages. */
import { useQuery } from '@tanstack/react-query';
import { call, query } from '../api/client.ts';
import type { ChatMessage, ListedChat } from '../api/generated.ts';
import { useTranslate } from '../i18n.tsx';
import { useLiveUpdates } from '../live-updates.ts';
import { type PageProps, useFilters, usePages } from '../page.tsx';
import { SidePanel } from '../ui/Dialog.tsx';
import { Empty } from '../ui/Empty.tsx';
import { FailureNotice } from '../ui/Failure.tsx';
import { Page } from '../ui/Page.tsx';
import { Pair } from '../ui/Pair.tsx';
import { Lines } from '../ui/Skeleton.tsx';
import { Tag } from '../ui/StatusBadge.tsx';
import { type Column, More, Table } from '../ui/Table.tsx';
import { When } from '../ui/When.tsx';
import css from './account.module.css';
import { type Environment, EnvironmentSwitch, environmentOf } from './environment.tsx';

const MAX_MESSAGES = 200;

export default function Chats({ search }: PageProps) {
  const t = useTranslate();
  const setFilters = useFilters();
  const environment = environmentOf(search);
  const {
    rows,
    first: _,
    more,
    ...state
  } = usePages(['listOwnChats', environment], (after, signal) =>
    call('listOwnChats', { query: { environment, after, limit: 50 } }, { signal }),
  );
  useLiveUpdates('chats', 'listOwnChats', 'listOwnMessages');
  const columns: Column<ListedChat>[] = [
    { header: t('account.chat'), wide: true, cell: ({ external_id }) => <bdi>{external_id}</bdi> },
    { header: t('account.chat.agent'), cell: ({ agent_external_id }) => <bdi>{agent_external_id}</bdi> },
    { header: t('account.brand'), cell: ({ brand }) => <bdi>{brand}</bdi> },
    { header: t('account.chat.messages'), align: 'end', cell: ({ messages }) => messages },
    { header: t('account.created'), cell: ({ creation_date }) => <When at={creation_date} /> },
  ];
  return (
    <Page title={t('account.chats.title')} actions={<EnvironmentSwitch search={search} />}>
      <Table
        label={t('account.chats.title')}
        columns={columns}
        rows={rows}
        rowKey={({ id }) => id}
        onOpen={({ id }) => setFilters({ open: id })}
        isSelected={({ id }) => id === search.open}
        empty={<Empty>{t('account.chats.empty')}</Empty>}
        {...state}
      />
      <More {...more} />
      <SidePanel
        title={t('account.chat')}
        opened={search.open !== undefined}
        onClose={() => setFilters({ open: '' })}
      >
        {search.open !== undefined && (
          <Thread key={search.open} chat={search.open} environment={environment} />
        )}
      </SidePanel>
    </Page>
  );
}

function Thread({ chat, environment }: { chat: string; environment: Environment }) {
  const t = useTranslate();
  const input = { path: { chat_id: chat }, query: { environment, limit: MAX_MESSAGES } };
  const { data, error, refetch } = useQuery(query('listOwnMessages', input));
  if (error !== null) return <FailureNotice error={error} onRetry={() => void refetch()} />;
  if (data === undefined) return <Lines count={8} />;
  return (
    <>
      <p className={css.muted}>
        {t('account.chat.shown', { shown: data.messages.length, all: data.length })}
      </p>
      <ol className={css.thread}>
        {data.messages.map((message) => (
          <Message key={message.id} message={message} />
        ))}
      </ol>
    </>
  );
}

/** The tone (colour and icon) of the badge for each message status. */
const TONES = {
  mt_init: 'info',
  deliver_init: 'info',
  deliver_complete: 'success',
  mt_failed: 'danger',
  deliver_failed: 'danger',
} as const;

function Message({ message }: { message: ChatMessage }) {
  const t = useTranslate();
  return (
    <li className={css.message} data-inbound={message.is_inbound ?? true}>
      <div className={css.step}>
        <Tag tone={TONES[message.status]}>{t(`account.message.${message.status}`)}</Tag>
        <span className={css.muted}>
          <Pair of={message} />
        </span>
        <span className={css.muted}>
          <When at={message.creation_date} />
        </span>
      </div>
      <p className={css.wrap} lang={message.source_language} dir="auto">
        {message.text}
      </p>
      {message.translated_text !== undefined && (
        <p className={css.wrap} lang={message.target_language} dir="auto">
          <strong>{message.translated_text}</strong>
        </p>
      )}
      {message.untranslated !== undefined && (
        <p className={css.muted}>{t('account.message.untranslated', { count: message.untranslated })}</p>
      )}
    </li>
  );
}
