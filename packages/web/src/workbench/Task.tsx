/** The page of one task, for editors and reviewers. */
import { Button } from '@mantine/core';
import { useBlocker } from '@tanstack/react-router';
import { lazy, Suspense, useEffect, useMemo, useRef, useState } from 'react';
import { call } from '../api/client.ts';
import { useTranslate } from '../i18n.tsx';
import { subscribe } from '../live-updates.ts';
import type { Loading, PageProps } from '../page.tsx';
import { askOnSessionEnd, type User, useUser } from '../session.ts';
import { FailureNotice } from '../ui/Failure.tsx';
import { beforeReload, loadChunk } from '../upgrade.ts';
import { performAction } from './actions.ts';
import { createServer, task } from './api.ts';
import {
  mac,
  type Overlays,
  OverlaysContext,
  useFlow,
  useOverlays,
  usePage,
  useWorkbench,
  WorkbenchContext,
} from './context.tsx';
import { noDrafts, openDrafts } from './drafts.ts';
import { actionOf, type Place } from './keys.ts';
import { type Code, labelOf } from './pieces.ts';
import { Row } from './Row.tsx';
import { useAnnouncement } from './sentences.ts';
import type { Announcement } from './state.ts';
import css from './workbench.module.css';
import { Workbench } from './workbench.ts';

/** These two components are loaded when they are first rendered. */
const Panel = lazy(() => loadChunk(() => import('./panel/Panel.tsx')));
const Preview = lazy(() => loadChunk(() => import('./Preview.tsx')));

/** Reads the task without the cache, because a cached lease may be outdated. */
export async function load({ queries, params }: Loading): Promise<void> {
  await queries.fetchQuery({ ...task(params.task!), staleTime: 0 });
}

export default function TaskPage({ params }: PageProps) {
  // The user who opened the page. Later, another user may sign in while the page is open.
  const [user] = useState(useUser());
  return <LoadedTask key={params.task} id={params.task!} user={user!} />;
}

/** Opens the workbench, which restores stored drafts before the page can be edited. */
function LoadedTask({ id, user }: { id: string; user: User }) {
  // The workbench stays open when the user changes the app's language. It therefore reads the functions for the current
  // language from refs.
  const t = useTranslate();
  const currentTranslate = useRef(t);
  currentTranslate.current = t;
  const sentence = useAnnouncement();
  const currentSentence = useRef(sentence);
  currentSentence.current = sentence;
  const [opened, setOpened] = useState<{ workbench: Workbench; overlays: Overlays }>();
  const [error, setError] = useState<Error>();
  const [announced, setAnnounced] = useState<{ text: string; turn: number }>({ text: '', turn: 0 });

  useEffect(() => {
    let workbench: Workbench | undefined;
    let unmounted = false;
    const announce = (what: Announcement) =>
      setAnnounced(({ turn }) => ({ text: currentSentence.current(what), turn: turn + 1 }));
    const describeCode = (code: Code, source: string | undefined) => ({
      name: labelOf(code),
      title: source ?? code.text,
      label: currentTranslate.current(`workbench.chip.${code.kind}`, {
        label: labelOf(code),
        number: code.number,
      }),
    });
    async function open(): Promise<void> {
      const [checks, overlays, drafts, read] = await Promise.all([
        loadChunk(() => import('./checking.ts')),
        loadChunk(() => import('./overlays.ts')),
        openDrafts(user.user_id, id).catch(noDrafts),
        call('readTask', { path: { task: id } }),
      ]);
      workbench = new Workbench({
        task: read,
        checks,
        server: createServer(id),
        drafts,
        announce,
        describeCode,
      });
      await workbench.begin();
      if (unmounted) workbench.end();
      else setOpened({ workbench, overlays });
    }
    open().catch(setError);
    return () => {
      unmounted = true;
      workbench?.end();
    };
  }, [id, user]);

  if (error) return <FailureNotice error={error} />;
  if (!opened) return <div className={css.skeleton} aria-busy />;
  return (
    <WorkbenchContext value={opened.workbench}>
      {/*
       * The React key creates a new element for each announcement, so that screen readers also read a
       * repeated text.
       */}
      <div className="visually-hidden" role="status" aria-live="polite" data-said>
        <span key={announced.turn}>{announced.text}</span>
      </div>
      <OverlaysContext value={opened.overlays}>
        <Page user={user} />
      </OverlaysContext>
    </WorkbenchContext>
  );
}

