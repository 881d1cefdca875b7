// biome-ignore-all lint/a11y/useSemanticElements: a grid of our own, whose rows are no table's
/** The two columns. Up to some number all rows are drawn, so that the browser finds and reads them; above, a window. */
import { lazy, Suspense, useRef } from 'react';
import { part } from '../upgrade.ts';
import { useSay } from '../words.tsx';
import { useWorkbench } from './context.tsx';
import { Row } from './Row.tsx';
import css from './workbench.module.css';

/** Short tasks, which most are, need nothing of it. */
const Window = lazy(() => part(() => import('./Window.tsx')));

/** More rows than these are drawn as they are scrolled to. */
const ALL = 150;

export function Grid() {
  const workbench = useWorkbench();
  const say = useSay();
  const scroller = useRef<HTMLDivElement>(null);
  const { positions } = workbench;
  return (
    <div ref={scroller} className={css.scroller}>
      <div
        role="grid"
        aria-label={say('workbench.grid')}
        aria-rowcount={positions.length}
        aria-colcount={4}
        aria-multiselectable
        className={css.grid}
      >
        {positions.length > ALL ? (
          <Suspense>
            <Window scroller={scroller} />
          </Suspense>
        ) : (
          positions.map((position, index) => <Row key={position} position={position} index={index} />)
        )}
      </div>
    </div>
  );
}
