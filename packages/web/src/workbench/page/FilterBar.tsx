/** The bar with the filters of the grid. */
import { CloseButton } from '@mantine/core';
import { IconListSearch } from '@tabler/icons-react';
import { type KeyboardEvent, useEffect, useRef, useSyncExternalStore } from 'react';
import { useTranslate } from '../../i18n.tsx';
import { usePage, useWorkbench } from '../session/context.tsx';
import { chooseFilter, closeFilters, FILTERS } from '../session/filters.ts';
import css from '../styles/bar.module.css';

export function FilterBar() {
  const workbench = useWorkbench();
  const t = useTranslate();
  const by = usePage((page) => page.filter?.by);
  const bar = useRef<HTMLDivElement>(null);
  useEffect(() => {
    workbench.checkAll();
    bar.current?.querySelector<HTMLElement>('[aria-pressed=true]')?.focus();
  }, [workbench]);
  useEffect(() => {
    const pressed = bar.current?.querySelector(`[data-filter=${by ?? 'all'}]`);
    pressed?.scrollIntoView({ block: 'nearest', inline: 'center' });
  }, [by]);
  const counts = useSyncExternalStore(
    (listener) => workbench.watch('filters', listener),
    () => FILTERS.map((filter) => workbench.filterCounts.of(filter)).join(),
  ).split(',');
  const choices = [
    { filter: undefined, count: workbench.positions.length },
    ...FILTERS.map((filter, index) => ({ filter, count: Number(counts[index]) })),
  ];
  return (
    <div
      ref={bar}
      className={css.filters}
      data-filters
      role="toolbar"
      aria-label={t('workbench.filter')}
      onKeyDown={(event) => {
        if (event.key === 'Escape') closeFilters(workbench);
        else moveFocus(event);
      }}
    >
      {choices.map(({ filter, count }) => (
        <button
          key={filter ?? 'all'}
          type="button"
          aria-pressed={filter === by}
          data-filter={filter ?? 'all'}
          data-empty={count === 0}
          onClick={() => chooseFilter(workbench, filter)}
        >
          {t(`workbench.filter.${filter ?? 'all'}`)} <span>{count}</span>
        </button>
      ))}
      <button
        type="button"
        className={css.findingsButton}
        onClick={() => workbench.update({ dialog: { dialog: 'findings' } })}
      >
        <IconListSearch size={16} aria-hidden /> {t('workbench.findings')}
      </button>
      <span className={css.spacer} />
      <CloseButton
        size="sm"
        aria-label={t('workbench.filter.close')}
        onClick={() => closeFilters(workbench)}
      />
    </div>
  );
}

/** Moves the focus between the buttons with the arrow keys, as in every toolbar. */
function moveFocus(event: KeyboardEvent<HTMLElement>): void {
  const { key, currentTarget } = event;
  if (key !== 'ArrowLeft' && key !== 'ArrowRight') return;
  event.preventDefault();
  const buttons = [...currentTarget.querySelectorAll('button')];
  const by = (key === 'ArrowRight') === (document.dir !== 'rtl') ? 1 : -1;
  const now = buttons.indexOf(document.activeElement as HTMLButtonElement);
  buttons.at((now + by + buttons.length) % buttons.length)?.focus();
}
