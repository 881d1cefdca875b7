/** One job: what happened to it, what it cost, what it says; and taking it back. */
import { Button, NativeSelect } from '@mantine/core';
import { useSuspenseQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { call, query } from '../api/client.ts';
import type { ConsoleJobStep } from '../api/generated.ts';
import { hasProgress, JobProgress } from '../JobProgress.tsx';
import { useLive } from '../live.ts';
import type { Loading, PageProps } from '../page.tsx';
import { paths } from '../paths.ts';
import { ConfirmDialog } from '../ui/Dialog.tsx';
import { Link } from '../ui/Link.tsx';
import { Money } from '../ui/Money.tsx';
import { Notice } from '../ui/Notice.tsx';
import { Card, Page, Section } from '../ui/Page.tsx';
import { StatusBadge, Tag } from '../ui/StatusBadge.tsx';
import { When } from '../ui/When.tsx';
import { useSay } from '../words.tsx';
import css from './console.module.css';
import { AccountLink, Count, Facts, Pair, useChange } from './parts.tsx';

const job = ({ username = '', job = '' }: Record<string, string>) =>
  query('readConsoleJob', { path: { username, job } });

export const load = ({ queries, params }: Loading) => queries.ensureQueryData(job(params));

const MONEY = ['top_up', 'hold', 'capture', 'void', 'refund', 'adjustment'] as const;
const TEXTS = ['source', 'supplied', 'instructions', 'result'] as const;

export default function Job({ params }: PageProps) {
  const say = useSay();
  const change = useChange();
  const { data } = useSuspenseQuery(job(params));
  const drafted = useLive(`job:${data.account}:${data.job}`, 'readConsoleJob');
  const [asked, setAsked] = useState<'cancel' | 'retry' | 'redraft'>();
  const [engine, setEngine] = useState('');
  const path = { username: data.account, job: data.job };
  const kindOf = (kind: string) => {
    const known = TEXTS.find((one) => one === kind);
    return known === undefined ? kind : say(`console.job.text.${known}`);
  };
  return (
    <Page
      title={say('console.job.title', { number: data.order_number })}
      lead={
        <>
          <Link to={paths.console.jobs}>{say('nav.jobs')}</Link>
          {' / '}
          <AccountLink username={data.account} />
        </>
      }
      actions={
        <>
          {data.may.refund && (
            <Link to={paths.console.money(data.account)}>{say('console.money.kind.refund')}</Link>
          )}
          {data.may.retry && <Button onClick={() => setAsked('retry')}>{say('console.job.retry')}</Button>}
          {data.may.redraft && (
            <Button onClick={() => setAsked('redraft')}>{say('console.job.redraft')}</Button>
          )}
          {data.may.cancel && <Button onClick={() => setAsked('cancel')}>{say('console.job.cancel')}</Button>}
        </>
      }
    >
      <Card>
        <div className={css.stack}>
          <div className={css.row}>
            <StatusBadge status={data.status} />
            <Tag>{say(`console.environment.${data.environment}`)}</Tag>
            <Tag>{data.text_format}</Tag>
            {data.leased && <Tag>{say('console.job.leased')}</Tag>}
            {data.redraft !== null && <Tag>{say('console.job.redrafting')}</Tag>}
          </div>
          {data.failure !== null && <Notice tone="danger">{data.failure}</Notice>}
          <Facts
            facts={[
              [
                say('console.jobs.uid'),
                <bdi key="uid" className={css.code}>
                  {data.uid}
                </bdi>,
              ],
              [
                say('console.pair'),
                <Pair key="pair" from={data.source_language} to={data.target_language} />,
              ],
              [
                say('job.progress'),
                hasProgress(data) ? <JobProgress key="progress" job={data} drafted={drafted} /> : null,
              ],
              [say('console.tier'), say(`console.tier.${data.tier}`)],
              [say('console.words'), <Count key="words" value={data.words} />],
              [say('console.price'), <Money key="price" cents={data.price} />],
              [say('console.brand'), data.brand],
              [say('console.brand.tone'), data.tone],
              [say('console.job.callback'), data.callback_url],
              [say('console.job.due'), data.due_at === null ? null : <When key="due" at={data.due_at} />],
            ]}
          />
        </div>
      </Card>
      <Section title={say('console.job.timeline')}>
        <Card>
          <ol className={css.timeline}>
            {data.timeline.map((step, at) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: a timeline only grows
              <Step key={at} step={step} />
            ))}
          </ol>
        </Card>
      </Section>
      {data.routes.length > 0 && (
        <Section title={say('console.job.routes')}>
          <Card>
            <Facts
              facts={data.routes.map(({ route, failure, segments }) => [
                route ?? failure ?? '–',
                say('console.job.segments', { count: segments }),
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
      <ConfirmDialog
        title={say('console.job.cancel')}
        action={say('console.job.cancel')}
        danger
        opened={asked === 'cancel'}
        onClose={() => setAsked(undefined)}
        onConfirm={() => change(() => call('cancelConsoleJob', { path }), say('console.job.canceled'))}
      >
        {say('console.job.cancel_about', { number: data.order_number, account: data.account })}
      </ConfirmDialog>
      <ConfirmDialog
        title={say('console.job.redraft')}
        action={say('console.job.redraft')}
        opened={asked === 'redraft'}
        onClose={() => setAsked(undefined)}
        onConfirm={() =>
          change(
            () => call('redraftConsoleJob', { path, body: engine === '' ? {} : { engine } }),
            say('console.job.redraft_begun'),
          )
        }
      >
        <div className={css.stack}>
          <p>{say('console.job.redraft_about', { count: data.untouched })}</p>
          <NativeSelect
            label={say('console.job.redraft_by')}
            description={say('console.job.redraft_by_about')}
            value={engine}
            onChange={(event) => setEngine(event.currentTarget.value)}
            data={[
              { value: '', label: say('console.job.redraft_route') },
              ...data.engines.map((name) => ({ value: name, label: name })),
            ]}
          />
        </div>
      </ConfirmDialog>
      <ConfirmDialog
        title={say('console.job.retry')}
        action={say('console.job.retry')}
        opened={asked === 'retry'}
        onClose={() => setAsked(undefined)}
        onConfirm={() => change(() => call('retryConsoleJob', { path }), say('console.job.retried'))}
      >
        {say('console.job.retry_about')}
      </ConfirmDialog>
    </Page>
  );
}

const ACTORS = ['machine', 'editor', 'customer', 'operator'] as const;

function Step({ step }: { step: ConsoleJobStep }) {
  const say = useSay();
  const money = MONEY.find((one) => one === step.money);
  const actor = ACTORS.find((one) => one === step.actor);
  return (
    <li>
      <When at={step.at} />
      {step.kind === 'created' && <span>{say('console.created')}</span>}
      {step.status !== undefined && <StatusBadge status={step.status} />}
      {money !== undefined && (
        <span>
          {say(`console.money.kind.${money}`)} <Money cents={step.cents ?? 0} />
        </span>
      )}
      {actor !== undefined && <span className={css.muted}>{say(`console.actor.${actor}`)}</span>}
      {step.detail !== undefined && <bdi className={css.muted}>{step.detail}</bdi>}
    </li>
  );
}
