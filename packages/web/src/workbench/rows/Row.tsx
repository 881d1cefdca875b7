// biome-ignore-all lint/a11y/useSemanticElements: an ARIA grid, not a table
// biome-ignore-all lint/a11y/useFocusableInteractive: the row or the text in it has the focus
// biome-ignore-all lint/a11y/useKeyWithClickEvents: keys are in keys.ts
/** The row of one segment: number, source, target, status. It renders again only when its own segment changes. */
import { IconEyeOff, IconHelp, IconMessage, IconMessageQuestion } from '@tabler/icons-react';
import {
  type FocusEvent,
  type KeyboardEvent,
  type MouseEvent,
  memo,
  type RefObject,
  useCallback,
  useEffect,
  useMemo,
  useRef,
} from 'react';
import { useTranslate } from '../../i18n.tsx';
import { useEngineFailure } from '../../ui/engine-failure.ts';
import { entersText } from '../actions/keys.ts';
import { reveal } from '../actions/reveal.ts';
import type { Finding } from '../session/checking.ts';
import { mac, settingOf, useFlow, usePage, useSegment, useWorkbench } from '../session/context.tsx';
import { useSentence } from '../session/sentences.ts';
import type { SegmentState } from '../session/state.ts';
import css from '../styles/workbench.module.css';
import { type Mark, Pieces } from '../text/Pieces.tsx';
import { type Code, plainText, type Range, withBreaks, withoutCuts } from '../text/pieces.ts';
import { useOverlays } from './overlays-context.ts';
import { Status } from './Status.tsx';
import { Target } from './Target.tsx';

interface RowProps {
  position: number;
  index: number;
  /** Measures the row for the virtual list, and observes its height until it is called with null. */
  measure?: (element: HTMLDivElement | null) => void;
  top?: number;
}

export const Row = memo(function Row({ position, index, measure, top }: RowProps) {
  const workbench = useWorkbench();
  const { CueTime, DoubtNote, ElementLabel, Origin, RowFooter } = useOverlays();
  const state = useSegment(position);
  const active = usePage((page) => page.active === position);
  const moves = usePage((page) => (page.active === position ? page.moves : -1));
  const selected = usePage((page) => page.selected.has(position));
  const blocked = usePage((page) => page.blocked === position);
  const highlight = usePage((page) => page.find?.query);
  const collapsed = usePage((page) => page.collapsed);
  const row = useRef<HTMLDivElement>(null);
  const { job } = workbench.task;
  const { segment } = state;
  const source = useMemo(() => withBreaks(segment.source, segment.breaks), [segment]);
  const describe = useMemo(
    () => (code: Code) => workbench.describeCode(position, code),
    [workbench, position],
  );
  const { inSource, inTarget } = useFindingMarks(state);
  const issues = useMemo(() => issueMarks(workbench, state), [workbench, state]);
  const terms = useMemo(() => termsOf(workbench, state), [workbench, state]);
  const readOnly = usePage((page) => page.readOnly !== undefined);
  const editing = active && segment.mine && !readOnly;
  const flow = useFlow();

  const attach = useMeasuredRef(row, measure);
  const events = useRowEvents(position, active, editing);
  useFocus(row, position, moves);

  return (
    <div
      ref={attach}
      role="row"
      className={css.row}
      data-index={index}
      data-position={position}
      data-active={active}
      data-flow={flow || undefined}
      data-context={!segment.mine}
      data-asked={blocked}
      data-joins={workbench.inParagraph(position)}
      data-status={state.status}
      data-arrived={state.arrived || undefined}
      data-seen={state.seen}
      aria-rowindex={index + 1}
      aria-selected={selected}
      tabIndex={active ? 0 : -1}
      style={top === undefined ? undefined : { transform: `translateY(${top}px)` }}
      onAnimationEnd={() => state.arrived && workbench.change(position, { arrived: false })}
      {...events}
    >
      <div role="rowheader" className={css.number}>
        {workbench.numberOf(position)}
        {segment.joined_to !== undefined && `–${workbench.numberOf(segment.joined_to)}`}
        {flow && segment.time ? <CueTime state={state} /> : <ElementLabel segment={segment} />}
      </div>
      <div role="gridcell" className={css.source}>
        <div className={css.text} {...settingOf(job.source_language, segment)} translate="no" data-source>
          <Pieces
            pieces={source}
            describe={describe}
            marks={[...terms, ...inSource]}
            highlight={highlight}
            collapsed={collapsed}
          />
        </div>
        <Notes state={state} />
      </div>
      <div role="gridcell" className={css.target} data-target data-live={editing || undefined}>
        <div className={css.text} {...settingOf(job.target_language, segment)} translate="no">
          {editing ? (
            <Target position={position} />
          ) : (
            <Pieces
              pieces={state.target}
              describe={describe}
              marks={[...issues, ...inTarget]}
              highlight={highlight}
              collapsed={collapsed}
            />
          )}
        </div>
        {editing && <RowFooter position={position} />}
        {flow && editing && <DoubtNote position={position} />}
      </div>
      <div role="gridcell" className={css.status}>
        <Origin state={state} />
        <Status state={state} />
        <Unseen state={state} />
        <Counts state={state} />
      </div>
    </div>
  );
});

