/** What failed, by which id the operator finds it, and a way to try again. */
import { Button } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useRouter } from '@tanstack/react-router';
import { CallError, OFFLINE } from '../api/client.ts';
import { HOMES, paths } from '../paths.ts';
import { usePerson } from '../session.ts';
import { NewVersion } from '../upgrade.ts';
import { useSay } from '../words.tsx';
import css from './Empty.module.css';
import { Link } from './Link.tsx';
import { Notice } from './Notice.tsx';
import { Page } from './Page.tsx';

/** Refusals that people meet, in their language. */
const EXPLAINED = [
  'wrong_sign_in',
  'not_signed_in',
  'too_many_attempts',
  'conflict',
  'not_found',
  'too_large',
  'nothing_waits',
  'task_taken',
  'too_many_claims',
  'claims_paused',
] as const;

function isExplained(code: string): code is (typeof EXPLAINED)[number] {
  return (EXPLAINED as readonly string[]).includes(code);
}

/** The sentence for a person. The server's own is shown where ours would know less. */
export function useExplain(): (error: Error) => string {
  const say = useSay();
  return (error) => {
    if (error instanceof NewVersion) return say('ui.failure.version');
    if (!(error instanceof CallError)) return say('ui.failure.fault');
    if (error.code === OFFLINE) return say('ui.failure.offline');
    if (error.status >= 500) return say('ui.failure.server');
    return isExplained(error.code) ? say(`error.${error.code}`) : error.message;
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
