// biome-ignore-all lint/a11y/useSemanticElements: an ARIA grid, not a table
/** The flow view of HTML: the translated page, with the row of the active segment below its sentence. */
import type { CSSProperties, ReactNode } from 'react';
import { useTranslate } from '../../i18n.tsx';
import { usePage, useWorkbench } from '../session/context.tsx';
import shared from '../styles/workbench.module.css';
import css from './flow.module.css';
import { HtmlPage, type Place } from './HtmlPage.tsx';

/** The width of the card with the active row, and its distance from the edges, in pixels. */
const CARD_WIDTH = 640;
const CARD_MARGIN = 12;
/** The height that the card needs below its sentence. */
const CARD_HEIGHT = 240;

/** @param children the row of the active segment */
export function DocumentFlow({ children }: { children: ReactNode }) {
  const t = useTranslate();
  const workbench = useWorkbench();
  return (
    <HtmlPage
      title={t('workbench.flow.page')}
      below={CARD_HEIGHT}
      onChoose={(position) => workbench.activate(position, 'text')}
      onUnreadable={() => workbench.update({ view: 'rows' })}
    >
      {(place) => <Card {...place}>{children}</Card>}
    </HtmlPage>
  );
}

/** The row of the active segment, below its sentence. */
function Card({ boxes, view, isHidden, children }: Place & { children: ReactNode }) {
  const t = useTranslate();
  const workbench = useWorkbench();
  const focus = usePage((page) => page.focus);
  return (
    <div className={css.card} data-focus={focus} dir={document.dir} style={placeOf(boxes, view)}>
      {isHidden && <p className={shared.muted}>{t('workbench.flow.hidden')}</p>}
      <div
        role="grid"
        aria-label={t('workbench.grid')}
        aria-rowcount={workbench.positions.length}
        aria-colcount={4}
      >
        {children}
      </div>
    </div>
  );
}

/**
 * Returns the position of the card: below its sentence, or near the bottom of the window if the page does not show the
 * text.
 */
function placeOf(boxes: Place['boxes'], view: HTMLElement | null): CSSProperties {
  if (!view) return {};
  const { scrollLeft, scrollTop, clientWidth, clientHeight } = view;
  const width = Math.min(CARD_WIDTH, clientWidth - 2 * CARD_MARGIN);
  const left = boxes.length === 0 ? scrollLeft : Math.min(...boxes.map((box) => box.left));
  const top =
    boxes.length === 0
      ? scrollTop + clientHeight - CARD_HEIGHT
      : Math.max(...boxes.map((box) => box.top + box.height));
  const most = scrollLeft + clientWidth - width - CARD_MARGIN;
  return {
    '--width': `${width}px`,
    '--left': `${Math.max(scrollLeft + CARD_MARGIN, Math.min(left, most))}px`,
    '--top': `${top + CARD_MARGIN}px`,
  } as CSSProperties;
}
