/** The page of one task, for editors and reviewers. */
import { TRAITS } from '@dragoman/documents/formats';
import { Button } from '@mantine/core';
import { lazy, Suspense, useEffect, useMemo, useRef, useState } from 'react';
import { call } from '../api/client.ts';
import { useTranslate } from '../i18n.tsx';
import { subscribe } from '../live-updates.ts';
import type { Loading, PageProps } from '../page.tsx';
import { askOnSessionEnd, type User, useUser } from '../session.ts';
import { FailureNotice } from '../ui/Failure.tsx';
import { loadChunk } from '../upgrade.ts';
import type * as overlays from './overlays.ts';
import { OverlaysContext } from './rows/overlays-context.ts';
import { Row } from './rows/Row.tsx';
import { createServer, task } from './session/api.ts';
import { useFlow, usePage, useWorkbench, WorkbenchContext } from './session/context.tsx';
import { noDrafts, openDrafts } from './session/drafts.ts';
import { watchOtherTab } from './session/other-tab.ts';
import { useAnnouncement } from './session/sentences.ts';
import type { Announcement } from './session/state.ts';
import { Workbench } from './session/workbench.ts';
import css from './styles/workbench.module.css';
import { type Code, labelOf } from './text/pieces.ts';

type Overlays = typeof overlays;

/** Loaded when it is first rendered. */
const Preview = lazy(() => loadChunk(() => import('./page/Preview.tsx')));

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
    const closed = new AbortController();
    const announce = (what: Announcement) =>
      setAnnounced(({ turn }) => ({ text: currentSentence.current(what), turn: turn + 1 }));
    const describeCode = (code: Code, source: string | undefined) => {
      const values = { label: labelOf(code), number: code.number };
      const label = currentTranslate.current(`workbench.chip.${code.kind}`, values);
      if (code.kind === 'cut') return { name: '✂', title: label, label };
      return { name: labelOf(code), title: source ?? code.text, label };
    };
    async function open(): Promise<void> {
      const [checks, overlays, drafts, read] = await Promise.all([
        loadChunk(() => import('./session/checking.ts')),
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
      if (closed.signal.aborted) return workbench.end();
      setOpened({ workbench, overlays });
      if (workbench.page.readOnly === undefined)
        watchOtherTab(id, closed.signal, (otherTab) => workbench?.update({ otherTab }));
    }
    open().catch(setError);
    return () => {
      closed.abort();
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
        <Page user={user} overlays={opened.overlays} />
      </OverlaysContext>
    </WorkbenchContext>
  );
}

function Page({ user, overlays }: { user: User; overlays: Overlays }) {
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
    Panel,
    SignInAgain,
    usePageEvents,
  } = overlays;
  const t = useTranslate();
  const preview = usePage((page) => page.preview);
  const finding = usePage((page) => page.find !== undefined);
  const filtering = usePage((page) => page.filtering);
  const dialog = usePage((page) => page.dialog);
  const signedOut = usePage((page) => page.signedOut);
  const active = usePage((page) => page.active);
  const { job } = workbench.task;
  const flow = useFlow();
  const leaving = usePageEvents(workbench);
  useEffect(
    () => subscribe(`task:${workbench.task.task}`, { onChange: () => void workbench.session.refresh() }),
    [workbench],
  );
  useEffect(() => askOnSessionEnd(() => workbench.update({ signedOut: true })), [workbench]);
  const title = useMemo(
    () =>
      t('workbench.page_title', {
        at: workbench.numberOf(active),
        of: workbench.numberOf(workbench.positions.at(-1) ?? 0),
        job: job.brand ? `${job.brand} · ${job.uid}` : job.uid,
      }),
    [t, workbench, active, job],
  );
  if (workbench.positions.length === 0) return <NoSegments user={user} overlays={overlays} />;
  return (
    <main className={css.workbench} data-ready data-preview={preview} translate="no">
      <title>{title}</title>
      <Header />
      <Banners />
      {finding && <Find />}
      {filtering && <FilterBar />}
      <div className={css.columns}>
        {flow && TRAITS[job.format].flow === 'page' ? (
          <DocumentFlow>
            <Row key={active} position={active} index={workbench.indexOf(active)} />
          </DocumentFlow>
        ) : (
          <Grid />
        )}
        <Suspense>{preview && <Preview />}</Suspense>
        <Panel />
        <NoticeToast />
      </div>
      <KeyBar />
      <ActionBar />
      {dialog && <Dialogs dialog={dialog} />}
      {signedOut && <SignInAgain user={user} />}
      {leaving.status === 'blocked' && (
        <Leave
          onStay={() => {
            leaving.reset();
            workbench.focusActive();
          }}
          onLeave={leaving.proceed}
        />
      )}
    </main>
  );
}

/** The page of a job without text. */
function NoSegments({ user, overlays }: { user: User; overlays: Overlays }) {
  const workbench = useWorkbench();
  const { Dialogs, SignInAgain } = overlays;
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
