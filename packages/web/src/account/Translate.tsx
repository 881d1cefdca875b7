/** Sends documents and pasted texts for translation, and follows their jobs. */
import { Button } from '@mantine/core';
import { useQueryClient, useSuspenseQuery } from '@tanstack/react-query';
import { useEffect } from 'react';
import { query, retryDelayOf } from '../api/client.ts';
import type { DocumentQuote, NewDocument, OwnAccount } from '../api/generated.ts';
import { useTranslate } from '../i18n.tsx';
import { useLiveUpdates } from '../live-updates.ts';
import { type Loading, type PageProps, useFilters, useList } from '../page.tsx';
import { paths } from '../paths.ts';
import { useUser } from '../session.ts';
import { Numbers } from '../ui/Facts.tsx';
import { FailureNotice } from '../ui/Failure.tsx';
import { ButtonLink, Link } from '../ui/Link.tsx';
import { Money, useMoney } from '../ui/Money.tsx';
import { Notice } from '../ui/Notice.tsx';
import { Card, Page, Section } from '../ui/Page.tsx';
import { Lines } from '../ui/Skeleton.tsx';
import { beforeReload } from '../upgrade.ts';
import { AddDocuments } from './AddDocuments.tsx';
import css from './account.module.css';
import { ChoiceFields, offeredChoices, targetsFor } from './ChoiceFields.tsx';
import { type Choices, useChoices } from './choices.ts';
import { DocumentTable, type Row } from './DocumentTable.tsx';
import {
  clearSent,
  isProblem,
  keyOf,
  type LocalDocument,
  quoted,
  sendDocuments,
  sendingsIn,
  stopSending,
  useDocuments,
} from './document-list.ts';
import { type Environment, EnvironmentSwitch, environmentOf } from './environment.tsx';
import { JobPanel } from './JobPanel.tsx';
import { availableOf } from './LowBalance.tsx';
import { useQuotes } from './quotes.ts';

const options = (environment: Environment) => query('readDocumentOptions', { query: { environment } });
const own = () => query('readOwnAccount');
const brands = () => query('listOwnBrands');

export const load = ({ queries, search }: Loading) =>
  Promise.all([
    queries.ensureQueryData(options(environmentOf(search))),
    queries.ensureQueryData(own()),
    queries.ensureQueryData(brands()),
  ]);

/** The states of rows that need no warning when the window is closed, because nothing is left to send. */
const FINAL: readonly Row['state'][] = ['problem', 'refused', 'done'];

export default function Translate({ search }: PageProps) {
  const t = useTranslate();
  const environment = environmentOf(search);
  const user = useUser();
  const { data: offered, error } = useList(options(environment));
  const { data: account } = useSuspenseQuery(own());
  const { data: known } = useSuspenseQuery(brands());
  const [stored, choose] = useChoices(user?.email ?? '');
  const choices = offered === undefined ? stored : offeredChoices(offered, known.objects, stored);
  const { documents, busy } = useDocuments(user?.user_id ?? '');
  const setFilters = useFilters();
  useLiveUpdates('balance', 'readOwnAccount');
  useLiveUpdates('jobs', 'readOwnJob');
  const targets = offered === undefined ? [] : targetsFor(offered, choices);
  const rows = useRows(environment, choices, targets);
  useUnsentWarning(rows.some(({ state }) => !FINAL.includes(state)));
  return (
    <Page
      title={t('account.translate.title')}
      lead={t('account.translate.lead')}
      actions={<EnvironmentSwitch search={search} />}
    >
      {environment === 'sandbox' && <Notice tone="info">{t('account.translate.sandbox')}</Notice>}
      {error !== null && <FailureNotice error={error} />}
      {offered === undefined ? (
        <Lines count={8} />
      ) : (
        <Card>
          <AddDocuments options={offered} />
        </Card>
      )}
      {documents.length > 0 && (
        <Section
          title={t('account.translate.documents')}
          actions={
            <>
              {busy && <Button onClick={stopSending}>{t('account.translate.stop')}</Button>}
              {rows.some(({ state }) => state === 'done') && (
                <>
                  <Button onClick={clearSent}>{t('account.translate.clear')}</Button>
                  <ButtonLink
                    to={paths.account.jobs}
                    search={{ tier: choices.tier, ...(environment === 'sandbox' ? { environment } : {}) }}
                  >
                    {t('account.overview.all')}
                  </ButtonLink>
                </>
              )}
            </>
          }
        >
          <DocumentTable rows={rows} onOpen={({ uid }) => setFilters({ open: uid })} />
        </Section>
      )}
      {offered !== undefined && (
        <Card>
          <ChoiceFields
            options={offered}
            brands={known.objects}
            formats={new Set(documents.flatMap((one) => (isProblem(one) ? [] : [one.format])))}
            choices={choices}
            onChange={choose}
          />
        </Card>
      )}
      <Order rows={rows} account={account} environment={environment} />
      <JobPanel uid={search.open} environment={environment} onClose={() => setFilters({ open: '' })} />
    </Page>
  );
}

