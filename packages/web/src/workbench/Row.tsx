// biome-ignore-all lint/a11y/useSemanticElements: a grid of our own, whose rows are no table's
// biome-ignore-all lint/a11y/useFocusableInteractive: the row has the focus, or the text in it
// biome-ignore-all lint/a11y/useKeyWithClickEvents: keys are in keys.ts
/** One segment: number, source, target, status. It is drawn again when its own segment changes, and for nothing else. */
import { IconCheck, IconCircle, IconCircleFilled, IconLock, IconMessage } from '@tabler/icons-react';
import { type MouseEvent, memo, type Ref, useEffect, useMemo, useRef } from 'react';
import { useSay } from '../words.tsx';
import { settingOf, usePage, useSegment, useWorkbench } from './context.tsx';
import { type Mark, Pieces } from './Pieces.tsx';
import type { Code } from './pieces.ts';
import { Target } from './Target.tsx';
import css from './workbench.module.css';
import type { SegmentState } from './workbench.ts';

interface RowProps {
  position: number;
  index: number;
  /** Measures a row of the virtual list. */
  measure?: Ref<HTMLDivElement>;
  top?: number;
}

export const Row = memo(function Row({ position, index, measure, top }: RowProps) {
  const workbench = useWorkbench();
  const say = useSay();
  const state = useSegment(position);
  const active = usePage((page) => page.active === position);
  const moves = usePage((page) => (page.active === position ? page.moves : -1));
  const selected = usePage((page) => page.selected.has(position));
  const asked = usePage((page) => page.asked === position);
  const wanted = usePage((page) => page.find?.wanted);
  const row = useRef<HTMLDivElement>(null);
  const { job } = workbench.task;
  const { segment } = state;
  const chip = useMemo(() => (code: Code) => workbench.chip(position, code), [workbench, position]);
  const terms = useMemo(() => termsOf(workbench, state), [workbench, state]);
  const readOnly = usePage((page) => page.readOnly !== undefined);
  const live = active && segment.mine && !readOnly;

  useEffect(() => {
    if (moves <= 0) return;
    const element = row.current!;
    element.scrollIntoView({ block: 'nearest' });
    if (workbench.page.focus === 'row' || !workbench.canEdit(position))
      element.focus({ preventScroll: true });
    else if (workbench.page.plain) element.querySelector('textarea')?.focus({ preventScroll: true });
    else workbench.live.focus();
  }, [workbench, position, moves]);

  function click(event: MouseEvent): void {
    // Whoever selects words to copy them is not going anywhere.
    if (!getSelection()?.isCollapsed) return;
    if (event.target instanceof Element && event.target.closest('[data-live]')) return;
    if (active && workbench.page.focus === 'text') return;
    workbench.activate(position, segment.mine ? 'text' : 'row');
  }

  const joined = workbench.joined(position);
  return (
    <div
      ref={(element) => {
        row.current = element;
        if (typeof measure === 'function') return measure(element);
      }}
      role="row"
      className={css.row}
      data-index={index}
      data-position={position}
      data-active={active}
      data-context={!segment.mine}
      data-asked={asked}
      data-joins={joined}
      data-status={state.status}
      aria-rowindex={index + 1}
      aria-selected={selected}
      tabIndex={active ? 0 : -1}
      style={top === undefined ? undefined : { transform: `translateY(${top}px)` }}
      onClick={click}
      onFocus={(event) => {
        if (event.target === event.currentTarget && !active) workbench.activate(position, 'row');
      }}
    >
      <div role="rowheader" className={css.number}>
        {workbench.numberOf(position)}
      </div>
      <div role="gridcell" className={css.source}>
        <div className={css.text} {...settingOf(job.source_language, segment)} translate="no">
          <Pieces pieces={segment.source} chip={chip} marks={terms} wanted={wanted} />
        </div>
        <Aside state={state} />
      </div>
      <div role="gridcell" className={css.target} data-live={live || undefined}>
        <div className={css.text} {...settingOf(job.target_language, segment)} translate="no">
          {live ? (
            <Target position={position} />
          ) : (
            <Pieces pieces={state.target} chip={chip} wanted={wanted} />
          )}
        </div>
      </div>
      <div role="gridcell" className={css.status}>
        <Status state={state} />
        {state.comments > 0 && (
          <span className={css.count} title={say('workbench.comments.count', { count: state.comments })}>
            <IconMessage size={14} aria-hidden />
            <span className="visually-hidden">
              {say('workbench.comments.count', { count: state.comments })}
            </span>
          </span>
        )}
        {state.issues.length > 0 && (
          <span className={css.issues} title={say('workbench.issues.count', { count: state.issues.length })}>
            <span aria-hidden>{state.issues.length}</span>
            <span className="visually-hidden">
              {say('workbench.issues.count', { count: state.issues.length })}
            </span>
          </span>
        )}
      </div>
    </div>
  );
});

function Status({ state }: { state: SegmentState }) {
  const say = useSay();
  const { segment, status, findings } = state;
  const errors = findings?.some(({ severity }) => severity === 'error') && status !== 'open';
  if (!segment.mine) {
    return (
      <span data-tone="muted" title={say('workbench.status.context')}>
        <IconLock size={16} aria-hidden />
        <span className="visually-hidden">{say('workbench.status.context')}</span>
      </span>
    );
  }
  const Icon = status === 'confirmed' ? IconCheck : status === 'draft' ? IconCircleFilled : IconCircle;
  const words = errors ? say('workbench.status.errors') : say(`workbench.status.${status}`);
  return (
    <span data-tone={errors ? 'danger' : status} title={words}>
      <Icon size={status === 'draft' ? 12 : 16} aria-hidden />
      <span className="visually-hidden">{words}</span>
    </span>
  );
}

/** What is said of a segment below its source: by the document, why it is kept, why it has no draft. */
function Aside({ state: { segment } }: { state: SegmentState }) {
  const say = useSay();
  const lines = [
    ...segment.notes,
    ...(segment.kept === undefined ? [] : [say(`workbench.kept.${segment.kept}`)]),
    ...(segment.failure === undefined ? [] : [say('workbench.failure', { why: segment.failure })]),
  ];
  if (lines.length === 0) return null;
  return (
    <small className={css.aside} dir="auto">
      {lines.join(' · ')}
    </small>
  );
}

/** Terms of the glossary in the source: dotted until the translation has them, then solid. */
function termsOf(workbench: ReturnType<typeof useWorkbench>, { segment, target }: SegmentState): Mark[] {
  if (workbench.glossary.empty || !segment.mine) return [];
  return workbench.glossary.compare(segment.source, target).wanted.map(({ term, range, there }) => ({
    ...range,
    className: there ? css.termThere : css.term,
    title: term.doNotTranslate ? term.source : term.target,
  }));
}
