/** Language pairs with their engines, and prices. */
import { Button, Switch } from '@mantine/core';
import { IconPlus } from '@tabler/icons-react';
import { useSuspenseQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { CallError, call, query } from '../api/client.ts';
import type { ConsolePrice, ConsoleSetPrice } from '../api/generated.ts';
import { useTranslate } from '../i18n.tsx';
import { type Loading, type PageProps, type Search, useList } from '../page.tsx';
import { ConfirmDialog, Dialog, DialogActions } from '../ui/Dialog.tsx';
import { Empty } from '../ui/Empty.tsx';
import { FailureNotice } from '../ui/Failure.tsx';
import { ChoiceFilter, Filters, SearchFilter } from '../ui/Filters.tsx';
import { ChoiceField, Field, Form, SubmitButton, type Values } from '../ui/form.tsx';
import { Money } from '../ui/Money.tsx';
import { Notice } from '../ui/Notice.tsx';
import { Page, Section } from '../ui/Page.tsx';
import { StatusBadge, Tag } from '../ui/StatusBadge.tsx';
import { Table } from '../ui/Table.tsx';
import { When } from '../ui/When.tsx';
import css from './console.module.css';
import { AccountField, LanguageField } from './pickers.tsx';
import { AccountLink, Pair, useChange } from './shared.tsx';

const pairs = ({ q, enabled }: Search) =>
  query('listConsolePairs', { query: { q, ...(enabled ? { enabled: enabled === 'true' } : {}) } });
const prices = () => query('listPrices');

export const load = ({ queries, search }: Loading) =>
  Promise.all([queries.ensureQueryData(pairs(search)), queries.ensureQueryData(prices())]);

export default function Pairs({ search }: PageProps) {
  const t = useTranslate();
  const change = useChange();
  const { data, error, refetch } = useList(pairs(search));
  return (
    <Page title={t('nav.pairs')}>
      <Prices />
      <Section title={t('console.pairs.title')}>
        <Filters>
          <SearchFilter name="q" label={t('console.pairs.search')} search={search} />
          <ChoiceFilter
            name="enabled"
            label={t('console.state')}
            search={search}
            choices={[
              { value: '', label: t('console.any') },
              { value: 'true', label: t('console.pairs.open') },
              { value: 'false', label: t('console.pairs.closed') },
            ]}
          />
        </Filters>
        <Table
          label={t('console.pairs.title')}
          rows={data?.pairs}
          error={error}
          onRetry={() => void refetch()}
          rowKey={({ source_language, target_language }) => `${source_language} ${target_language}`}
          empty={<Empty>{t('console.pairs.empty')}</Empty>}
          columns={[
            { header: t('console.pair'), cell: (row) => <Pair of={row} /> },
            {
              header: t('console.languages'),
              wide: true,
              cell: ({ source_name, target_name }) => (
                <bdi className={css.muted}>
                  {source_name} → {target_name}
                </bdi>
              ),
            },
            {
              header: t('nav.engines'),
              cell: ({ engines }) =>
                engines.length === 0 ? (
                  <span className={css.muted}>{t('console.pairs.no_engine')}</span>
                ) : (
                  <span className={css.row}>
                    {engines.map(({ engine, hops }) => (
                      <Tag key={engine}>{hops > 1 ? `${engine} (${t('console.pairs.hops')})` : engine}</Tag>
                    ))}
                  </span>
                ),
            },
            {
              header: t('console.pairs.offered'),
              cell: ({ source_language: source, target_language: target, enabled }) => (
                <Switch
                  checked={enabled}
                  aria-label={t('console.pairs.offer_what', { pair: `${source} → ${target}` })}
                  onChange={(event) => {
                    const enabled = event.currentTarget.checked;
                    void change(() => call('switchPair', { path: { source, target }, body: { enabled } }));
                  }}
                />
              ),
            },
          ]}
        />
        {data !== undefined && data.total > data.pairs.length && (
          <p className={css.muted}>{t('console.pairs.more', { count: data.total - data.pairs.length })}</p>
        )}
      </Section>
    </Page>
  );
}

function Prices() {
  const t = useTranslate();
  const change = useChange();
  const { data } = useSuspenseQuery(prices());
  const [setting, setSetting] = useState(false);
  const [ending, setEnding] = useState<ConsolePrice>();
  return (
    <Section
      title={t('console.prices')}
      actions={
        <Button
          variant="filled"
          leftSection={<IconPlus size={16} aria-hidden />}
          onClick={() => setSetting(true)}
        >
          {t('console.prices.set')}
        </Button>
      }
    >
      <p className={css.muted}>
        {t('console.prices.defaults')} <Money cents={data.defaults.human} /> {t('console.tier.human')},{' '}
        <Money cents={data.defaults.machine} /> {t('console.tier.machine')}
      </p>
      <p className={css.muted}>
        {t(
          'console.prices.shares',
          Object.fromEntries(Object.entries(data.shares).map(([kind, share]) => [kind, share / 100])),
        )}
      </p>
      <PriceTable prices={data.prices} onEnd={setEnding} />
      <Dialog title={t('console.prices.set')} opened={setting} onClose={() => setSetting(false)}>
        {setting && <SetPrice onDone={() => setSetting(false)} />}
      </Dialog>
      <ConfirmDialog
        title={t('console.prices.end')}
        action={t('console.prices.end')}
        danger
        opened={ending !== undefined}
        onClose={() => setEnding(undefined)}
        onConfirm={() => {
          const { tier, account, source_language, target_language } = ending!;
          const body = { tier, account, source_language, target_language };
          return change(() => call('endPrice', { body }), t('console.prices.ended'));
        }}
      >
        {t('console.prices.end_about')}
      </ConfirmDialog>
    </Section>
  );
}

interface PriceTableProps {
  prices: readonly ConsolePrice[];
  onEnd(price: ConsolePrice): void;
}

function PriceTable({ prices, onEnd }: PriceTableProps) {
  const t = useTranslate();
  const now = new Date().toISOString();
  return (
    <Table
      label={t('console.prices')}
      rows={prices}
      rowKey={(price) => `${keyOf(price)} ${price.from}`}
      empty={<Empty>{t('console.prices.empty')}</Empty>}
      columns={[
        {
          header: t('console.pair'),
          cell: (row) => (row.source_language === '*' ? t('console.pairs.all') : <Pair of={row} />),
        },
        { header: t('console.tier'), cell: ({ tier }) => t(`console.tier.${tier}`) },
        {
          header: t('console.account'),
          wide: true,
          cell: ({ account }) =>
            account === null ? t('console.prices.all_accounts') : <AccountLink username={account} />,
        },
        {
          header: t('console.prices.word'),
          align: 'end',
          cell: ({ cents_per_word }) => <Money cents={cents_per_word} />,
        },
        {
          header: t('console.prices.term'),
          cell: ({ from, until }) => (
            <span className={css.row}>
              {from > now && <StatusBadge status="pending" />}
              <span>
                <When at={from} />
                {until !== null && (
                  <>
                    {' – '}
                    <When at={until} />
                  </>
                )}
              </span>
            </span>
          ),
        },
        {
          header: t('console.prices.end'),
          bare: true,
          cell: (price) => (
            <Button size="xs" onClick={() => onEnd(price)}>
              {t('console.prices.end')}
            </Button>
          ),
        },
      ]}
    />
  );
}

const keyOf = ({ tier, account, source_language, target_language }: ConsolePrice) =>
  `${tier} ${account ?? '*'} ${source_language} ${target_language}`;

/** Returns the function that reads a price from the form. @throws CallError for a wrong amount */
function useReadPrice() {
  const t = useTranslate();
  return (values: Values) => {
    const cents = /^\d{1,6}$/.test((values.cents_per_word ?? '').trim())
      ? Number(values.cents_per_word)
      : undefined;
    if (cents === undefined) {
      const fields = { cents_per_word: t('console.prices.wrong') };
      throw new CallError('invalid_request', '', { fields });
    }
    const day = (written: string | undefined) => (written ? `${written}T00:00:00Z` : null);
    return {
      tier: values.tier as 'human' | 'machine',
      account: values.account || null,
      source_language: values.source_language || '*',
      target_language: values.target_language || '*',
      cents_per_word: cents,
      from: day(values.from),
      until: day(values.until),
    };
  };
}

interface Previewed {
  price: ReturnType<ReturnType<typeof useReadPrice>>;
  made: ConsoleSetPrice;
}

/** Sets a price. A dry run first shows which price this replaces and how long the new one is valid. */
function SetPrice({ onDone }: { onDone(): void }) {
  const t = useTranslate();
  const priceOf = useReadPrice();
  const [previewed, setPreviewed] = useState<Previewed>();

  if (previewed !== undefined) {
    return <PricePreview previewed={previewed} onBack={() => setPreviewed(undefined)} onDone={onDone} />;
  }
  return (
    <Form
      onSubmit={async (values) => {
        const price = priceOf(values);
        const made = await call('setPrice', { body: { ...price, dry_run: true } });
        setPreviewed({ price, made });
      }}
    >
      <ChoiceField
        name="tier"
        label={t('console.tier')}
        choices={[
          { value: 'human', label: t('console.tier.human') },
          { value: 'machine', label: t('console.tier.machine') },
        ]}
      />
      <div className={css.inline}>
        <LanguageField
          name="source_language"
          label={t('console.source')}
          description={t('console.prices.all_about')}
          optional
        />
        <LanguageField
          name="target_language"
          label={t('console.target')}
          description={t('console.prices.all_about')}
          optional
        />
      </div>
      <AccountField
        name="account"
        label={t('console.account')}
        description={t('console.prices.account_about')}
        optional
      />
      <Field name="cents_per_word" label={t('console.prices.cents')} ltr />
      <div className={css.inline}>
        <Field name="from" type="date" label={t('console.from')} optional ltr />
        <Field name="until" type="date" label={t('console.until')} optional ltr />
      </div>
      <DialogActions>
        <Button onClick={onDone}>{t('ui.cancel')}</Button>
        <SubmitButton>{t('console.money.preview')}</SubmitButton>
      </DialogActions>
    </Form>
  );
}

interface PricePreviewProps {
  previewed: Previewed;
  onBack(): void;
  onDone(): void;
}

function PricePreview({ previewed: { price, made }, onBack, onDone }: PricePreviewProps) {
  const t = useTranslate();
  const change = useChange();
  const [error, setError] = useState<Error>();
  return (
    <>
      <p>
        <Money cents={made.price.cents_per_word} /> {t('console.prices.from')} <When at={made.price.from} />
        {made.price.until !== null && (
          <>
            {' '}
            {t('console.until')} <When at={made.price.until} />
          </>
        )}
      </p>
      {made.ends !== null && (
        <Notice tone="info">
          {t('console.prices.ends')} <Money cents={made.ends.cents_per_word} />
        </Notice>
      )}
      {error !== undefined && <FailureNotice error={error} />}
      <DialogActions>
        <Button onClick={onBack}>{t('console.back')}</Button>
        <Button
          variant="filled"
          onClick={() =>
            void change(() => call('setPrice', { body: price }), t('console.prices.done')).then(
              onDone,
              setError,
            )
          }
        >
          {t('console.prices.set')}
        </Button>
      </DialogActions>
    </>
  );
}
