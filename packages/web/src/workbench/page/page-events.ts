/** Reacts to what the user does on the whole page: keys, leaving, activity and an on-screen keyboard. */
import { useBlocker } from '@tanstack/react-router';
import { useEffect } from 'react';
import { beforeReload } from '../../upgrade.ts';
import { performAction } from '../actions/actions.ts';
import { actionOf, type Place } from '../actions/keys.ts';
import { mac } from '../session/context.tsx';
import type { Workbench } from '../session/workbench.ts';

/** @returns whether the page asks before the user leaves, with functions for both replies */
export function usePageEvents(workbench: Workbench): ReturnType<typeof useLeaving> {
  const leaving = useLeaving(workbench);
  useKeys(workbench, leaving.status !== 'blocked');
  useActivity(workbench);
  useVisibleHeight();
  return leaving;
}

/** Handles the keys of `keys.ts` in one listener. */
function useKeys(workbench: Workbench, enabled: boolean): void {
  useEffect(() => {
    function press(event: KeyboardEvent): void {
      const { dialog, codes, signedOut } = workbench.page;
      if (!enabled || dialog || codes || signedOut) return;
      const action = actionOf(event, placeOf(event.target), mac);
      if (!action) return;
      if (!performAction(workbench, action, event)) {
        // The browser would open its own window, such as the address bar, and the next letters would land there.
        if (!event.ctrlKey && !event.metaKey) return;
        workbench.announce({ type: 'not-possible' });
      }
      event.preventDefault();
      event.stopPropagation();
    }
    document.addEventListener('keydown', press, { capture: true });
    return () => document.removeEventListener('keydown', press, { capture: true });
  }, [workbench, enabled]);
}

function placeOf(target: EventTarget | null): Place {
  if (!(target instanceof HTMLElement)) return 'outside';
  if (target.role === 'row') return target.dataset.flow === undefined ? 'row' : 'reading';
  if (target.isContentEditable || target.dataset.plain !== undefined) return 'target';
  return /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName) ? 'field' : 'outside';
}

/**
 * Asks before the user leaves with unsaved edits, which stay in the browser in any case. Before a navigation
 * within the app, the page saves the edits, and asks only if they cannot be saved.
 */
function useLeaving(workbench: Workbench) {
  useEffect(() => {
    const leave = (event: BeforeUnloadEvent) => {
      if (workbench.hasUnsaved) event.preventDefault();
    };
    const hide = () => workbench.setVisible(document.visibilityState === 'visible');
    const online = () => workbench.online();
    window.addEventListener('beforeunload', leave);
    window.addEventListener('online', online);
    const removeGuard = beforeReload(async () => !workbench.hasUnsaved || workbench.saveAll());
    document.addEventListener('visibilitychange', hide);
    return () => {
      removeGuard();
      window.removeEventListener('beforeunload', leave);
      window.removeEventListener('online', online);
      document.removeEventListener('visibilitychange', hide);
    };
  }, [workbench]);
  return useBlocker({
    shouldBlockFn: async () => workbench.hasUnsaved && !(await workbench.saveAll()),
    enableBeforeUnload: false,
    withResolver: true,
  });
}

/** Records user input, which starts and continues active time. */
function useActivity(workbench: Workbench): void {
  useEffect(() => {
    const record = () => workbench.recordActivity();
    const events = ['keydown', 'pointerdown', 'wheel', 'input', 'focusin'] as const;
    for (const event of events) document.addEventListener(event, record, { capture: true, passive: true });
    return () => {
      for (const event of events) document.removeEventListener(event, record, { capture: true });
    };
  }, [workbench]);
}

/** Fits the page above an on-screen keyboard in browsers that show the keyboard over the page (Safari). */
function useVisibleHeight(): void {
  useEffect(() => {
    const viewport = globalThis.visualViewport;
    if (!viewport || !matchMedia('(pointer: coarse)').matches) return;
    const { style } = document.documentElement;
    const fit = () => {
      // On a zoomed page the viewport is smaller too, but there may be no keyboard.
      if (viewport.scale === 1) style.setProperty('--visible-height', `${viewport.height}px`);
      else style.removeProperty('--visible-height');
    };
    fit();
    viewport.addEventListener('resize', fit);
    return () => {
      viewport.removeEventListener('resize', fit);
      style.removeProperty('--visible-height');
    };
  }, []);
}
