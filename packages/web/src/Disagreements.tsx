/** Lists sources that editors translate differently. The customer makes one of the texts the rule, or ends the rule. */
import { Button } from '@mantine/core';
import { type QueryKey, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { FormattedNumber } from 'react-intl';
import type { Disagreement, Disagreements as Listed } from './api/generated.ts';
import { useTranslate } from './i18n.tsx';
import { usePages } from './page.tsx';
import { AskedTarget, useTextColumns } from './text-columns.tsx';
import { ConfirmDialog } from './ui/Dialog.tsx';
import { Empty } from './ui/Empty.tsx';
import { Section } from './ui/Page.tsx';
import { Tag } from './ui/StatusBadge.tsx';
import { type Column, More, Table } from './ui/Table.tsx';
import { toast } from './ui/Toast.tsx';

interface DisagreementsProps {
  queryKey: QueryKey;
  read(before: string | undefined, signal: AbortSignal): Promise<Listed>;
  /** @param text `rule` is the hash of the rule that the list shows; null if it shows none */
  make(disagreement: string, text: { vote: string; hash: string; rule: string | null }): Promise<unknown>;
  /** @param rule the hash of the rule that the list shows */
  end(disagreement: string, rule: string): Promise<unknown>;
}

/** One text of a disagreement. */
type Row = Disagreement & Disagreement['texts'][number];

/** Returns the hash of the rule of a disagreement; null if it has none. */
const ruleOf = ({ texts }: Disagreement): string | null => texts.find(({ rule }) => rule)?.hash ?? null;

export function Disagreements({ queryKey, read, make, end }: DisagreementsProps) {
  const t = useTranslate();
  const queries = useQueryClient();
  const [chosen, setChosen] = useState<Row>();
  const {
    rows,
    first: _,
    more,
    ...rest
  } = usePages(queryKey, async (before, signal) => {
    const { disagreements, next } = await read(before, signal);
    return { objects: disagreements.flatMap((one) => one.texts.map((text) => ({ ...one, ...text }))), next };
  });
  const columns = useColumns(setChosen);
  // Once shown, the section stays, so that the end of the last rule does not remove it.
  const [shown, setShown] = useState(false);
  if (!shown && rows !== undefined && (rows.length > 0 || more.hasMore)) setShown(true);
  if (!shown && rest.error === null) return null;
  async function change(row: Row): Promise<void> {
    const { disagreement, vote, hash, rule } = row;
    try {
      await (rule ? end(disagreement, hash) : make(disagreement, { vote, hash, rule: ruleOf(row) }));
    } catch (error) {
      // The list may show a text or a rule that has changed. The dialog shows the error at once, also while offline.
      void queries.invalidateQueries({ queryKey });
      throw error;
    }
    await queries.invalidateQueries({ queryKey });
    toast(t(rule ? 'rules.ended' : 'rules.made'));
  }
  return (
    <Section title={t('rules.title')}>
      <p>{t('rules.lead')}</p>
      <Table
        label={t('rules.title')}
        columns={columns}
        rows={rows}
        rowKey={({ disagreement, vote, rule }) => `${disagreement} ${vote} ${rule}`}
        empty={<Empty>{t('rules.none')}</Empty>}
        {...rest}
      />
      <More {...more} />
      <ConfirmDialog
        title={t(chosen?.rule ? 'rules.end.title' : 'rules.make.title')}
        action={t(chosen?.rule ? 'rules.end' : 'rules.make')}
        opened={chosen !== undefined}
        onClose={() => setChosen(undefined)}
        onConfirm={() => change(chosen!)}
      >
        <AskedTarget text={chosen} />
        <p>{t(chosen?.rule ? 'rules.end.text' : 'rules.make.text')}</p>
      </ConfirmDialog>
    </Section>
  );
}

/** Returns the columns of the table. @param choose called when the user wants to make or end the rule of a row */
function useColumns(choose: (row: Row) => void): Column<Row>[] {
  const t = useTranslate();
  return [
    ...useTextColumns<Row>(({ rule }) => rule && <Tag>{t('rules.rule')}</Tag>),
    {
      header: t('rules.where'),
      cell: ({ context, brand, tone }) => (
        <>
          {t(`rules.where.${context}`)}
          {brand !== null && (
            <>
              {' · '}
              <bdi>{brand}</bdi>
            </>
          )}
          {tone !== null && ` · ${t('tone', { tone })}`}
        </>
      ),
    },
    { header: t('rules.editors'), align: 'end', cell: ({ editors }) => <FormattedNumber value={editors} /> },
    {
      header: t('rules.rule'),
      bare: true,
      align: 'end',
      cell: (row) => (
        <Button size="xs" onClick={() => choose(row)}>
          {t(row.rule ? 'rules.end' : 'rules.make')}
        </Button>
      ),
    },
  ];
}
