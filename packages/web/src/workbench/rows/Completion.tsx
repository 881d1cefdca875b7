/**
 * The hint under the caret with the rest of the word that is being typed. It is drawn outside the text field, so it
 * changes neither the text nor the caret. It appears only after a typed character, never while an input method
 * composes.
 */
import { type RefObject, useEffect, useLayoutEffect, useMemo, useRef, useSyncExternalStore } from 'react';
import { createPortal } from 'react-dom';
import { Caps } from '../actions/Caps.tsx';
import { acceptCompletion, completes, watchCompletes } from '../actions/completing.ts';
import { hintOf } from '../actions/keys.ts';
import { directionOf, keepFocus, localeOf, mac, scriptOf, useWorkbench } from '../session/context.tsx';
import type { Match } from '../session/task.ts';
import type { Workbench } from '../session/workbench.ts';
import css from '../styles/bar.module.css';
import { completionOf, completionWords } from '../text/completion.ts';
import { plainText } from '../text/pieces.ts';

export function Completion({ position, field }: { position: number; field: RefObject<HTMLElement | null> }) {
  const enabled = useSyncExternalStore(watchCompletes, completes);
  return enabled ? <Hint position={position} field={field} /> : null;
}

function Hint({ position, field }: { position: number; field: RefObject<HTMLElement | null> }) {
  const workbench = useWorkbench();
  const hint = useSyncExternalStore(
    (listener) => workbench.watch('completion', listener),
    () => workbench.completion,
  );
  const shown = useRef<HTMLButtonElement>(null);
  useTyping(workbench, position, field);
  useLayoutEffect(() => {
    const button = shown.current;
    const caret = hint && workbench.editor.caret();
    if (!button || !caret) return;
    const start = document.dir === 'rtl' ? caret.left - button.offsetWidth : caret.left;
    const left = Math.max(8, Math.min(start, innerWidth - button.offsetWidth - 8));
    const below = caret.bottom + button.offsetHeight + 8 < innerHeight;
    button.style.left = `${left}px`;
    button.style.top = `${below ? caret.bottom + 4 : caret.top - button.offsetHeight - 4}px`;
  }, [workbench, hint]);
  if (!hint) return null;
  const { target_language: language } = workbench.task.job;
  return createPortal(
    <button
      ref={shown}
      type="button"
      className={css.completion}
      data-completion
      aria-hidden
      tabIndex={-1}
      onMouseDown={keepFocus}
      onClick={() => acceptCompletion(workbench)}
    >
      <span lang={localeOf(language)} dir={directionOf(language)} translate="no">
        {hint.typed}
        <b>{hint.rest}</b>
      </span>
      <Caps caps={hintOf('complete', mac)} />
    </button>,
    document.body,
  );
}

/** Finds a completion after each typed character, and removes it when anything else happens. */
function useTyping(workbench: Workbench, position: number, field: RefObject<HTMLElement | null>): void {
  const matches = workbench.receivedMatches(position);
  // The segment is no dependency: a save replaces its object, but never its source and its draft.
  const words = useMemo(() => wordsOf(workbench, position, matches), [workbench, position, matches]);
  const currentWords = useRef(words);
  currentWords.current = words;
  useEffect(() => {
    const element = field.current!;
    let frame = 0;
    const clear = () => workbench.setCompletion(undefined);
    function typed(event: Event): void {
      const { inputType, isComposing } = event as InputEvent;
      cancelAnimationFrame(frame);
      if (isComposing || inputType !== 'insertText') {
        clear();
        return;
      }
      // The text field contains the typed character only in the next frame.
      frame = requestAnimationFrame(() => {
        const caret = workbench.editor.textAtCaret();
        workbench.setCompletion(caret && completionOf(currentWords.current, caret.before, caret.after));
      });
    }
    // Removes the completion at keys that write no character, because they may move the caret. The shortcuts
    // handle Tab and Esc.
    function pressed({ key }: KeyboardEvent): void {
      if (key.length > 1 && key !== 'Tab' && key !== 'Escape') clear();
    }
    element.addEventListener('input', typed);
    element.addEventListener('focusout', clear);
    element.addEventListener('compositionstart', clear);
    element.addEventListener('keydown', pressed);
    element.addEventListener('pointerdown', clear);
    document.addEventListener('scroll', clear, { capture: true, passive: true });
    return () => {
      cancelAnimationFrame(frame);
      clear();
      element.removeEventListener('input', typed);
      element.removeEventListener('focusout', clear);
      element.removeEventListener('compositionstart', clear);
      element.removeEventListener('keydown', pressed);
      element.removeEventListener('pointerdown', clear);
      document.removeEventListener('scroll', clear, { capture: true });
    };
  }, [workbench, field]);
}

function wordsOf(workbench: Workbench, position: number, matches: readonly Match[]): readonly string[] {
  const { job } = workbench.task;
  // Chinese, Japanese and Korean words are not typed letter by letter.
  if (scriptOf(job.target_language) === 'cjk') return [];
  const { source, draft } = workbench.segment(position).segment;
  return completionWords({
    source: plainText(source),
    terms: workbench.glossary
      .find(plainText(source))
      .map(({ term }) => (term.doNotTranslate ? term.source : term.target)),
    translations: [...matches.map(({ target }) => target), draft ?? []].map(plainText),
    language: localeOf(job.target_language),
  });
}