/**
 * Returns a ref that also measures the element. It is the same function in each rendering, because a measurement makes
 * the browser compute the layout at once. The virtual list observes later changes of the height.
 */
function useMeasuredRef(row: RefObject<HTMLDivElement | null>, measure: RowProps['measure']) {
  return useCallback(
    (element: HTMLDivElement | null) => {
      row.current = element;
      measure?.(element);
    },
    [row, measure],
  );
}

/**
 * Handles events of a row. A click activates the row. A click into its text, or a character typed on the row,
 * moves the focus into the text.
 */
function useRowEvents(position: number, active: boolean, editing: boolean) {
  const workbench = useWorkbench();
  const pressed = useRef(false);

  function click(event: MouseEvent): void {
    pressed.current = false;
    // The user has selected words to copy them, so the row is not activated.
    if (!getSelection()?.isCollapsed) return;
    if (event.target instanceof Element && event.target.closest('[data-live], button')) return;
    if (active && workbench.page.focus === 'text') return;
    workbench.activate(position, workbench.segment(position).segment.mine ? 'text' : 'row');
    if (event.target instanceof Element && event.target.closest('[data-target]'))
      workbench.editor.placeCaret(event.clientX, event.clientY);
  }

  function focus(event: FocusEvent): void {
    if (event.target !== event.currentTarget) {
      // A click into the text moves the focus from the row into the text.
      if (active && editing && event.target.closest('[data-live]')) workbench.focusText();
    } else if (!active && !pressed.current) {
      // A press of the pointer alone does not activate the row, because that would replace the pressed
      // element. The click that follows activates the row.
      workbench.activate(position, 'row');
    }
  }

  function press(event: KeyboardEvent): void {
    // Shortcuts of rows, such as Space, were handled before this event.
    if (event.target !== event.currentTarget || !editing || !entersText(event.nativeEvent, mac)) return;
    // The text has the focus now, so the browser writes the character into the text, or selects all of it.
    workbench.activate(position, 'text');
  }

  return {
    onPointerDown: () => {
      pressed.current = true;
    },
    onPointerUp: () => {
      pressed.current = false;
    },
    onPointerCancel: () => {
      pressed.current = false;
    },
    onClick: click,
    onFocus: focus,
    onKeyDown: press,
  };
}

/**
 * Scrolls to the active row after each move and focuses the row or its text. While the search moves through its matches,
 * the focus stays in the search.
 *
 * @param moves the number of moves on this page; -1 when the row is not active
 */
function useFocus(row: RefObject<HTMLDivElement | null>, position: number, moves: number): void {
  const workbench = useWorkbench();
  useEffect(() => {
    if (moves <= 0) return;
    const element = row.current!;
    const { focus, plain } = workbench.page;
    reveal(element);
    if (focus === 'search' && document.activeElement?.closest('search')) return;
    if (focus === 'row' || !workbench.canEdit(position)) element.focus({ preventScroll: true });
    else if (plain) element.querySelector('textarea')?.focus({ preventScroll: true });
    else workbench.editor.focus();
  }, [workbench, row, position, moves]);
}

