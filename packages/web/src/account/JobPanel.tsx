/** The side panel of one job: texts, timeline, deliveries and actions. */
import { Button } from '@mantine/core';
import { IconDownload } from '@tabler/icons-react';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { call, hrefOf, query } from '../api/client.ts';
import type { OwnJobDetail, OwnJobText } from '../api/generated.ts';
import { useTranslate } from '../i18n.tsx';
import { hasProgress, JobProgress } from '../JobProgress.tsx';
import { type DraftingProgress, useLiveUpdates } from '../live-updates.ts';
import { paths } from '../paths.ts';
import { useUser } from '../session.ts';
import { CopyBlock, CopyButton } from '../ui/CopyButton.tsx';
import { ConfirmDialog, Dialog, DialogActions, SidePanel } from '../ui/Dialog.tsx';
import { DiscountedPrice } from '../ui/Discounts.tsx';
import { Facts } from '../ui/Facts.tsx';
import { FailureNotice } from '../ui/Failure.tsx';
import { Form, SubmitButton, TextField } from '../ui/form.tsx';
import { Link } from '../ui/Link.tsx';
import { Notice } from '../ui/Notice.tsx';
import { Pair } from '../ui/Pair.tsx';
import { Lines } from '../ui/Skeleton.tsx';
import { StatusBadge } from '../ui/StatusBadge.tsx';
import { toast } from '../ui/Toast.tsx';
import { When } from '../ui/When.tsx';
import css from './account.module.css';
import type { Environment } from './environment.tsx';
import { Queries } from './Queries.tsx';
import { readJob } from './snippets.ts';

interface JobPanelProps {
  /** The uid of the open job; undefined while the panel is closed. */
  uid: string | undefined;
  environment: Environment;
  onClose(): void;
}

export function JobPanel({ uid, environment, onClose }: JobPanelProps) {
  const t = useTranslate();
  return (
    <SidePanel title={t('account.job')} opened={uid !== undefined} onClose={onClose} wide>
      {uid !== undefined && <Job key={uid} uid={uid} environment={environment} />}
    </SidePanel>
  );
}

function Job({ uid, environment }: { uid: string; environment: Environment }) {
  const t = useTranslate();
  const { data, error, refetch } = useQuery(query('readOwnJob', { path: { uid }, query: { environment } }));
  const drafted = useLiveUpdates(`job:${environment}:${uid}`, 'readOwnJob');
  if (error !== null) return <FailureNotice error={error} onRetry={() => void refetch()} />;
  if (data === undefined) {
    return (
      <div className={css.block} role="status" aria-label={t('ui.loading')}>
        <Lines count={8} />
      </div>
    );
  }
  return <JobDetails job={data} drafted={drafted} />;
}

function JobDetails({ job, drafted }: { job: OwnJobDetail; drafted: DraftingProgress | undefined }) {
  const t = useTranslate();
  const username = useUser()?.account ?? '';
  const code = (value: string) => (
    <>
      <bdi>{value}</bdi> <CopyButton text={value} what="uid" />
    </>
  );
  return (
    <>
      <Actions job={job} />
      {job.environment === 'production' && job.tier === 'human' && <Queries uid={job.uid} />}
      <Notices job={job} />
      <Facts
        facts={[
          ...(job.name === null ? [] : [{ label: t('account.job.file'), value: <bdi>{job.name}</bdi> }]),
          { label: 'uid', value: code(job.uid) },
          { label: t('account.status'), value: <StatusBadge status={job.status} /> },
          ...(hasProgress(job)
            ? [{ label: t('job.progress'), value: <JobProgress job={job} drafted={drafted} /> }]
            : []),
          {
            label: t('account.pair'),
            value: <Pair of={job} />,
          },
          { label: t('account.tier'), value: t(`account.tier.${job.tier}`) },
          { label: t('queue.words'), value: job.words },
          ...(job.edited_words === null
            ? []
            : [
                { label: t('job.words.opened'), value: job.edited_words.opened },
                { label: t('job.words.voted'), value: job.edited_words.voted },
              ]),
          { label: t('account.price'), value: <DiscountedPrice of={job} /> },
          { label: t('account.created'), value: <When at={job.created_at} /> },
          ...(job.brand === null ? [] : [{ label: t('account.brand'), value: <bdi>{job.brand}</bdi> }]),
          ...(job.tone === null ? [] : [{ label: t('account.tone'), value: t('tone', { tone: job.tone }) }]),
        ]}
      />
      <div className={css.beside}>
        <Block title={t('account.job.source')}>
          <Text text={job.source} language={job.source_language} label={t('account.job.source')} />
        </Block>
        {job.machine_result !== null && (
          <Block title={t('account.job.machine_result')}>
            <Text
              text={job.machine_result}
              language={job.target_language}
              label={t('account.job.machine_result')}
            />
          </Block>
        )}
        {job.result !== null && (
          <Block title={t('account.job.result')}>
            <Text text={job.result} language={job.target_language} label={t('account.job.result')} />
          </Block>
        )}
      </div>
      <Block title={t('account.job.timeline')}>
        <ol className={css.steps}>
          {job.timeline.map(({ at, status, actor, detail }) => (
            <li key={`${at} ${status}`} className={css.step}>
              <StatusBadge status={status} />
              <span>{t(`account.actor.${actor}`)}</span>
              <span className={css.muted}>
                <When at={at} />
              </span>
              {detail !== undefined && <span className={css.wrap}>{detail}</span>}
            </li>
          ))}
        </ol>
      </Block>
      {job.deliveries.length > 0 && (
        <Block title={t('account.deliveries.title')}>
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
      <Block title={t('account.job.curl')}>
        <CopyBlock
          text={readJob(job.environment, job.tier, job.uid, `${username}:…`)}
          what={t('account.job.curl')}
        />
      </Block>
    </>
  );
}

function Notices({ job: { failure, untranslated } }: { job: OwnJobDetail }) {
  const t = useTranslate();
  if (failure !== null) return <Notice tone="danger">{failure}</Notice>;
  if (untranslated === 0) return null;
  return <Notice tone="warning">{t('account.job.untranslated', { count: untranslated })}</Notice>;
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
  const t = useTranslate();
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, also by keyboard */}
      <section className={css.text} lang={language} dir="auto" tabIndex={0} aria-label={label}>
        {text.text}
      </section>
      {text.cut && <p className={css.muted}>{t('account.job.cut')}</p>}
    </>
  );
}

