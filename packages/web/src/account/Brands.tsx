/** The account's brands: tone, instructions, glossaries, and the terms that editors propose. */
import { Button } from '@mantine/core';
import { useMutation, useQuery, useQueryClient, useSuspenseQuery } from '@tanstack/react-query';
import { call, query } from '../api/client.ts';
import type { OwnBrand, OwnBrandLanguage } from '../api/generated.ts';
import { useTranslate } from '../i18n.tsx';
import { type Loading, type PageProps, useFilters } from '../page.tsx';
import { SidePanel } from '../ui/Dialog.tsx';
import { Empty } from '../ui/Empty.tsx';
import { FailureNotice } from '../ui/Failure.tsx';
import { Page } from '../ui/Page.tsx';
import { useLanguageName } from '../ui/Pair.tsx';
import { Lines } from '../ui/Skeleton.tsx';
import { Tag } from '../ui/StatusBadge.tsx';
import { type Column, Table } from '../ui/Table.tsx';
import { toast } from '../ui/Toast.tsx';
import { When } from '../ui/When.tsx';
import css from './account.module.css';

const brands = () => query('listOwnBrands');

export const load = ({ queries }: Loading) => queries.ensureQueryData(brands());

export default function Brands({ search }: PageProps) {
  const t = useTranslate();
  const setFilters = useFilters();
  const language = useLanguageName();
  const { data } = useSuspenseQuery(brands());
  const columns: Column<OwnBrand>[] = [
    { header: t('account.brand'), wide: true, cell: ({ name }) => <bdi>{name}</bdi> },
    {
      header: t('account.brand.default'),
      bare: true,
      cell: (brand) => brand.default && <Tag tone="info">{t('account.brand.default')}</Tag>,
    },
    { header: 'external_id', cell: ({ external_id }) => <code>{external_id}</code> },
    {
      header: t('account.brand.languages'),
      cell: ({ languages }) => languages.map((one) => language(one.language)).join(', '),
    },
    {
      header: t('account.brand.terms'),
      align: 'end',
      cell: ({ languages }) => languages.reduce((sum, { terms }) => sum + terms, 0),
    },
    {
      header: t('account.brand.proposals'),
      align: 'end',
      cell: ({ proposals }) => (proposals > 0 ? <Tag tone="info">{String(proposals)}</Tag> : 0),
    },
    { header: t('account.brand.changed'), cell: ({ changed_at }) => <When at={changed_at} /> },
  ];
  return (
    <Page title={t('account.brands.title')} lead={t('account.brands.lead')}>
      <Table
        label={t('account.brands.title')}
        columns={columns}
        rows={data.objects}
        rowKey={({ external_id }) => external_id}
        onOpen={({ external_id }) => setFilters({ open: external_id })}
        isSelected={({ external_id }) => external_id === search.open}
        empty={<Empty>{t('account.brands.empty')}</Empty>}
      />
      <SidePanel
        title={
          data.objects.find(({ external_id }) => external_id === search.open)?.name ?? t('account.brand')
        }
        opened={search.open !== undefined}
        onClose={() => setFilters({ open: '' })}
      >
        {search.open !== undefined && <BrandDetails key={search.open} brand={search.open} />}
      </SidePanel>
    </Page>
  );
}

function BrandDetails({ brand }: { brand: string }) {
  const { data, error, refetch } = useQuery(query('readOwnBrand', { path: { brand } }));
  if (error !== null) return <FailureNotice error={error} onRetry={() => void refetch()} />;
  if (data === undefined) return <Lines count={8} />;
  return (
    <>
      <Proposals brand={brand} />
      <Patterns patterns={data.protect} />
      {data.languages.map((one) => (
        <Language key={one.language} settings={one} />
      ))}
    </>
  );
}

