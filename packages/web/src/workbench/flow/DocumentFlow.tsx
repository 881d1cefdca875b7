// biome-ignore-all lint/a11y/useSemanticElements: an ARIA grid, not a table
// biome-ignore-all lint/a11y/noStaticElementInteractions: a click on a sentence; keys are in keys.ts
// biome-ignore-all lint/a11y/useKeyWithClickEvents: keys are in keys.ts
/**
 * The flow view of HTML: the translated page, with the row of the active segment below its sentence. The page scrolls
 * with the sheet that lies over it, because the frame takes no input.
 */
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import {
  type CSSProperties,
  type MouseEvent,
  type ReactNode,
  useCallback,
  useEffect,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
} from 'react';
import { useTranslate } from '../../i18n.tsx';
import { FailureNotice } from '../../ui/Failure.tsx';
import { preview } from '../api.ts';
import { directionOf, localeOf, usePage, useSegment, useWorkbench } from '../context.tsx';
import { framed } from '../preview-frame.ts';
import shared from '../workbench.module.css';
import css from './flow.module.css';
import { type Box, PageFrame } from './page-frame.ts';

/** The width of the card with the active row, and its distance from the edges, in pixels. */
const CARD_WIDTH = 640;
const CARD_MARGIN = 12;
/** The height that the card needs below its sentence. */
const CARD_HEIGHT = 240;

interface Geometry {
  width: number;
  height: number;
  boxes: readonly Box[];
}

const NOWHERE: Geometry = { width: 0, height: 0, boxes: [] };

/** @param children the row of the active segment */
export function DocumentFlow({ children }: { children: ReactNode }) {
  const t = useTranslate();
  const workbench = useWorkbench();
  const { task, job } = workbench.task;
  const active = usePage((page) => page.active);
  const moves = usePage((page) => page.moves);
  const savedAt = usePage((page) => (page.saving.state === 'saved' ? (page.saving.at ?? 0) : -1));
  const { data, error, refetch } = useQuery({
    ...preview(task, savedAt),
    placeholderData: keepPreviousData,
    enabled: savedAt >= 0,
    gcTime: 10_000,
  });
  const { target } = useSegment(active);
  const scroller = useRef<HTMLDivElement>(null);
  const frame = useRef<HTMLIFrameElement>(null);
  const [page, setPage] = useState<PageFrame>();
  // After the page was shown once, a failed request leaves it as it is.
  const [wasShown, setShown] = useState(false);
  const [geometry, setGeometry] = useState<Geometry>(NOWHERE);
  const [language, direction] = [localeOf(job.target_language), directionOf(job.target_language)];
  const empty = useMemo(() => framed('', language, direction), [language, direction]);

  const measure = useCallback(() => {
    if (page) setGeometry({ ...page.size, boxes: page.boxesOf(active) });
  }, [page, active]);
  const follow = useCallback(() => {
    const { scrollLeft = 0, scrollTop = 0 } = scroller.current ?? {};
    page?.scrollTo(scrollLeft, scrollTop);
  }, [page]);

  const write = useWrite(page);
  useLayoutEffect(() => {
    if (!page || !data) return;
    try {
      page.show(data.text, data.mark ?? '', language, direction);
      write();
    } catch {
      // Names of elements, such as `attributes`, can hide the functions that read the document.
      return workbench.update({ view: 'rows' });
    }
    setShown(true);
    follow();
  }, [page, data, language, direction, workbench, follow, write]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new page or text moves the sentence
  useLayoutEffect(measure, [measure, data, target]);

  useEffect(() => {
    const observer = new ResizeObserver(measure);
    observer.observe(scroller.current!);
    return () => observer.disconnect();
  }, [measure]);

  const shown = geometry.height > 0;
  // biome-ignore lint/correctness/useExhaustiveDependencies: each move scrolls, also to the same sentence
  useLayoutEffect(() => {
    scrollTo(scroller.current!, page?.boxesOf(active) ?? []);
    follow();
  }, [page, active, moves, shown, follow]);

  function click(event: MouseEvent<HTMLDivElement>): void {
    if (event.target !== event.currentTarget) return;
    const origin = event.currentTarget.getBoundingClientRect();
    const position = page?.positionAt(event.clientX - origin.left, event.clientY - origin.top);
    if (position !== undefined && workbench.has(position)) workbench.activate(position, 'text');
  }

  if (error && !wasShown) return <FailureNotice error={error} onRetry={() => void refetch()} />;
  const { boxes } = geometry;
  return (
    <div ref={scroller} className={css.page} dir={direction} onScroll={follow} data-page>
      <iframe
        ref={frame}
        className={css.frame}
        title={t('workbench.flow.page')}
        sandbox="allow-same-origin"
        referrerPolicy="no-referrer"
        scrolling="no"
        tabIndex={-1}
        aria-hidden
        inert
        srcDoc={empty}
        onLoad={() => setPage(new PageFrame(frame.current!))}
      />
      <div
        className={css.sheet}
        style={{ inlineSize: geometry.width, blockSize: geometry.height }}
        onClick={click}
      >
        {boxes.map((box) => (
          <span key={box.top} className={css.sentence} style={{ ...box }} data-sentence aria-hidden />
        ))}
        <Card boxes={boxes} view={scroller.current} isHidden={data !== undefined && boxes.length === 0}>
          {children}
        </Card>
      </div>
    </div>
  );
}

/** The row of the active segment, below its sentence. */
function Card({
  boxes,
  view,
  isHidden,
  children,
}: {
  boxes: readonly Box[];
  view: HTMLElement | null;
  /** True if the page does not show the text of the segment. */
  isHidden: boolean;
  children: ReactNode;
}) {
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

/** Scrolls until a sentence and the card below it are in the window. */
function scrollTo(view: HTMLElement, boxes: readonly Box[]): void {
  const [first] = boxes;
  if (first === undefined) return;
  const top = Math.min(...boxes.map((box) => box.top));
  const bottom = Math.max(...boxes.map((box) => box.top + box.height));
  const fits = top >= view.scrollTop && bottom + CARD_HEIGHT <= view.scrollTop + view.clientHeight;
  if (!fits) view.scrollTop = Math.max(0, top - view.clientHeight / 4);
  if (first.left < view.scrollLeft || first.left > view.scrollLeft + view.clientWidth)
    view.scrollLeft = first.left - view.clientWidth / 4;
}

/** Returns where the card stands: below its sentence, or low in the window if the page does not show the text. */
function placeOf(boxes: readonly Box[], view: HTMLElement | null): CSSProperties {
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

/** Shows the texts that the page of the server lacks: the active one and those of other editors, now and on changes. */
function useWrite(page: PageFrame | undefined): () => void {
  const workbench = useWorkbench();
  const write = useCallback(() => {
    for (const { segment, target } of workbench.editable) {
      const isArriving = segment.vote?.state === 'next';
      if (isArriving || segment.position === workbench.page.active) page?.write(segment.position, target);
    }
  }, [page, workbench]);
  useLayoutEffect(() => workbench.watch('text', write), [workbench, write]);
  return write;
}