/** The buttons to cancel, accept or reject the job, if its status allows this. */
function Actions({ job }: { job: OwnJobDetail }) {
  const t = useTranslate();
  const queries = useQueryClient();
  const [confirming, setConfirming] = useState<'accept' | 'cancel' | 'reject'>();
  const close = () => setConfirming(undefined);
  const { uid, environment, may } = job;
  const hasResult = job.result !== null;
  const title = { uid: job.name ?? uid };
  const changed = () =>
    queries.invalidateQueries({
      predicate: ({ queryKey }) =>
        ['readOwnJob', 'listOwnJobs', 'readOwnAccount'].includes(String(queryKey[0])),
    });
  if (!hasResult && !may.cancel && !may.accept && !may.reject) return null;
  return (
    <div className={css.buttons}>
      {hasResult && (
        <Button
          component="a"
          href={hrefOf('downloadOwnResult', { path: { uid }, query: { environment } })}
          download
          leftSection={<IconDownload size={16} aria-hidden />}
        >
          {t('account.job.download')}
        </Button>
      )}
      {may.accept && (
        <Button variant="filled" onClick={() => setConfirming('accept')}>
          {t('account.job.accept')}
        </Button>
      )}
      {may.reject && <Button onClick={() => setConfirming('reject')}>{t('account.job.reject')}</Button>}
      {may.cancel && <Button onClick={() => setConfirming('cancel')}>{t('account.job.cancel')}</Button>}
      <ConfirmDialog
        title={t('account.job.accept.title', title)}
        opened={confirming === 'accept'}
        onClose={close}
        action={t('account.job.accept')}
        onConfirm={async () => {
          await call('acceptMyJob', { path: { uid }, body: { environment } });
          await changed();
          toast(t('account.job.accepted'));
        }}
      >
        {t('account.job.accept.text')}
      </ConfirmDialog>
      <ConfirmDialog
        title={t('account.job.cancel.title', title)}
        opened={confirming === 'cancel'}
        onClose={close}
        action={t('account.job.cancel')}
        danger
        onConfirm={async () => {
          await call('cancelOwnJob', { path: { uid }, query: { environment } });
          await changed();
        }}
      >
        {t(job.machine_result === null ? 'account.job.cancel.text' : 'account.job.cancel.text.upgraded')}
      </ConfirmDialog>
      <Dialog title={t('account.job.reject.title', title)} opened={confirming === 'reject'} onClose={close}>
        <p>{t(`account.job.reject.text.${environment}`)}</p>
        <Form
          onSubmit={async ({ reason = '' }) => {
            await call('rejectMyJob', { path: { uid }, body: { reason, environment } });
            await changed();
            close();
            toast(t('account.job.rejected'));
          }}
        >
          <TextField
            name="reason"
            label={t('account.job.reject.reason')}
            description={t('account.job.reject.help')}
          />
          <DialogActions>
            <Button onClick={close}>{t('ui.cancel')}</Button>
            <SubmitButton danger>{t('account.job.reject')}</SubmitButton>
          </DialogActions>
        </Form>
      </Dialog>
    </div>
  );
}
