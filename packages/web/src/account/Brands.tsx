/** C7: the account's brands as its editors see them: tone, instructions and glossaries. To be read. */
import { useQuery, useSuspenseQuery } from '@tanstack/react-query';
import { query } from '../api/client.ts';
import type { OwnBrand, OwnBrandLanguage } from '../api/generated.ts';
import { type Loading, type PageProps, useFilters } from '../page.tsx';
import { SidePanel } from '../ui/Dialog.tsx';
import { Empty } from '../ui/Empty.tsx';
import { FailureNotice } from '../ui/Failure.tsx';
import { Page } from '../ui/Page.tsx';
import { useLanguageName } from '../ui/Pair.tsx';
import { Lines } from '../ui/Skeleton.tsx';
import { Tag } from '../ui/StatusBadge.tsx';
import { type Column, Table } from '../ui/Table.tsx';
import { When } from '../ui/When.tsx';
import { useSay } from '../words.tsx';
import css from './account.module.css';

const brands = () => query('listOwnBrands');

export const load = ({ queries }: Loading) => queries.ensureQueryData(brands());

export default function Brands({ search }: PageProps) {
  const say = useSay();
  const setFilters = useFilters();
  const language = useLanguageName();
  const { data } = useSuspenseQuery(brands());
  const columns: Column<OwnBrand>[] = [
    { key: 'name', header: say('account.brand'), wide: true, cell: ({ name }) => <bdi>{name}</bdi> },
    {
      key: 'default',
      header: say('account.brand.default'),
      bare: true,
      cell: (brand) => brand.default && <Tag tone="info">{say('account.brand.default')}</Tag>,
    },
    { key: 'id', header: 'external_id', cell: ({ external_id }) => <code>{external_id}</code> },
    {
      key: 'languages',
      header: say('account.brand.languages'),
      cell: ({ languages }) => languages.map((one) => language(one.language)).join(', '),
    },
    {
      key: 'terms',
      header: say('account.brand.terms'),
      align: 'end',
      cell: ({ languages }) => languages.reduce((sum, { terms }) => sum + terms, 0),
    },
    {
      key: 'changed',
      header: say('account.brand.changed'),
      cell: ({ changed_at }) => <When at={changed_at} />,
    },
  ];
  return (
    <Page title={say('account.brands.title')} lead={say('account.brands.lead')}>
      <Table
        label={say('account.brands.title')}
        columns={columns}
        rows={data.objects}
        rowKey={({ external_id }) => external_id}
        onOpen={({ external_id }) => setFilters({ open: external_id })}
        isSelected={({ external_id }) => external_id === search.open}
        empty={<Empty>{say('account.brands.empty')}</Empty>}
      />
      <SidePanel
        title={
          data.objects.find(({ external_id }) => external_id === search.open)?.name ?? say('account.brand')
        }
        opened={search.open !== undefined}
        onClose={() => setFilters({ open: '' })}
      >
        {search.open !== undefined && <Detail key={search.open} brand={search.open} />}
      </SidePanel>
    </Page>
  );
}

function Detail({ brand }: { brand: string }) {
  const { data, error, refetch } = useQuery(query('readOwnBrand', { path: { brand } }));
  if (error !== null) return <FailureNotice error={error} onRetry={() => void refetch()} />;
  if (data === undefined) return <Lines count={8} />;
  return data.languages.map((one) => <Language key={one.language} of={one} />);
}

function Language({ of }: { of: OwnBrandLanguage }) {
  const say = useSay();
  const language = useLanguageName();
  return (
    <section className={css.block}>
      <h3>{language(of.language)}</h3>
      {of.tone !== null && (
        <p>
          {say('account.tone')}: <bdi>{of.tone}</bdi>
        </p>
      )}
      {of.instructions !== null && (
        <p className={css.wrap} dir="auto">
          {of.instructions}
        </p>
      )}
      {of.terms.length > 0 && (
        <Table
          label={say('account.brand.terms_of', { language: language(of.language) })}
          columns={[
            { key: 'source', header: say('account.term.source'), cell: ({ source }) => <bdi>{source}</bdi> },
            {
              key: 'target',
              header: say('account.term.target'),
              wide: true,
              cell: (term) => (
                <>
                  <bdi lang={of.language}>{term.target ?? (term.do_not_translate ? term.source : '')}</bdi>{' '}
                  {term.do_not_translate && <Tag tone="info">{say('account.term.kept')}</Tag>}
                  {term.forbidden && <Tag tone="danger">{say('account.term.forbidden')}</Tag>}
                </>
              ),
            },
          ]}
          rows={of.terms}
          rowKey={({ source, target }) => `${source} ${target}`}
          empty={null}
        />
      )}
    </section>
  );
}
