/**
 * Lists votes: confirmed texts that other jobs use. A vote can be withdrawn; a dialog then lists the segments that keep
 * its text.
 */
import { Button } from '@mantine/core';
import { useState } from 'react';
import { FormattedNumber } from 'react-intl';
import type { OwnVote, UndoneVote } from './api/generated.ts';
import { useTranslate } from './i18n.tsx';
import { AskedTarget, useTextColumns } from './text-columns.tsx';
import { ConfirmDialog, Dialog } from './ui/Dialog.tsx';
import { Empty } from './ui/Empty.tsx';
import { Link } from './ui/Link.tsx';
import { Tag } from './ui/StatusBadge.tsx';
import { type Column, Table } from './ui/Table.tsx';
import { When } from './ui/When.tsx';

type Vote = OwnVote & { editor?: string };

interface VotesProps {
  votes: readonly Vote[];
  /** Returns the link to the page of a job. */
  jobLink(uid: string): { to: string; search: Record<string, string> };
  /** Withdraws a vote and reads the list again. Undefined if this user may not withdraw votes. */
  undo?: ((vote: string) => Promise<UndoneVote>) | undefined;
}

export function Votes({ votes, jobLink, undo }: VotesProps) {
  const t = useTranslate();
  const [chosen, setChosen] = useState<Vote>();
  const [undone, setUndone] = useState<UndoneVote>();
  const columns: Column<Vote>[] = [
    ...useTextColumns<Vote>(),
    ...(votes.some(({ editor }) => editor !== undefined)
      ? [{ header: t('votes.editor'), cell: ({ editor }: Vote) => <bdi>{editor}</bdi> }]
      : []),
    { header: t('votes.at'), cell: ({ voted_at }) => <When at={voted_at} /> },
    {
      header: t('votes.segments'),
      align: 'end',
      cell: ({ segments }) => <FormattedNumber value={segments} />,
    },
    {
      header: t('votes.undo'),
      bare: true,
      align: 'end',
      cell: (vote) =>
        vote.withdrawn_at !== null ? (
          <Tag>{t('votes.withdrawn')}</Tag>
        ) : (
          undo && (
            <Button size="xs" onClick={() => setChosen(vote)}>
              {t('votes.undo')}
            </Button>
          )
        ),
    },
  ];
  return (
    <>
      <Table
        label={t('votes.title')}
        columns={columns}
        rows={votes}
        rowKey={({ vote }) => vote}
        empty={<Empty>{t('votes.none')}</Empty>}
      />
      <ConfirmDialog
        title={t('votes.undo.title')}
        action={t('votes.undo')}
        danger
        opened={chosen !== undefined}
        onClose={() => setChosen(undefined)}
        onConfirm={async () => setUndone(await undo!(chosen!.vote))}
      >
        <AskedTarget text={chosen} />
        <p>{t('votes.undo.text')}</p>
      </ConfirmDialog>
      <Dialog title={t('votes.undone')} opened={undone !== undefined} onClose={() => setUndone(undefined)}>
        <p>{t('votes.restored', { count: undone?.restored ?? 0 })}</p>
        {undone !== undefined && undone.kept.length > 0 && (
          <>
            <h3>{t('votes.kept')}</h3>
            <ul>
              {undone.kept.map(({ uid, position, why }) => (
                <li key={`${uid} ${position}`}>
                  <Link {...jobLink(uid)}>
                    <bdi>{uid}</bdi>
                  </Link>{' '}
                  · {t(`votes.kept.${why}`, { number: position + 1 })}
                </li>
              ))}
            </ul>
          </>
        )}
      </Dialog>
    </>
  );
}
