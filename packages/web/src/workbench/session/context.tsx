/** Hooks that read a part of the workbench's state and render again when it changes. */
import { TRAITS } from '@dragoman/documents/formats';
import { createContext, use, useCallback, useSyncExternalStore } from 'react';
import type { Filter } from './filters.ts';
import type { PageState, SegmentState } from './state.ts';
import type { Segment } from './task.ts';
import type { Workbench } from './workbench.ts';

export const WorkbenchContext = createContext<Workbench | null>(null);

export function useWorkbench(): Workbench {
  return use(WorkbenchContext)!;
}

export function useSegment(position: number): SegmentState {
  const workbench = useWorkbench();
  const watch = useCallback(
    (listener: () => void) => workbench.watch(position, listener),
    [workbench, position],
  );
  return useSyncExternalStore(watch, () => workbench.segment(position));
}

/** @param pick returns a part of the state, and the same value as long as that part is unchanged */
export function usePage<Value>(pick: (page: PageState) => Value): Value {
  const workbench = useWorkbench();
  const watch = useCallback((listener: () => void) => workbench.watch('page', listener), [workbench]);
  return useSyncExternalStore(watch, () => pick(workbench.page));
}

/** Returns the number of segments that match a filter. */
export function useMatching(filter: Filter): number {
  const workbench = useWorkbench();
  const watch = useCallback((listener: () => void) => workbench.watch('filters', listener), [workbench]);
  return useSyncExternalStore(watch, () => workbench.filterCounts.of(filter));
}

/**
 * Returns whether the page shows memory, glossary, comments and the document. Editors see them while they
 * hold the task, operators always.
 */
export function useWhole(): boolean {
  const { access } = useWorkbench().task;
  return usePage((page) => access === 'all' || page.readOnly === undefined);
}

/** Returns whether the task is shown in the flow view. A page is assembled only for the holder of the claim. */
export function useFlow(): boolean {
  const { format } = useWorkbench().task.job;
  const whole = useWhole();
  return usePage((page) => page.view === 'flow') && (whole || TRAITS[format].flow !== 'page');
}

/**
 * Prevents a pressed button from taking the focus. The text keeps the focus, and an on-screen keyboard stays
 * open.
 */
export const keepFocus = (event: { preventDefault(): void }) => event.preventDefault();

export const mac = typeof navigator !== 'undefined' && /mac|iphone|ipad/i.test(navigator.platform);

/** Returns the direction of a job's language. */
export function directionOf(language: string): 'ltr' | 'rtl' {
  return /^(ar|arc|ckb|dv|fa|he|ks|nqo|ps|sd|syr|ug|ur|yi)\b/.test(language) ? 'rtl' : 'ltr';
}

/** Returns the BCP 47 tag of a language code; `und` when it is invalid. */
export function localeOf(language: string): string {
  try {
    return Intl.getCanonicalLocales(language.replace('_', '-'))[0] ?? 'und';
  } catch {
    return 'und';
  }
}

/** Returns the script group that decides the text size. */
export function scriptOf(language: string): 'arabic' | 'cjk' | 'other' {
  if (directionOf(language) === 'rtl') return 'arabic';
  return /^(zh|ja|ko|yue)\b/.test(language) ? 'cjk' : 'other';
}

/** Returns language, direction and script of a segment's text. The language of a kept segment is unknown. */
export function settingOf(language: string, { kept }: Pick<Segment, 'kept'>) {
  return kept === undefined
    ? {
        lang: localeOf(language),
        dir: directionOf(language),
        'data-script': scriptOf(language),
      }
    : { lang: 'und', dir: 'auto' as const, 'data-script': 'other' as const };
}
