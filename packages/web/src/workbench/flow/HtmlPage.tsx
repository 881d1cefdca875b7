// biome-ignore-all lint/a11y/useSemanticElements: a scrolled page, not a fieldset
// biome-ignore-all lint/a11y/noStaticElementInteractions: a click on a sentence; keys are in keys.ts
// biome-ignore-all lint/a11y/useKeyWithClickEvents: keys are in keys.ts
/**
 * The translated HTML page, which marks the sentence of the active segment and scrolls to it. The frame takes no input,
 * so a transparent element over it receives clicks and scrolls with the page.
 */
import { useQuery } from '@tanstack/react-query';
import {
  type MouseEvent,
  type ReactNode,
  useCallback,
  useEffect,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
  useSyncExternalStore,
} from 'react';
import { FailureNotice } from '../../ui/Failure.tsx';
import { preview } from '../session/api.ts';
import { directionOf, localeOf, usePage, useWorkbench } from '../session/context.tsx';
import css from './flow.module.css';
import { type Box, PageFrame } from './page-frame.ts';
import { emptyFrame } from './preview-frame.ts';

interface Geometry {
  width: number;
  height: number;
  boxes: readonly Box[];
}

const NOWHERE: Geometry = { width: 0, height: 0, boxes: [] };

/** Where the active sentence is on the page. */
export interface Place {
  /** One box for each line of the sentence; none if the page does not show the sentence. */
  boxes: readonly Box[];
  /** The scrolled element; null before it is shown. */
  view: HTMLElement | null;
  /** True if the page is loaded but does not show the text of the segment. */
  isHidden: boolean;
}

/**
 * @param below the height below the sentence that stays in the window, in pixels
 * @param onChoose is called with the position of the segment whose sentence was clicked
 * @param onUnreadable is called if the page cannot be shown
 * @param children shown in front of the page; without children, the keyboard can scroll the page
 */
export function HtmlPage({
  title,
  below = 0,
  onChoose,
  onUnreadable,
  children,
}: {
  title: string;
  below?: number;
  onChoose: (position: number) => void;
  onUnreadable: () => void;
  children?: (place: Place) => ReactNode;
}) {
  const workbench = useWorkbench();
  const { target_language } = workbench.task.job;
  const active = usePage((page) => page.active);
  const moves = usePage((page) => page.moves);
  const textVersion = useSyncExternalStore(
    (listener) => workbench.watch('text', listener),
    () => workbench.textVersion,
  );
  const scroller = useRef<HTMLDivElement>(null);
  const frame = useRef<HTMLIFrameElement>(null);
  const [page, setPage] = useState<PageFrame>();
  const [geometry, setGeometry] = useState<Geometry>(NOWHERE);
  const direction = directionOf(target_language);
  const empty = useMemo(() => emptyFrame(localeOf(target_language), direction), [target_language, direction]);
  const { data, shown, error, refetch } = useDocument(page, onUnreadable);

  const measure = useCallback(() => {
    if (page) setGeometry({ ...page.size, boxes: page.boxesOf(active) });
  }, [page, active]);
  const follow = useCallback(() => {
    const { scrollLeft = 0, scrollTop = 0 } = scroller.current ?? {};
    page?.scrollTo(scrollLeft, scrollTop);
  }, [page]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new page begins at its top
  useLayoutEffect(follow, [follow, data]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new page or text moves the sentence
  useLayoutEffect(measure, [measure, data, textVersion]);

  useEffect(() => {
    const observer = new ResizeObserver(measure);
    observer.observe(scroller.current!);
    return () => observer.disconnect();
  }, [measure]);

  // biome-ignore lint/correctness/useExhaustiveDependencies: each move scrolls, also to the same sentence
  useLayoutEffect(() => {
    scrollTo(scroller.current!, page?.boxesOf(active) ?? [], below);
    follow();
  }, [page, active, moves, shown, follow]);

  function click(event: MouseEvent<HTMLDivElement>): void {
    if (event.target !== event.currentTarget) return;
    const origin = event.currentTarget.getBoundingClientRect();
    const position = page?.positionAt(event.clientX - origin.left, event.clientY - origin.top);
    if (position !== undefined && workbench.has(position)) onChoose(position);
  }

  if (error) return <FailureNotice error={error} onRetry={() => void refetch()} />;
  const { boxes } = geometry;
  return (
    <div
      ref={scroller}
      className={css.page}
      dir={direction}
      onScroll={follow}
      {...(children ? {} : { tabIndex: 0, role: 'group', 'aria-label': title })}
    >
      <iframe
        ref={frame}
        className={css.frame}
        title={title}
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
        {children?.({
          boxes,
          view: scroller.current,
          isHidden: data !== undefined && boxes.length === 0,
        })}
      </div>
    </div>
  );
}

/**
 * Shows the document of the server in the frame.
 *
 * @returns the query, and whether a document is shown. A request that fails later leaves this document and is no error
 */
function useDocument(page: PageFrame | undefined, onUnreadable: () => void) {
  const workbench = useWorkbench();
  const { task, job } = workbench.task;
  const savedAt = usePage((page) => (page.saving.state === 'saved' ? (page.saving.at ?? 0) : -1));
  const { data, error, refetch } = useQuery(preview(task, savedAt));
  const [shown, setShown] = useState(false);
  const unreadable = useRef(onUnreadable);
  unreadable.current = onUnreadable;
  const write = useWrite(page);
  useLayoutEffect(() => {
    if (!page || !data) return;
    const { target_language } = job;
    try {
      page.show(data.text, data.mark ?? '', localeOf(target_language), directionOf(target_language));
      write();
    } catch {
      // An element named like a DOM property, such as `attributes`, can make the document unreadable for the page's
      // code.
      return unreadable.current();
    }
    setShown(true);
  }, [page, data, job, write]);
  return { data, shown, error: shown ? null : error, refetch };
}

/**
 * Adds to the page the texts that are missing in the document from the server: the text of the active
 * segment, and texts that other editors have just confirmed. Does so again after each change of a text. If the other
 * editors withdraw a text, the page shows the draft again.
 */
function useWrite(page: PageFrame | undefined): () => void {
  const workbench = useWorkbench();
  const write = useCallback(() => {
    for (const { segment, target } of workbench.editable) {
      const { position, vote } = segment;
      const isShown =
        page?.hasWritten(position) || vote?.state === 'next' || position === workbench.page.active;
      if (isShown) page?.write(position, target);
    }
  }, [page, workbench]);
  useLayoutEffect(() => workbench.watch('text', write), [workbench, write]);
  return write;
}

/** Scrolls until a sentence and the height below it are in the window. */
function scrollTo(view: HTMLElement, boxes: readonly Box[], below: number): void {
  const [first] = boxes;
  if (first === undefined) return;
  const top = Math.min(...boxes.map((box) => box.top));
  const bottom = Math.max(...boxes.map((box) => box.top + box.height));
  const fits = top >= view.scrollTop && bottom + below <= view.scrollTop + view.clientHeight;
  if (!fits) view.scrollTop = Math.max(0, top - view.clientHeight / 4);
  if (first.left < view.scrollLeft || first.left > view.scrollLeft + view.clientWidth)
    view.scrollLeft = first.left - view.clientWidth / 4;
}