function Page({ user }: { user: User }) {
  const workbench = useWorkbench();
  const {
    ActionBar,
    Banners,
    Dialogs,
    DocumentFlow,
    FilterBar,
    Find,
    Grid,
    Header,
    KeyBar,
    Leave,
    NoticeToast,
    SignInAgain,
  } = useOverlays();
  const t = useTranslate();
  const preview = usePage((page) => page.preview);
  const finding = usePage((page) => page.find !== undefined);
  const filtering = usePage((page) => page.filtering);
  const dialog = usePage((page) => page.dialog);
  const signedOut = usePage((page) => page.signedOut);
  const active = usePage((page) => page.active);
  const { job } = workbench.task;
  const flow = useFlow();
  const leaving = useLeaving(workbench);
  useKeys(workbench, leaving.status !== 'blocked');
  useEffect(
    () => subscribe(`task:${workbench.task.task}`, { onChange: () => void workbench.session.refresh() }),
    [workbench],
  );
  useEffect(() => askOnSessionEnd(() => workbench.update({ signedOut: true })), [workbench]);
  useActivity(workbench);
  useVisibleHeight();
  const title = useMemo(
    () =>
      t('workbench.page_title', {
        at: workbench.numberOf(active),
        of: workbench.numberOf(workbench.positions.at(-1) ?? 0),
        job: job.brand ? `${job.brand} · ${job.uid}` : job.uid,
      }),
    [t, workbench, active, job],
  );
  if (workbench.positions.length === 0) return <NoSegments user={user} />;
  return (
    <main className={css.workbench} data-ready data-preview={preview} translate="no">
      <title>{title}</title>
      <Header />
      <Banners />
      {finding && <Find />}
      {filtering && <FilterBar />}
      <div className={css.columns}>
        {flow && job.format === 'html' ? (
          <DocumentFlow>
            <Row key={active} position={active} index={workbench.indexOf(active)} />
          </DocumentFlow>
        ) : (
          <Grid />
        )}
        <Suspense>{preview && <Preview />}</Suspense>
        <Suspense fallback={<aside className={css.panel} />}>
          <Panel />
        </Suspense>
        <NoticeToast />
      </div>
      <KeyBar />
      <ActionBar />
      {dialog && <Dialogs dialog={dialog} />}
      {signedOut && <SignInAgain user={user} />}
      {leaving.status === 'blocked' && <Leave onStay={leaving.reset} onLeave={leaving.proceed} />}
    </main>
  );
}

/** The page of a job without text. */
function NoSegments({ user }: { user: User }) {
  const workbench = useWorkbench();
  const { Dialogs, SignInAgain } = useOverlays();
  const dialog = usePage((page) => page.dialog);
  const signedOut = usePage((page) => page.signedOut);
  const readOnly = usePage((page) => page.readOnly);
  const t = useTranslate();
  if (workbench.task.access === 'record') {
    return (
      <main className={css.nothing} data-ready>
        <p>{t(`workbench.read_only.${readOnly ?? 'record'}`)}</p>
      </main>
    );
  }
  return (
    <main className={css.nothing} data-ready>
      <p>{t('workbench.no_text')}</p>
      <Button variant="filled" onClick={() => workbench.update({ dialog: { dialog: 'report' } })}>
        {t('workbench.report')}
      </Button>
      {dialog && <Dialogs dialog={dialog} />}
      {signedOut && <SignInAgain user={user} />}
    </main>
  );
}

/** Handles the keys of `keys.ts` in one listener. */
function useKeys(workbench: Workbench, enabled: boolean): void {
  useEffect(() => {
    function press(event: KeyboardEvent): void {
      const { dialog, codes, signedOut } = workbench.page;
      if (!enabled || dialog || codes || signedOut) return;
      const action = actionOf(event, placeOf(event.target), mac);
      if (!action || !performAction(workbench, action, event)) return;
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
