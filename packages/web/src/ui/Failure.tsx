/** What failed, by which id the operator finds it, and a way to try again. */
import { Button } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useRouter } from '@tanstack/react-router';
import { useIntl } from 'react-intl';
import { CallError, OFFLINE } from '../api/client.ts';
import type { FieldReason, OwnJob, WebErrorCode } from '../api/generated.ts';
import { HOMES, paths } from '../paths.ts';
import { usePerson } from '../session.ts';
import { NewVersion } from '../upgrade.ts';
import { useSay } from '../words.tsx';
import css from './Empty.module.css';
import { Link } from './Link.tsx';
import { Notice } from './Notice.tsx';
import { Page } from './Page.tsx';

/**
 * What is wrong with each field, in the language of its reader. The server's English stands where there is no code, or
 * one that this page, older than its server, does not know.
 */
export function useFields(): (error: CallError) => Record<string, string> {
  const say = useSay();
  const { messages } = useIntl();
  return ({ fields, reasons }) =>
    Object.fromEntries(
      Object.entries(fields).map(([name, sentence]) => {
        const { code, ...values } = reasons[name] ?? { code: '' };
        const id = `reason.${code as FieldReason}` as const;
        return [name, messages[id] === undefined ? sentence : say(id, inWords(values))];
      }),
    );

  function inWords(values: Record<string, unknown>) {
    const { status, ...rest } = values as Record<string, string | number>;
    const id = `status.${status as OwnJob['status']}` as const;
    return { ...rest, status: messages[id] === undefined ? status : say(id) };
  }
}

/** The sentence for a person. The server's own is shown where ours would know less. */
export function useExplain(): (error: Error) => string {
  const say = useSay();
  const { messages } = useIntl();
  const fieldsOf = useFields();
  return (error) => {
    if (error instanceof NewVersion) return say('ui.failure.version');
    if (!(error instanceof CallError)) return say('ui.failure.fault');
    if (error.code === OFFLINE) return say('ui.failure.offline');
    if (error.code === 'invalid_request') {
      if (Object.keys(error.reasons).length > 0) return Object.values(fieldsOf(error)).join(' ');
      return error.message === '' ? say('error.invalid_request') : error.message;
    }
    const id = `error.${error.code as WebErrorCode}` as const;
    if (messages[id] !== undefined) return say(id);
    return error.status >= 500 ? say('ui.failure.server') : error.message;
  };
}

/** In the place of what could not be read. @param onRetry asks again */
export function FailureNotice({ error, onRetry }: { error: Error; onRetry?: () => void }) {
  const say = useSay();
  const explain = useExplain();
  const id = error instanceof CallError ? error.requestId : undefined;
  return (
    <Notice
      tone="danger"
      action={
        onRetry && (
          <Button size="xs" onClick={onRetry}>
            {say('ui.retry')}
          </Button>
        )
      }
    >
      {explain(error)} {id !== undefined && <small>{say('ui.failure.request', { id })}</small>}
    </Notice>
  );
}

/** In the place of a page that could not be read. */
export function Failure({ error, reset }: { error: Error; reset?: (() => void) | undefined }) {
  const say = useSay();
  const router = useRouter();
  const queries = useQueryClient();
  async function retry(): Promise<void> {
    if (error instanceof NewVersion) return location.reload();
    await queries.resetQueries({ predicate: (query) => query.state.status === 'error' });
    reset?.();
    await router.invalidate();
  }
  if (error instanceof CallError && error.status === 404) return <NotFound />;
  return (
    <Page title={say('ui.failure.title')} prose>
      <FailureNotice error={error} onRetry={() => void retry()} />
    </Page>
  );
}

export function NotFound() {
  const say = useSay();
  const person = usePerson();
  return (
    <Page title={say('ui.not_found.title')} prose>
      <p className={css.muted}>{say('ui.not_found.text')}</p>
      <p>
        <Link to={person === undefined ? paths.signIn : HOMES[person.role]}>{say('ui.not_found.home')}</Link>
      </p>
    </Page>
  );
}