/** Shows that the reviewer has not seen a segment, or only an earlier target of it. */
function Unseen({ state: { seen, lastSeen } }: { state: SegmentState }) {
  const t = useTranslate();
  if (seen) return null;
  const words = t(`workbench.seen.${lastSeen ? 'changed' : 'unseen'}`);
  return (
    <span className={css.unseen} data-changed={lastSeen !== undefined} title={words}>
      <IconEyeOff size={14} aria-hidden />
      <span className="visually-hidden">{words}</span>
    </span>
  );
}

/** Shows whether a segment is marked as unsure, and how many comments and issues it has. */
function Counts({ state }: { state: SegmentState }) {
  const t = useTranslate();
  return (
    <>
      {state.asked && (
        <span className={css.unsure} title={t('workbench.asked')}>
          <IconMessageQuestion size={16} aria-hidden />
          <span className="visually-hidden">{t('workbench.asked')}</span>
        </span>
      )}
      {state.unsure && (
        <span className={css.unsure} title={t('workbench.unsure')}>
          <IconHelp size={16} aria-hidden />
          <span className="visually-hidden">{t('workbench.unsure')}</span>
        </span>
      )}
      {state.comments > 0 && (
        <span className={css.count} title={t('workbench.comments.count', { count: state.comments })}>
          <IconMessage size={14} aria-hidden />
          <span className="visually-hidden">{t('workbench.comments.count', { count: state.comments })}</span>
        </span>
      )}
      {state.issues.length > 0 && (
        <span className={css.issues} title={t('workbench.issues.count', { count: state.issues.length })}>
          <span aria-hidden>{state.issues.length}</span>
          <span className="visually-hidden">
            {t('workbench.issues.count', { count: state.issues.length })}
          </span>
        </span>
      )}
    </>
  );
}

/**
 * Shows below the source: the notes of the document and of the draft, why the segment is not translated, and why it has
 * no draft.
 */
function Notes({ state: { segment } }: { state: SegmentState }) {
  const t = useTranslate();
  const failureOf = useEngineFailure();
  const lines = [
    ...segment.notes,
    ...segment.draft_notes.map(({ code, term = '' }) => t(`workbench.note.${code}`, { term })),
    ...(segment.kept === undefined ? [] : [t(`workbench.kept.${segment.kept}`)]),
    ...(segment.failure === undefined ? [] : [t('workbench.failure', { why: failureOf(segment.failure) })]),
  ];
  if (lines.length === 0) return null;
  return (
    <small className={css.aside} dir="auto">
      {lines.join(' · ')}
    </small>
  );
}

/**
 * Returns the marks of glossary terms in the source. The underline of a term is dotted while the target lacks
 * the term, and solid when the target has it.
 */
function termsOf(workbench: ReturnType<typeof useWorkbench>, { segment, target }: SegmentState): Mark[] {
  if (workbench.glossary.empty || !segment.mine) return [];
  return workbench.glossary
    .compare(withoutCuts(segment.source), withoutCuts(target))
    .wanted.map(({ term, range, present }) => ({
      ...range,
      className: present ? css.termThere : css.term,
      title: term.doNotTranslate ? term.source : term.target,
    }));
}

/**
 * Returns the words that findings name, in the source and in the target. While the checks have not run on a changed
 * text, the marks of the earlier findings stay, so that they do not flicker with each key.
 */
function useFindingMarks(state: SegmentState): { inSource: Mark[]; inTarget: Mark[] } {
  const workbench = useWorkbench();
  const sentence = useSentence();
  const found = useRef<readonly Finding[]>([]);
  if (state.findings) found.current = workbench.openFindings(state.segment.position);
  const mark = (finding: Finding, range: Range): Mark => ({
    ...range,
    className: css.finding,
    title: sentence(finding, state.segment.position),
  });
  return {
    inSource: found.current.flatMap((finding) => (finding.source ? mark(finding, finding.source) : [])),
    inTarget: found.current.flatMap((finding) => (finding.range ? mark(finding, finding.range) : [])),
  };
}

/** Returns the words of a target that a reviewer marked. */
function issueMarks(workbench: ReturnType<typeof useWorkbench>, { segment, target }: SegmentState): Mark[] {
  return workbench
    .issueRanges(segment.position, plainText(target))
    .map((range) => ({ ...range, className: css.issue }));
}