/** Lists the patterns whose matches are not translated. */
function Patterns({ patterns }: { patterns: readonly string[] }) {
  const t = useTranslate();
  if (patterns.length === 0) return null;
  return (
    <section className={css.block} aria-label={t('account.brand.protect')}>
      <h3>{t('account.brand.protect')}</h3>
      <p className={css.muted}>{t('account.brand.protect.lead')}</p>
      <ul>
        {patterns.map((pattern) => (
          <li key={pattern}>
            <code dir="ltr">{pattern}</code>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** Lists the terms that editors propose, with buttons to take or decline each. */
function Proposals({ brand }: { brand: string }) {
  const t = useTranslate();
  const language = useLanguageName();
  const queries = useQueryClient();
  const listed = query('listProposals', { path: { brand } });
  const { data, error, refetch } = useQuery(listed);
  const decision = useMutation({
    mutationFn: ({ proposal, how }: { proposal: string; how: 'take' | 'decline' }) =>
      call(how === 'take' ? 'takeProposal' : 'declineProposal', { path: { proposal } }),
    onSuccess: (left, { how }) => {
      queries.setQueryData(listed.queryKey, left);
      toast(t(how === 'take' ? 'account.proposal.taken' : 'account.proposal.declined'));
      return queries.invalidateQueries({ queryKey: brands().queryKey });
    },
  });
  if (error !== null) return <FailureNotice error={error} onRetry={() => void refetch()} />;
  if (data === undefined || data.objects.length === 0) return null;
  return (
    <section className={css.block} aria-label={t('account.brand.proposals')}>
      <h3>{t('account.brand.proposals')}</h3>
      <p className={css.muted}>{t('account.brand.proposals.lead')}</p>
      {decision.error !== null && <FailureNotice error={decision.error} />}
      <ul className={css.proposals}>
        {data.objects.map(({ proposal, source, target, note, proposed_at, ...one }) => (
          <li key={proposal}>
            <span>
              <bdi>{source}</bdi> → <bdi lang={one.language}>{target}</bdi>
            </span>
            <small className={css.muted}>
              {language(one.language)} · <When at={proposed_at} />
            </small>
            {note !== undefined && <p dir="auto">{note}</p>}
            <div className={css.buttons}>
              {(['take', 'decline'] as const).map((how) => (
                <Button
                  key={how}
                  size="xs"
                  aria-label={t(`account.proposal.${how}`, { source })}
                  disabled={decision.isPending}
                  onClick={() => decision.mutate({ proposal, how })}
                >
                  {t(`account.proposal.${how}.short`)}
                </Button>
              ))}
            </div>
          </li>
        ))}
      </ul>
    </section>
  );
}

function Language({ settings }: { settings: OwnBrandLanguage }) {
  const t = useTranslate();
  const language = useLanguageName();
  return (
    <section className={css.block}>
      <h3>{language(settings.language)}</h3>
      {settings.tone !== null && (
        <p>
          {t('account.tone')}: {t('tone', { tone: settings.tone })}
        </p>
      )}
      {settings.instructions !== null && (
        <p className={css.wrap} dir="auto">
          {settings.instructions}
        </p>
      )}
      {settings.terms.length > 0 && (
        <Table
          label={t('account.brand.terms_of', { language: language(settings.language) })}
          columns={[
            { header: t('account.term.source'), cell: ({ source }) => <bdi>{source}</bdi> },
            {
              header: t('account.term.target'),
              wide: true,
              cell: (term) => (
                <>
                  <bdi lang={settings.language}>
                    {term.target ?? (term.do_not_translate ? term.source : '')}
                  </bdi>{' '}
                  {term.do_not_translate && <Tag tone="info">{t('account.term.kept')}</Tag>}
                  {term.forbidden && <Tag tone="danger">{t('account.term.forbidden')}</Tag>}
                </>
              ),
            },
          ]}
          rows={settings.terms}
          rowKey={({ source, target }) => `${source} ${target}`}
          empty={null}
        />
      )}
    </section>
  );
}
