/** One job: its texts, what became of it, what was posted, and what its state allows. */
import { Button } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { call, query } from '../api/client.ts';
import type { OwnJobDetail, OwnJobText } from '../api/generated.ts';
import { hasProgress, JobProgress } from '../JobProgress.tsx';
import { type Drafted, useLive } from '../live.ts';
import { paths } from '../paths.ts';
import { usePerson } from '../session.ts';
import { CopyBlock, CopyButton } from '../ui/CopyButton.tsx';
import { ConfirmDialog, Dialog, DialogActions, SidePanel } from '../ui/Dialog.tsx';
import { Facts } from '../ui/Facts.tsx';
import { FailureNotice } from '../ui/Failure.tsx';
import { Form, SubmitButton, TextField } from '../ui/form.tsx';
import { Link } from '../ui/Link.tsx';
import { Money } from '../ui/Money.tsx';
import { Notice } from '../ui/Notice.tsx';
import { Pair } from '../ui/Pair.tsx';
import { Lines } from '../ui/Skeleton.tsx';
import { StatusBadge } from '../ui/StatusBadge.tsx';
import { toast } from '../ui/Toast.tsx';
import { When } from '../ui/When.tsx';
import { useSay } from '../words.tsx';
import css from './account.module.css';
import type { Environment } from './environment.tsx';
import { readJob } from './snippets.ts';

interface JobPanelProps {
  /** None is open where it is undefined. */
  uid: string | undefined;
  environment: Environment;
  onClose(): void;
}

export function JobPanel({ uid, environment, onClose }: JobPanelProps) {
  const say = useSay();
  return (
    <SidePanel title={say('account.job')} opened={uid !== undefined} onClose={onClose}>
      {uid !== undefined && <Job key={uid} uid={uid} environment={environment} />}
    </SidePanel>
  );
}

function Job({ uid, environment }: { uid: string; environment: Environment }) {
  const say = useSay();
  const { data, error, refetch } = useQuery(query('readOwnJob', { path: { uid }, query: { environment } }));
  const drafted = useLive(`job:${environment}:${uid}`, 'readOwnJob');
  if (error !== null) return <FailureNotice error={error} onRetry={() => void refetch()} />;
  if (data === undefined) {
    return (
      <div className={css.block} role="status" aria-label={say('ui.loading')}>
        <Lines count={8} />
      </div>
    );
  }
  return <Detail job={data} drafted={drafted} />;
}

function Detail({ job, drafted }: { job: OwnJobDetail; drafted: Drafted | undefined }) {
  const say = useSay();
  const username = usePerson()?.account ?? '';
  const code = (value: string) => (
    <>
      <bdi>{value}</bdi> <CopyButton text={value} what="uid" />
    </>
  );
  return (
    <>
      <Acts job={job} />
      {job.failure !== null && <Notice tone="danger">{job.failure}</Notice>}
      <Facts
        facts={[
          { label: 'uid', value: code(job.uid) },
          { label: say('account.status'), value: <StatusBadge status={job.status} /> },
          ...(hasProgress(job)
            ? [{ label: say('job.progress'), value: <JobProgress job={job} drafted={drafted} /> }]
            : []),
          {
            label: say('account.pair'),
            value: <Pair from={job.source_language} to={job.target_language} />,
          },
          { label: say('account.tier'), value: say(`account.tier.${job.tier}`) },
          { label: say('queue.words'), value: job.words },
          { label: say('account.price'), value: <Money cents={job.price} /> },
          { label: say('account.created'), value: <When at={job.created_at} /> },
          ...(job.brand === null ? [] : [{ label: say('account.brand'), value: <bdi>{job.brand}</bdi> }]),
          ...(job.tone === null ? [] : [{ label: say('account.tone'), value: <bdi>{job.tone}</bdi> }]),
        ]}
      />
      <Block title={say('account.job.source')}>
        <Text text={job.source} language={job.source_language} label={say('account.job.source')} />
      </Block>
      {job.machine_result !== null && (
        <Block title={say('account.job.machine_result')}>
          <Text
            text={job.machine_result}
            language={job.target_language}
            label={say('account.job.machine_result')}
          />
        </Block>
      )}
      {job.result !== null && (
        <Block title={say('account.job.result')}>
          <Text text={job.result} language={job.target_language} label={say('account.job.result')} />
        </Block>
      )}
      <Block title={say('account.job.timeline')}>
        <ol className={css.steps}>
          {job.timeline.map(({ at, status, actor, detail }) => (
            <li key={`${at} ${status}`} className={css.step}>
              <StatusBadge status={status} />
              <span>{say(`account.actor.${actor}`)}</span>
              <span className={css.muted}>
                <When at={at} />
              </span>
              {detail !== undefined && <span className={css.wrap}>{detail}</span>}
            </li>
          ))}
        </ol>
      </Block>
      {job.deliveries.length > 0 && (
        <Block title={say('account.deliveries.title')}>
          <ul className={css.steps}>
            {job.deliveries.map(({ id, status, created_at }) => (
              <li key={id} className={css.step}>
                <StatusBadge status={status} />
                <Link
                  to={paths.account.deliveries}
                  search={{ open: id, ...(job.environment === 'sandbox' ? { environment: 'sandbox' } : {}) }}
                >
                  <When at={created_at} />
                </Link>
              </li>
            ))}
          </ul>
        </Block>
      )}
      <Block title={say('account.job.curl')}>
        <CopyBlock
          text={readJob(job.environment, job.tier, job.uid, `${username}:…`)}
          what={say('account.job.curl')}
        />
      </Block>
    </>
  );
}

