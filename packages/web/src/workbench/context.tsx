/** The workbench as components read it: a segment, the page, or the texts of all. */
import { createContext, use, useCallback, useSyncExternalStore } from 'react';
import { isMac } from './keys.ts';
import type { Segment } from './task.ts';
import type { PageState, SegmentState, Workbench } from './workbench.ts';

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

/** @param pick what of the page is wanted: the same value as long as it is the same */
export function usePage<Value>(pick: (page: PageState) => Value): Value {
  const workbench = useWorkbench();
  const watch = useCallback((listener: () => void) => workbench.watch('page', listener), [workbench]);
  return useSyncExternalStore(watch, () => pick(workbench.page));
}

/** Whether the whole of the task is shown: memory, glossary, comments and the document. While it is held; to operators always. */
export function useWhole(): boolean {
  const { access } = useWorkbench().task;
  return usePage((page) => access === 'all' || page.readOnly === undefined);
}

export const mac = isMac(typeof navigator === 'undefined' ? '' : navigator.platform);

/** Of the job's languages; the app's own is said on the root. */
export function directionOf(language: string): 'ltr' | 'rtl' {
  return /^(ar|arc|ckb|dv|fa|he|ks|nqo|ps|sd|syr|ug|ur|yi)\b/.test(language) ? 'rtl' : 'ltr';
}

/** A shortname as the browser takes it. */
export function localeOf(language: string): string {
  try {
    return Intl.getCanonicalLocales(language.replace('_', '-'))[0] ?? 'und';
  } catch {
    return 'und';
  }
}

/** How a text is set: its script has its own size. */
export function scriptOf(language: string): 'arabic' | 'cjk' | 'other' {
  if (directionOf(language) === 'rtl') return 'arabic';
  return /^(zh|ja|ko|yue)\b/.test(language) ? 'cjk' : 'other';
}

/** How the text of a segment is set. One that is kept is in a language that the job does not name. */
export function settingOf(language: string, { kept }: Pick<Segment, 'kept'>) {
  return kept === undefined
    ? {
        lang: localeOf(language),
        dir: directionOf(language),
        'data-script': scriptOf(language),
      }
    : { lang: 'und', dir: 'auto' as const, 'data-script': 'other' as const };
}
