/** Renders only the visible rows and the active row of a long task. */
import { defaultRangeExtractor, useVirtualizer } from '@tanstack/react-virtual';
import { type RefObject, useEffect } from 'react';
import { ROWS_AHEAD } from '../actions/reveal.ts';
import { usePage, useWorkbench } from '../session/context.tsx';
import css from '../styles/workbench.module.css';
import { plainText } from '../text/pieces.ts';
import { Row } from './Row.tsx';

export default function VirtualRows({ scroller }: { scroller: RefObject<HTMLDivElement | null> }) {
  const workbench = useWorkbench();
  const rows = usePage(() => workbench.rows);
  const active = usePage((page) => page.active);
  const moves = usePage((page) => page.moves);
  const activeIndex = rows.indexOf(active);
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    getItemKey: (index) => rows[index]!,
    estimateSize: (index) => {
      const { segment, target } = workbench.segment(rows[index]!);
      const longest = Math.max(plainText(segment.source).length, plainText(target).length);
      return 30 + 26 * Math.max(1, Math.ceil(longest / 52));
    },
    overscan: 6,
    // Reads the current height, because the entry of a ResizeObserver may predate the latest text change.
    measureElement: (element) => (element as HTMLElement).offsetHeight,
    // The active row has the focus, so it stays rendered at any scroll position.
    rangeExtractor: (range) => {
      const shown = defaultRangeExtractor(range);
      return activeIndex < 0 || shown.includes(activeIndex)
        ? shown
        : [...shown, activeIndex].sort((a, b) => a - b);
    },
  });
  // biome-ignore lint/correctness/useExhaustiveDependencies: each move scrolls, also to the same row
  useEffect(() => {
    const { range } = virtual;
    if (activeIndex < 0 || !range) return;
    const ahead = Math.min(activeIndex + ROWS_AHEAD, rows.length - 1);
    // Scrolls only to a row that is not rendered; `reveal` scrolls to rendered rows.
    if (ahead > range.endIndex) virtual.scrollToIndex(ahead, { align: 'end' });
    else if (activeIndex < range.startIndex)
      virtual.scrollToIndex(Math.max(0, activeIndex - 1), { align: 'start' });
  }, [virtual, activeIndex, moves]);
  return (
    <div role="presentation" className={css.window} style={{ blockSize: virtual.getTotalSize() }}>
      {virtual.getVirtualItems().map(({ index, start, key }) => (
        <Row key={key} position={rows[index]!} index={index} top={start} measure={virtual.measureElement} />
      ))}
    </div>
  );
}