function Block({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section className={css.block}>
      <h3>{title}</h3>
      {children}
    </section>
  );
}

function Text({ text, language, label }: { text: OwnJobText; language: string; label: string }) {
  const say = useSay();
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, also by keyboard */}
      <section className={css.text} lang={language} dir="auto" tabIndex={0} aria-label={label}>
        {text.text}
      </section>
      {text.cut && <p className={css.muted}>{say('account.job.cut')}</p>}
    </>
  );
}

/** What its state allows now: to take it back, to accept it, or to send it back to its editors. */
function Acts({ job }: { job: OwnJobDetail }) {
  const say = useSay();
  const queries = useQueryClient();
  const [asking, setAsking] = useState<'accept' | 'cancel' | 'reject'>();
  const close = () => setAsking(undefined);
  const { uid, environment, may } = job;
  const changed = () =>
    queries.invalidateQueries({
      predicate: ({ queryKey }) =>
        ['readOwnJob', 'listOwnJobs', 'readOwnAccount'].includes(String(queryKey[0])),
    });
  if (!may.cancel && !may.accept && !may.reject) return null;
  return (
    <div className={css.buttons}>
      {may.accept && (
        <Button variant="filled" onClick={() => setAsking('accept')}>
          {say('account.job.accept')}
        </Button>
      )}
      {may.reject && <Button onClick={() => setAsking('reject')}>{say('account.job.reject')}</Button>}
      {may.cancel && <Button onClick={() => setAsking('cancel')}>{say('account.job.cancel')}</Button>}
      <ConfirmDialog
        title={say('account.job.accept.title', { uid })}
        opened={asking === 'accept'}
        onClose={close}
        action={say('account.job.accept')}
        onConfirm={async () => {
          await call('acceptMyJob', { path: { uid }, body: { environment } });
          await changed();
          toast(say('account.job.accepted'));
        }}
      >
        {say('account.job.accept.text')}
      </ConfirmDialog>
      <ConfirmDialog
        title={say('account.job.cancel.title', { uid })}
        opened={asking === 'cancel'}
        onClose={close}
        action={say('account.job.cancel')}
        danger
        onConfirm={async () => {
          await call('cancelOwnJob', { path: { uid }, query: { environment } });
          await changed();
        }}
      >
        {say(job.machine_result === null ? 'account.job.cancel.text' : 'account.job.cancel.text.upgraded')}
      </ConfirmDialog>
      <Dialog title={say('account.job.reject.title', { uid })} opened={asking === 'reject'} onClose={close}>
        <p>{say(`account.job.reject.text.${environment}`)}</p>
        <Form
          onSubmit={async ({ reason = '' }) => {
            await call('rejectMyJob', { path: { uid }, body: { reason, environment } });
            await changed();
            close();
            toast(say('account.job.rejected'));
          }}
        >
          <TextField
            name="reason"
            label={say('account.job.reject.reason')}
            description={say('account.job.reject.help')}
          />
          <DialogActions>
            <Button onClick={close}>{say('ui.cancel')}</Button>
            <SubmitButton danger>{say('account.job.reject')}</SubmitButton>
          </DialogActions>
        </Form>
      </Dialog>
    </div>
  );
}
