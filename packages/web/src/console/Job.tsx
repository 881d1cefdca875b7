/** One job: timeline, costs, texts and actions. */
import { Button, NativeSelect } from '@mantine/core';
import { useSuspenseQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { type Answer, call, query } from '../api/client.ts';
import type { ConsoleJobStep } from '../api/generated.ts';
import { useTranslate } from '../i18n.tsx';
import { hasProgress, JobProgress } from '../JobProgress.tsx';
import { type DraftingProgress, useLiveUpdates } from '../live-updates.ts';
import type { Loading, PageProps } from '../page.tsx';
import { paths } from '../paths.ts';
import { ConfirmDialog } from '../ui/Dialog.tsx';
import { DiscountedPrice } from '../ui/Discounts.tsx';
import { useEngineFailure } from '../ui/engine-failure.ts';
import { Link } from '../ui/Link.tsx';
import { Money } from '../ui/Money.tsx';
import { Notice } from '../ui/Notice.tsx';
import { Card, Page, Section } from '../ui/Page.tsx';
import { StatusBadge, Tag } from '../ui/StatusBadge.tsx';
import { When } from '../ui/When.tsx';
import { CancelJob } from './CancelJob.tsx';
import css from './console.module.css';
import { AccountLink, Count, Facts, Pair, useChange } from './shared.tsx';

const job = ({ username = '', job = '' }: Record<string, string>) =>
  query('readConsoleJob', { path: { username, job } });

export const load = ({ queries, params }: Loading) => queries.ensureQueryData(job(params));

const TRANSFER_KINDS = ['top_up', 'hold', 'capture', 'release', 'void', 'refund', 'adjustment'] as const;
const TEXTS = ['source', 'supplied', 'instructions', 'result'] as const;

type JobData = Answer<'readConsoleJob'>;
type JobAction = 'cancel' | 'retry' | 'redraft';

export default function Job({ params }: PageProps) {
  const t = useTranslate();
  const failureOf = useEngineFailure();
  const { data } = useSuspenseQuery(job(params));
  const drafted = useLiveUpdates(`job:${data.account}:${data.job}`, 'readConsoleJob');
  const [confirming, setConfirming] = useState<JobAction>();
  const kindOf = (kind: string) => {
    const known = TEXTS.find((one) => one === kind);
    return known === undefined ? kind : t(`console.job.text.${known}`);
  };
  return (
    <Page
      title={t('console.job.title', { number: data.order_number })}
      lead={
        <>
          <Link to={paths.console.jobs}>{t('nav.jobs')}</Link>
          {' / '}
          <AccountLink username={data.account} />
        </>
      }
      actions={
        <>
          {data.may.refund && (
            <Link to={paths.console.money(data.account)}>{t('console.money.kind.refund')}</Link>
          )}
          {data.may.retry && <Button onClick={() => setConfirming('retry')}>{t('console.job.retry')}</Button>}
          {data.may.redraft && (
            <Button onClick={() => setConfirming('redraft')}>{t('console.job.redraft')}</Button>
          )}
          {data.may.cancel && (
            <Button onClick={() => setConfirming('cancel')}>{t('console.job.cancel')}</Button>
          )}
        </>
      }
    >
      <nav className={css.tabs} aria-label={t('console.job.links')}>
        {data.tier === 'human' && (
          <Link to={paths.console.tasks} search={{ account: data.account, job: data.job }}>
            {t('nav.tasks')}
          </Link>
        )}
        <Link to={paths.console.money(data.account)} search={{ environment: data.environment }}>
          {t('console.money.title')}
        </Link>
        <Link to={paths.console.audit} search={{ account: data.account, subject: data.uid }}>
          {t('nav.audit')}
        </Link>
      </nav>
      <Summary job={data} drafted={drafted} />
      <Section title={t('console.job.timeline')}>
        <Card>
          <ol className={css.timeline}>
            {data.timeline.map((step, at) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: a timeline only grows
              <Step key={at} step={step} />
            ))}
          </ol>
        </Card>
      </Section>
      {data.deliveries.length > 0 && <Callbacks deliveries={data.deliveries} />}
      {data.routes.length > 0 && (
        <Section title={t('console.job.routes')}>
          <Card>
            <Facts
              facts={data.routes.map(({ route, failure, segments }) => [
                route ?? (failure === null ? '–' : failureOf(failure)),
                t('console.job.segments', { count: segments }),
              ])}
            />
          </Card>
        </Section>
      )}
      {data.texts.map(({ kind, body, characters }) => (
        <Section key={kind} title={kindOf(kind)}>
          <section
            className={css.text}
            // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, also by keyboard
            tabIndex={0}
            aria-label={kindOf(kind)}
            dir="auto"
            lang={kind === 'source' ? data.source_language : data.target_language}
            translate="no"
          >
            {body}
            {characters > body.length && ' …'}
          </section>
        </Section>
      ))}
      <JobDialogs job={data} confirming={confirming} onClose={() => setConfirming(undefined)} />
    </Page>
  );
}

