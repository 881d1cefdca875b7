/** Errors: their message, the request id and a button to try again. */
import { EncodingError } from '@dragoman/documents/encodings';
import { Button } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useRouter } from '@tanstack/react-router';
import { useIntl } from 'react-intl';
import { CallError, OFFLINE } from '../api/client.ts';
import type { FieldReason, OwnJob, WebErrorCode } from '../api/generated.ts';
import { useTranslate } from '../i18n.tsx';
import { HOMES, paths } from '../paths.ts';
import { useUser } from '../session.ts';
import { NewVersionError } from '../upgrade.ts';
import css from './Empty.module.css';
import { Link } from './Link.tsx';
import { Notice } from './Notice.tsx';
import { Page } from './Page.tsx';

/**
 * Returns the function that translates the errors of fields into the app's language. If an error has no code, or a
 * code that this page does not know because the server is newer, the function returns the server's English message.
 */
export function useFieldErrors(): (error: CallError) => Record<string, string> {
  const t = useTranslate();
  const { messages } = useIntl();
  return ({ fields, reasons }) =>
    Object.fromEntries(
      Object.entries(fields).map(([name, sentence]) => {
        const { code, ...values } = reasons[name] ?? { code: '' };
        const id = `reason.${code as FieldReason}` as const;
        return [name, messages[id] === undefined ? sentence : t(id, withStatusName(values))];
      }),
    );

  function withStatusName(values: Record<string, unknown>) {
    const { status, ...rest } = values as Record<string, string | number>;
    const id = `status.${status as OwnJob['status']}` as const;
    return { ...rest, status: messages[id] === undefined ? status : t(id) };
  }
}

/**
 * Returns the function that translates an error into the app's language. For an unknown code, it returns the server's
 * message.
 */
export function useErrorMessage(): (error: Error) => string {
  const t = useTranslate();
  const { messages } = useIntl();
  const fieldsOf = useFieldErrors();
  return (error) => {
    if (error instanceof NewVersionError) return t('ui.failure.version');
    if (error instanceof EncodingError) return t('ui.failure.encoding');
    if (!(error instanceof CallError)) return t('ui.failure.fault');
    if (error.code === OFFLINE) return t('ui.failure.offline');
    if (error.code === 'invalid_request') {
      if (Object.keys(error.reasons).length > 0) return Object.values(fieldsOf(error)).join(' ');
      return error.message === '' ? t('error.invalid_request') : error.message;
    }
    const id = `error.${error.code as WebErrorCode}` as const;
    if (messages[id] !== undefined) return t(id);
    return error.status >= 500 ? t('ui.failure.server') : error.message;
  };
}

/** Shown instead of data that could not be loaded. */
export function FailureNotice({ error, onRetry }: { error: Error; onRetry?: () => void }) {
  const t = useTranslate();
  const messageOf = useErrorMessage();
  const id = error instanceof CallError ? error.requestId : undefined;
  return (
    <Notice
      tone="danger"
      action={
        onRetry && (
          <Button size="xs" onClick={onRetry}>
            {t('ui.retry')}
          </Button>
        )
      }
    >
      {messageOf(error)} {id !== undefined && <small>{t('ui.failure.request', { id })}</small>}
    </Notice>
  );
}

/** Shown instead of a page that could not be loaded. */
export function Failure({ error, reset }: { error: Error; reset?: (() => void) | undefined }) {
  const t = useTranslate();
  const router = useRouter();
  const queries = useQueryClient();
  async function retry(): Promise<void> {
    if (error instanceof NewVersionError) return location.reload();
    await queries.resetQueries({ predicate: (query) => query.state.status === 'error' });
    reset?.();
    await router.invalidate();
  }
  if (error instanceof CallError && error.status === 404) return <NotFound />;
  return (
    <Page title={t('ui.failure.title')} prose>
      <FailureNotice error={error} onRetry={() => void retry()} />
    </Page>
  );
}

export function NotFound() {
  const t = useTranslate();
  const user = useUser();
  return (
    <Page title={t('ui.not_found.title')} prose>
      <p className={css.muted}>{t('ui.not_found.text')}</p>
      <p>
        <Link to={user === undefined ? paths.signIn : HOMES[user.role]}>{t('ui.not_found.home')}</Link>
      </p>
    </Page>
  );
}
