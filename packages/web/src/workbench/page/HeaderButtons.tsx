/** The buttons of the header for findings and filters, and the menu's checkbox for word completion. */
import { Button } from '@mantine/core';
import { IconAlertTriangle, IconFilter } from '@tabler/icons-react';
import { useSyncExternalStore } from 'react';
import { useTranslate } from '../../i18n.tsx';
import { pressAction } from '../actions/actions.ts';
import { completes, setCompletes, watchCompletes } from '../actions/completing.ts';
import { ariaKeys, hintOf } from '../actions/keys.ts';
import { mac, useMatching, usePage, useWorkbench } from '../session/context.tsx';
import { closeFilters } from '../session/filters.ts';
import css from '../styles/workbench.module.css';

/** Opens the list of findings. The button shows how many segments have findings. */
export function FindingsButton() {
  const workbench = useWorkbench();
  const t = useTranslate();
  const count = useMatching('findings');
  if (count === 0) return null;
  const name = t('workbench.findings.segments', { count });
  return (
    <Button
      size="xs"
      variant="subtle"
      px={8}
      className={css.findingsCount!}
      aria-label={name}
      title={name}
      onClick={() => workbench.update({ dialog: { dialog: 'findings' } })}
    >
      <IconAlertTriangle size={18} aria-hidden />
      <span className={css.findingsNumber}>{count}</span>
    </Button>
  );
}

export function FilterButton() {
  const workbench = useWorkbench();
  const t = useTranslate();
  const filtering = usePage((page) => page.filtering);
  return (
    <Button
      size="xs"
      variant="subtle"
      px={8}
      aria-expanded={filtering}
      aria-keyshortcuts={ariaKeys('filter', mac)}
      title={`${t('workbench.filter')} (${hintOf('filter', mac).join('+')})`}
      aria-label={t('workbench.filter')}
      onClick={() => (filtering ? closeFilters(workbench) : pressAction(workbench, 'filter'))}
    >
      <IconFilter size={18} aria-hidden />
    </Button>
  );
}

/** Switches word completion on and off in this browser. */
export function CompletionSwitch() {
  const t = useTranslate();
  const on = useSyncExternalStore(watchCompletes, completes);
  return (
    <label>
      <input type="checkbox" checked={on} onChange={(event) => setCompletes(event.currentTarget.checked)} />
      {t('workbench.completion')}
    </label>
  );
}
