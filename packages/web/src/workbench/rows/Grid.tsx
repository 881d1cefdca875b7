// biome-ignore-all lint/a11y/useSemanticElements: an ARIA grid, not a table
/** The grid of segments. Short tasks render all rows, so that the browser's search and screen readers reach them. */
import { lazy, Suspense, useRef } from 'react';
import { useTranslate } from '../../i18n.tsx';
import { loadChunk } from '../../upgrade.ts';
import { useFlow, usePage, useWorkbench } from '../session/context.tsx';
import { chooseFilter } from '../session/filters.ts';
import css from '../styles/workbench.module.css';
import { useOverlays } from './overlays-context.ts';
import { Row } from './Row.tsx';

/** The rows of a long task. The browser loads this code only when it opens a long task. */
const VirtualRows = lazy(() => loadChunk(() => import('./VirtualRows.tsx')));

/**
 * The maximum number of segments of a task whose rows are all rendered. A longer task renders only the
 * visible rows.
 */
const MAX_RENDERED_ROWS = 150;

export function Grid() {
  const workbench = useWorkbench();
  const t = useTranslate();
  const scroller = useRef<HTMLDivElement>(null);
  const filter = usePage((page) => page.filter);
  const flow = useFlow();
  const { subtitlesClass } = useOverlays();
  const rows = usePage(() => workbench.rows);
  if (filter && rows.length === 0) return <NoMatch />;
  return (
    <div
      // A new key in each view makes the grid measure its rows again, because their height depends on the
      // view.
      key={flow ? 'flow' : 'rows'}
      ref={scroller}
      className={`${css.scroller} ${flow ? subtitlesClass : ''}`}
      data-scroller
    >
      <div
        role="grid"
        aria-label={t('workbench.grid')}
        aria-rowcount={rows.length}
        aria-colcount={4}
        aria-multiselectable
        className={css.grid}
        data-filtered={filter !== undefined}
      >
        {rows.length > MAX_RENDERED_ROWS ? (
          <Suspense>
            <VirtualRows scroller={scroller} />
          </Suspense>
        ) : (
          rows.map((position, index) => <Row key={position} position={position} index={index} />)
        )}
      </div>
    </div>
  );
}

/** Shows that no segment matches the filter. */
function NoMatch() {
  const workbench = useWorkbench();
  const t = useTranslate();
  return (
    <div className={css.noMatch} data-scroller>
      <p>{t('workbench.filter.none')}</p>
      <button type="button" onClick={() => chooseFilter(workbench, undefined)}>
        {t('workbench.filter.all')}
      </button>
    </div>
  );
}
