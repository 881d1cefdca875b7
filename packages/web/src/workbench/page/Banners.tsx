/** Notices above the grid: read-only tasks, and a task that is open in another tab. */
import { Button } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { call } from '../../api/client.ts';
import { useTranslate } from '../../i18n.tsx';
import { paths } from '../../paths.ts';
import { Notice } from '../../ui/Notice.tsx';
import { usePage, useWorkbench } from '../session/context.tsx';
import type { ReadOnly } from '../session/state.ts';
import css from '../styles/workbench.module.css';

export function Banners() {
  const readOnly = usePage((page) => page.readOnly);
  const otherTab = usePage((page) => page.otherTab);
  if (readOnly) return <ReadOnlyBanner why={readOnly} />;
  return otherTab && <OtherTabBanner />;
}

function OtherTabBanner() {
  const t = useTranslate();
  return (
    <div className={css.banner}>
      <Notice tone="warning">{t('workbench.other_tab')}</Notice>
    </div>
  );
}

function ReadOnlyBanner({ why }: { why: ReadOnly }) {
  const t = useTranslate();
  const saving = usePage((page) => page.saving);
  return (
    <div className={css.banner}>
      <Notice
        tone={why === 'lost' ? 'warning' : 'info'}
        action={(why === 'lost' || why === 'not_claimed') && <Claim />}
      >
        {t(`workbench.read_only.${why}`)}
        {saving.state === 'lost' &&
          saving.waiting > 0 &&
          ` ${t('workbench.kept', { count: saving.waiting })}`}
      </Notice>
    </div>
  );
}

function Claim() {
  const workbench = useWorkbench();
  const t = useTranslate();
  const [error, setError] = useState<Error>();
  const navigate = useNavigate();
  if (workbench.task.status !== 'open' && workbench.task.status !== 'claimed') return null;
  return (
    <>
      {error && <span>{error.message}</span>}
      <Button
        size="xs"
        variant="filled"
        onClick={() =>
          call('claimTask', { body: { task: workbench.task.task } }).then(
            () => location.reload(),
            (failed: Error) => setError(failed),
          )
        }
      >
        {t('workbench.claim')}
      </Button>
      <Button size="xs" onClick={() => void navigate({ to: paths.queue })}>
        {t('workbench.back')}
      </Button>
    </>
  );
}