function Summary({ job, drafted }: { job: JobData; drafted: DraftingProgress | undefined }) {
  const t = useTranslate();
  const failureOf = useEngineFailure();
  return (
    <Card>
      <div className={css.stack}>
        <div className={css.row}>
          <StatusBadge status={job.status} />
          <Tag>{t(`console.environment.${job.environment}`)}</Tag>
          <Tag>{job.text_format}</Tag>
          {job.leased && <Tag>{t('console.job.leased')}</Tag>}
          {job.redraft !== null && <Tag>{t('console.job.redrafting')}</Tag>}
        </div>
        {job.failure !== null && <Notice tone="danger">{job.failure}</Notice>}
        <Facts
          facts={[
            [
              t('console.jobs.uid'),
              <bdi key="uid" className={css.code}>
                {job.uid}
              </bdi>,
            ],
            [t('console.pair'), <Pair key="pair" of={job} />],
            [
              t('job.progress'),
              hasProgress(job) ? <JobProgress key="progress" job={job} drafted={drafted} /> : null,
            ],
            [t('console.tier'), t(`console.tier.${job.tier}`)],
            [t('console.words'), <Count key="words" value={job.words} />],
            [
              t('job.words.opened'),
              job.edited_words && <Count key="opened" value={job.edited_words.opened} />,
            ],
            [t('job.words.voted'), job.edited_words && <Count key="voted" value={job.edited_words.voted} />],
            [
              t('job.untranslated'),
              job.untranslated
                .map(({ failure, segments }) =>
                  t('job.untranslated.by', { count: segments, why: failureOf(failure) }),
                )
                .join(', ') || null,
            ],
            [t('console.price'), <DiscountedPrice key="price" of={job} />],
            [t('console.brand'), job.brand],
            [t('console.brand.tone'), job.tone],
            [t('console.job.callback'), job.callback_url],
            [t('console.job.due'), job.due_at === null ? null : <When key="due" at={job.due_at} />],
          ]}
        />
      </div>
    </Card>
  );
}

/** The callbacks of the job and its deliveries to webhook endpoints, as links to their pages. */
function Callbacks({ deliveries }: { deliveries: JobData['deliveries'] }) {
  const t = useTranslate();
  return (
    <Section title={t('nav.deliveries')}>
      <Card>
        <ol className={css.timeline}>
          {deliveries.map(({ id, event, url, status, created_at }) => (
            <li key={id}>
              <When at={created_at} />
              <StatusBadge status={status} />
              <Link to={paths.console.delivery(id)}>{event}</Link>
              <bdi className={css.muted} dir="ltr">
                {URL.parse(url)?.host ?? url}
              </bdi>
            </li>
          ))}
        </ol>
      </Card>
    </Section>
  );
}

interface JobDialogsProps {
  job: JobData;
  confirming: JobAction | undefined;
  onClose(): void;
}

function JobDialogs({ job, confirming, onClose }: JobDialogsProps) {
  const t = useTranslate();
  const change = useChange();
  const [engine, setEngine] = useState('');
  const path = { username: job.account, job: job.job };
  return (
    <>
      <CancelJob job={confirming === 'cancel' ? job : undefined} onClose={onClose} />
      <ConfirmDialog
        title={t('console.job.redraft')}
        action={t('console.job.redraft')}
        opened={confirming === 'redraft'}
        onClose={onClose}
        onConfirm={() =>
          change(
            () => call('redraftConsoleJob', { path, body: engine === '' ? {} : { engine } }),
            t('console.job.redraft_begun'),
          )
        }
      >
        <div className={css.stack}>
          <p>{t('console.job.redraft_about', { count: job.untouched })}</p>
          <NativeSelect
            label={t('console.job.redraft_by')}
            description={t('console.job.redraft_by_about')}
            value={engine}
            onChange={(event) => setEngine(event.currentTarget.value)}
            data={[
              { value: '', label: t('console.job.redraft_route') },
              ...job.engines.map((name) => ({ value: name, label: name })),
            ]}
          />
        </div>
      </ConfirmDialog>
      <ConfirmDialog
        title={t('console.job.retry')}
        action={t('console.job.retry')}
        opened={confirming === 'retry'}
        onClose={onClose}
        onConfirm={() => change(() => call('retryConsoleJob', { path }), t('console.job.retried'))}
      >
        {t('console.job.retry_about')}
      </ConfirmDialog>
    </>
  );
}

const ACTORS = ['machine', 'editor', 'customer', 'operator'] as const;

function Step({ step }: { step: ConsoleJobStep }) {
  const t = useTranslate();
  const money = TRANSFER_KINDS.find((one) => one === step.money);
  const actor = ACTORS.find((one) => one === step.actor);
  return (
    <li>
      <When at={step.at} />
      {step.kind === 'created' && <span>{t('console.created')}</span>}
      {step.status !== undefined && <StatusBadge status={step.status} />}
      {money !== undefined && (
        <span>
          {t(`console.money.kind.${money}`)} <Money cents={step.cents ?? 0} />
        </span>
      )}
      {actor !== undefined && <span className={css.muted}>{t(`console.actor.${actor}`)}</span>}
      {step.detail !== undefined && <bdi className={css.muted}>{step.detail}</bdi>}
    </li>
  );
}