/** Returns a row for each document and target language, and for each document without a target language. */
function useRows(environment: Environment, choices: Choices, targets: readonly string[]): Row[] {
  const { documents } = useDocuments(useUser()?.user_id ?? '');
  const shipments = documents.flatMap((document) => {
    if (isProblem(document)) return [];
    const sent = sendingsIn({ environment, tier: choices.tier }, document);
    return [...new Set([...Object.keys(sent), ...targets])].map((target) => ({
      document,
      target,
      body: bodyOf(environment, choices, document, target),
    }));
  });
  const quotes = useQuotes(shipments);
  return documents.flatMap((document): Row[] => {
    if (isProblem(document)) return [{ key: String(document.id), document, state: 'problem' }];
    const ofDocument = shipments.filter((one) => one.document === document);
    if (ofDocument.length === 0) return [{ key: String(document.id), document, state: 'untargeted' }];
    const sendings = sendingsIn({ environment, tier: choices.tier }, document);
    return ofDocument.map((shipment): Row => {
      const row = { key: keyOf(shipment), document, shipment };
      const sending = sendings[shipment.target];
      const { data: quote, error, failureReason } = quotes[shipments.indexOf(shipment)]!;
      if (sending !== undefined) return { ...row, quote, ...sending };
      if (error !== null) return { ...row, state: 'refused', error };
      if (quote !== undefined) return { ...row, state: 'ready', quote };
      return { ...row, state: retryDelayOf(failureReason) === undefined ? 'checking' : 'waiting' };
    });
  });
}

function bodyOf(
  environment: Environment,
  choices: Choices,
  { name, text, format }: LocalDocument,
  target: string,
): NewDocument {
  const { tier, source, brand, tone, instructions, retranslate, set_lang, mail } = choices;
  return {
    environment,
    tier,
    text,
    text_format: format,
    target_language: target,
    ...(name === undefined ? {} : { name }),
    ...(source === '' ? {} : { source_language: source }),
    ...(brand === '' ? {} : { brand }),
    ...(tone === '' ? {} : { tone: tone as NonNullable<NewDocument['tone']> }),
    ...(instructions.trim() === '' ? {} : { instructions }),
    ...(retranslate && format === 'xliff' ? { retranslate } : {}),
    ...(set_lang && format === 'html' ? { set_lang } : {}),
    ...(mail ? { mail } : {}),
  };
}

/** The total price of the documents that can be sent, and the button that sends them. */
function Order({
  rows,
  account,
  environment,
}: {
  rows: readonly Row[];
  account: OwnAccount;
  environment: Environment;
}) {
  const t = useTranslate();
  const money = useMoney();
  const queries = useQueryClient();
  const { busy } = useDocuments(useUser()?.user_id ?? '');
  const sendable = rows.flatMap((row) =>
    (row.state === 'ready' || row.state === 'failed') && row.quote !== undefined
      ? [quoted(row.shipment, row.quote)]
      : [],
  );
  const isChecking = rows.some(({ state }) => state === 'checking' || state === 'waiting');
  if (sendable.length === 0 && !isChecking) return null;
  const sum = (pick: (quote: DocumentQuote) => number) =>
    sendable.reduce((total, { quote }) => total + pick(quote), 0);
  const price = sum(({ price }) => price);
  async function send(): Promise<void> {
    if (await sendDocuments(sendable)) await queries.invalidateQueries({ queryKey: ['quoteDocument'] });
  }
  const available = availableOf(account, environment);
  const missing = available === undefined ? 0 : Math.max(0, price - available);
  return (
    <>
      <Numbers
        facts={[
          { label: t('queue.words'), value: sum(({ words }) => words) },
          { label: t('account.price'), value: <Money cents={price} /> },
          ...(available === undefined
            ? []
            : [{ label: t('account.translate.available'), value: <Money cents={available} /> }]),
        ]}
      />
      {missing > 0 && (
        <Notice
          tone="danger"
          action={<Link to={paths.account.balance}>{t('account.overview.to_balance')}</Link>}
        >
          {t('account.translate.missing', { amount: money(missing) })}
        </Notice>
      )}
      <div className={css.buttons}>
        <Button
          variant="filled"
          loading={busy}
          disabled={missing > 0 || isChecking || sendable.length === 0}
          onClick={() => void send()}
        >
          {t('account.translate.send', { count: sendable.length })}
        </Button>
      </div>
    </>
  );
}

/** Warns before the window is closed while documents are not sent. */
function useUnsentWarning(hasUnsent: boolean): void {
  useEffect(() => {
    if (!hasUnsent) return;
    const warn = (event: Event) => event.preventDefault();
    addEventListener('beforeunload', warn);
    const stop = beforeReload(async () => false);
    return () => {
      removeEventListener('beforeunload', warn);
      stop();
    };
  }, [hasUnsent]);
}
