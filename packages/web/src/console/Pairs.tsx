/** Which pairs are offered, by which engines, and what a word costs. */
import { Button, Switch } from '@mantine/core';
import { IconPlus } from '@tabler/icons-react';
import { useSuspenseQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { CallError, call, query } from '../api/client.ts';
import type { ConsolePrice, ConsoleSetPrice } from '../api/generated.ts';
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
import { useSay } from '../words.tsx';
import css from './console.module.css';
import { AccountLink, Pair, useChange } from './parts.tsx';

const pairs = ({ q, enabled }: Search) =>
  query('listConsolePairs', { query: { q, ...(enabled ? { enabled: enabled === 'true' } : {}) } });
const prices = () => query('listPrices');

export const load = ({ queries, search }: Loading) =>
  Promise.all([queries.ensureQueryData(pairs(search)), queries.ensureQueryData(prices())]);

export default function Pairs({ search }: PageProps) {
  const say = useSay();
  const change = useChange();
  const { data, error, refetch } = useList(pairs(search));
  return (
    <Page title={say('nav.pairs')}>
      <Prices />
      <Section title={say('console.pairs.title')}>
        <Filters>
          <SearchFilter name="q" label={say('console.pairs.search')} search={search} />
          <ChoiceFilter
            name="enabled"
            label={say('console.state')}
            search={search}
            choices={[
              { value: '', label: say('console.any') },
              { value: 'true', label: say('console.pairs.open') },
              { value: 'false', label: say('console.pairs.closed') },
            ]}
          />
        </Filters>
        <Table
          label={say('console.pairs.title')}
          rows={data?.pairs}
          error={error}
          onRetry={() => void refetch()}
          rowKey={({ source_language, target_language }) => `${source_language} ${target_language}`}
          empty={<Empty>{say('console.pairs.empty')}</Empty>}
          columns={[
            {
              key: 'pair',
              header: say('console.pair'),
              cell: ({ source_language, target_language }) => (
                <Pair from={source_language} to={target_language} />
              ),
            },
            {
              key: 'names',
              header: say('console.languages'),
              wide: true,
              cell: ({ source_name, target_name }) => (
                <bdi className={css.muted}>
                  {source_name} → {target_name}
                </bdi>
              ),
            },
            {
              key: 'engines',
              header: say('nav.engines'),
              cell: ({ engines }) =>
                engines.length === 0 ? (
                  <span className={css.muted}>{say('console.pairs.no_engine')}</span>
                ) : (
                  <span className={css.row}>
                    {engines.map(({ engine, hops }) => (
                      <Tag key={engine}>{hops > 1 ? `${engine} (${say('console.pairs.hops')})` : engine}</Tag>
                    ))}
                  </span>
                ),
            },
            {
              key: 'enabled',
              header: say('console.pairs.offered'),
              cell: ({ source_language: source, target_language: target, enabled }) => (
                <Switch
                  checked={enabled}
                  aria-label={say('console.pairs.offer_what', { pair: `${source} → ${target}` })}
                  onChange={(event) => {
                    const wanted = event.currentTarget.checked;
                    void change(() =>
                      call('switchPair', { path: { source, target }, body: { enabled: wanted } }),
                    );
                  }}
                />
              ),
            },
          ]}
        />
        {data !== undefined && data.total > data.pairs.length && (
          <p className={css.muted}>{say('console.pairs.more', { count: data.total - data.pairs.length })}</p>
        )}
      </Section>
    </Page>
  );
}

function Prices() {
  const say = useSay();
  const change = useChange();
  const { data } = useSuspenseQuery(prices());
  const [setting, setSetting] = useState(false);
  const [ending, setEnding] = useState<ConsolePrice>();
  const tierOf = (tier: string) => say(tier === 'human' ? 'console.tier.human' : 'console.tier.machine');
  const now = new Date().toISOString();
  return (
    <Section
      title={say('console.prices')}
      actions={
        <Button
          variant="filled"
          leftSection={<IconPlus size={16} aria-hidden />}
          onClick={() => setSetting(true)}
        >
          {say('console.prices.set')}
        </Button>
      }
    >
      <p className={css.muted}>
        {say('console.prices.defaults')} <Money cents={data.defaults.human} /> {tierOf('human')},{' '}
        <Money cents={data.defaults.machine} /> {tierOf('machine')}
      </p>
      <Table
        label={say('console.prices')}
        rows={data.prices}
        rowKey={(price) => `${keyOf(price)} ${price.from}`}
        empty={<Empty>{say('console.prices.empty')}</Empty>}
        columns={[
          {
            key: 'pair',
            header: say('console.pair'),
            cell: ({ source_language, target_language }) =>
              source_language === '*' ? (
                say('console.pairs.all')
              ) : (
                <Pair from={source_language} to={target_language} />
              ),
          },
          { key: 'tier', header: say('console.tier'), cell: ({ tier }) => tierOf(tier) },
          {
            key: 'account',
            header: say('console.account'),
            wide: true,
            cell: ({ account }) =>
              account === null ? say('console.prices.everybody') : <AccountLink username={account} />,
          },
          {
            key: 'price',
            header: say('console.prices.word'),
            align: 'end',
            cell: ({ cents_per_word }) => <Money cents={cents_per_word} />,
          },
          {
            key: 'term',
            header: say('console.prices.term'),
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
            key: 'end',
            header: say('console.prices.end'),
            bare: true,
            cell: (price) => (
              <Button size="xs" onClick={() => setEnding(price)}>
                {say('console.prices.end')}
              </Button>
            ),
          },
        ]}
      />
      <Dialog title={say('console.prices.set')} opened={setting} onClose={() => setSetting(false)}>
        {setting && <SetPrice onDone={() => setSetting(false)} />}
      </Dialog>
      <ConfirmDialog
        title={say('console.prices.end')}
        action={say('console.prices.end')}
        danger
        opened={ending !== undefined}
        onClose={() => setEnding(undefined)}
        onConfirm={() => {
          const { tier, account, source_language, target_language } = ending!;
          const body = { tier, account, source_language, target_language };
          return change(() => call('endPrice', { body }), say('console.prices.ended'));
        }}
      >
        {say('console.prices.end_about')}
      </ConfirmDialog>
    </Section>
  );
}

const keyOf = ({ tier, account, source_language, target_language }: ConsolePrice) =>
  `${tier} ${account ?? '*'} ${source_language} ${target_language}`;

/** First what it would end, and until when it would hold; then the price itself. */
function SetPrice({ onDone }: { onDone(): void }) {
  const say = useSay();
  const change = useChange();
  const [rehearsed, setRehearsed] = useState<{
    wanted: ReturnType<typeof wantedOf>;
    made: ConsoleSetPrice;
  }>();
  const [error, setError] = useState<Error>();

  function wantedOf(values: Values) {
    const cents = /^\d{1,6}$/.test((values.cents_per_word ?? '').trim())
      ? Number(values.cents_per_word)
      : undefined;
    if (cents === undefined) {
      const fields = { cents_per_word: say('console.prices.wrong') };
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
  }

  if (rehearsed !== undefined) {
    const { made, wanted } = rehearsed;
    return (
      <>
        <p>
          <Money cents={made.price.cents_per_word} /> {say('console.prices.from')}{' '}
          <When at={made.price.from} />
          {made.price.until !== null && (
            <>
              {' '}
              {say('console.until')} <When at={made.price.until} />
            </>
          )}
        </p>
        {made.ends !== null && (
          <Notice tone="info">
            {say('console.prices.ends')} <Money cents={made.ends.cents_per_word} />
          </Notice>
        )}
        {error !== undefined && <FailureNotice error={error} />}
        <DialogActions>
          <Button onClick={() => setRehearsed(undefined)}>{say('console.back')}</Button>
          <Button
            variant="filled"
            onClick={() =>
              void change(() => call('setPrice', { body: wanted }), say('console.prices.done')).then(
                onDone,
                setError,
              )
            }
          >
            {say('console.prices.set')}
          </Button>
        </DialogActions>
      </>
    );
  }
  return (
    <Form
      onSubmit={async (values) => {
        const wanted = wantedOf(values);
        const made = await call('setPrice', { body: { ...wanted, dry_run: true } });
        setError(undefined);
        setRehearsed({ wanted, made });
      }}
    >
      <ChoiceField
        name="tier"
        label={say('console.tier')}
        choices={[
          { value: 'human', label: say('console.tier.human') },
          { value: 'machine', label: say('console.tier.machine') },
        ]}
      />
      <div className={css.inline}>
        <Field
          name="source_language"
          label={say('console.source')}
          description={say('console.prices.all_about')}
          optional
          ltr
        />
        <Field
          name="target_language"
          label={say('console.target')}
          description={say('console.prices.all_about')}
          optional
          ltr
        />
      </div>
      <Field
        name="account"
        label={say('console.account')}
        description={say('console.prices.account_about')}
        optional
        ltr
      />
      <Field name="cents_per_word" label={say('console.prices.cents')} ltr />
      <div className={css.inline}>
        <Field name="from" type="date" label={say('console.from')} optional ltr />
        <Field name="until" type="date" label={say('console.until')} optional ltr />
      </div>
      <DialogActions>
        <Button onClick={onDone}>{say('ui.cancel')}</Button>
        <SubmitButton>{say('console.money.preview')}</SubmitButton>
      </DialogActions>
    </Form>
  );
}
