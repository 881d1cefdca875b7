/** The questions of editors about a job, which the customer answers here. */
import { Button } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { call, query } from '../api/client.ts';
import type { JobQuery } from '../api/generated.ts';
import { useTranslate } from '../i18n.tsx';
import { useLiveUpdates } from '../live-updates.ts';
import { FailureNotice } from '../ui/Failure.tsx';
import { Form, FormActions, SubmitButton, TextField } from '../ui/form.tsx';
import { Notice } from '../ui/Notice.tsx';
import { toast } from '../ui/Toast.tsx';
import { When } from '../ui/When.tsx';
import css from './account.module.css';

/** Lists the queries of one job. Only jobs of the production environment have editors. */
export function Queries({ uid }: { uid: string }) {
  const t = useTranslate();
  const { data, error, refetch } = useQuery(query('listOwnQueries', { query: { uid } }));
  useLiveUpdates(`job:production:${uid}`, 'listOwnQueries');
  if (error !== null) return <FailureNotice error={error} onRetry={() => void refetch()} />;
  if (data === undefined || data.objects.length === 0) return null;
  return (
    <section className={css.block} aria-label={t('account.queries')}>
      <h3>{t('account.queries')}</h3>
      <ul className={css.proposals}>
        {data.objects.map((one) => (
          <li key={one.query}>
            <Question asked={one} />
          </li>
        ))}
      </ul>
    </section>
  );
}

function Question({ asked }: { asked: JobQuery }) {
  const t = useTranslate();
  const queries = useQueryClient();
  const { query: id, question, source, status, answer, asked_at } = asked;
  return (
    <>
      <p className={css.wrap} dir="auto">
        {question}
      </p>
      <small className={css.muted}>
        {t('account.queries.source')}: <bdi>{source}</bdi> · <When at={asked_at} />
      </small>
      {answer !== undefined && (
        <p className={css.wrap}>
          <b>{t('account.queries.answer')}:</b> <bdi>{answer}</bdi>
        </p>
      )}
      {status === 'closed' && <p className={css.muted}>{t('account.queries.closed')}</p>}
      {status === 'open' && (
        <Form
          onSubmit={async (values) => {
            await call('answerOwnQuery', { path: { query: id }, body: { answer: values.answer ?? '' } });
            toast(t('account.queries.sent'));
            await queries.invalidateQueries({
              predicate: ({ queryKey }) => queryKey[0] === 'listOwnQueries',
            });
          }}
        >
          <TextField name="answer" label={t('account.queries.answer')} rows={2} />
          <FormActions>
            <SubmitButton>{t('account.queries.send')}</SubmitButton>
          </FormActions>
        </Form>
      )}
    </>
  );
}

/** A notice on the list of jobs while queries of any job are open. A click opens the job of the oldest query. */
export function OpenQueries({ onOpen }: { onOpen: (uid: string) => void }) {
  const t = useTranslate();
  const { data } = useQuery(query('listOwnQueries', { query: {} }));
  const [first] = data?.objects ?? [];
  if (data === undefined || first === undefined) return null;
  return (
    <Notice
      tone="warning"
      action={<Button onClick={() => onOpen(first.uid)}>{t('account.queries.open')}</Button>}
    >
      {t('account.queries.waiting', { count: data.objects.length })}
    </Notice>
  );
}
