/** A task in work: the page of editors and reviewers. */
import { Button } from '@mantine/core';
import { useBlocker, useNavigate } from '@tanstack/react-router';
import { lazy, Suspense, useEffect, useMemo, useRef, useState } from 'react';
import { call } from '../api/client.ts';
import { lookOn } from '../live.ts';
import type { Loading, PageProps } from '../page.tsx';
import { paths } from '../paths.ts';
import { usePerson } from '../session.ts';
import { FailureNotice } from '../ui/Failure.tsx';
import { Notice } from '../ui/Notice.tsx';
import { keepFirst, part } from '../upgrade.ts';
import { useSay } from '../words.tsx';
import { act } from './actions.ts';
import { createServer, task } from './api.ts';
import { mac, usePage, useWorkbench, WorkbenchContext } from './context.tsx';
import { noDrafts, openDrafts } from './drafts.ts';
import { Grid } from './Grid.tsx';
import { Header } from './Header.tsx';
import { KeyBar } from './KeyBar.tsx';
import { actionOf, type Place } from './keys.ts';
import { type Code, labelOf } from './pieces.ts';
import { useAnnouncement } from './sentences.ts';
import css from './workbench.module.css';
import { type Announcement, Workbench } from './workbench.ts';

/** What is not there at first sight is fetched when it is wanted. */
const Dialogs = lazy(() => part(() => import('./Dialogs.tsx')));
const Find = lazy(() => part(() => import('./Find.tsx')));
const Leave = lazy(() => part(() => import('./Leave.tsx')));
const Panel = lazy(() => part(() => import('./Panel.tsx')));
const Preview = lazy(() => part(() => import('./Preview.tsx')));

/** Always read anew: what another page of an hour ago knew of a lease is worth nothing. */
export async function load({ queries, params }: Loading): Promise<void> {
  await queries.fetchQuery({ ...task(params.task!), staleTime: 0 });
}

export default function TaskPage({ params }: PageProps) {
  const person = usePerson();
  return <Opened key={params.task} id={params.task!} person={person?.user_id ?? ''} />;
}

/** The store of drafts is opened, and what it has is taken up, before anything can be typed. */
function Opened({ id, person }: { id: string; person: string }) {
  const say = useSay();
  const sayIt = useRef(say);
  sayIt.current = say;
  const announcement = useAnnouncement();
  const speak = useRef(announcement);
  speak.current = announcement;
  const [workbench, setWorkbench] = useState<Workbench>();
  const [error, setError] = useState<Error>();
  const [said, setSaid] = useState<{ text: string; turn: number }>({ text: '', turn: 0 });

  useEffect(() => {
    let opened: Workbench | undefined;
    let gone = false;
    const announce = (what: Announcement) =>
      setSaid(({ turn }) => ({ text: speak.current(what), turn: turn + 1 }));
    const chip = (code: Code, stands: string | undefined) => ({
      title: stands ?? code.text,
      label: sayIt.current(`workbench.chip.${code.kind}`, { label: labelOf(code), number: code.number }),
    });
    async function open(): Promise<void> {
      const [checks, drafts, read] = await Promise.all([
        part(() => import('./checking.ts')),
        openDrafts(person, id).catch(noDrafts),
        call('readTask', { path: { task: id } }),
      ]);
      opened = new Workbench({ task: read, checks, server: createServer(id), drafts, announce, chip });
      await opened.begin();
      if (gone) opened.end();
      else setWorkbench(opened);
    }
    open().catch(setError);
    return () => {
      gone = true;
      opened?.end();
    };
  }, [id, person]);

  if (error) return <FailureNotice error={error} />;
  if (!workbench) return <div className={css.skeleton} aria-busy />;
  return (
    <WorkbenchContext value={workbench}>
      {/* Said again also where it is the same: a turn is another element. */}
      <div className="visually-hidden" role="status" aria-live="polite" data-said>
        <span key={said.turn}>{said.text}</span>
      </div>
      <Page />
    </WorkbenchContext>
  );
}

function Page() {
  const workbench = useWorkbench();
  const say = useSay();
  const preview = usePage((page) => page.preview);
  const finding = usePage((page) => page.find !== undefined);
  const dialog = usePage((page) => page.dialog);
  const active = usePage((page) => page.active);
  const { job } = workbench.task;
  const leaving = useLeaving(workbench);
  useKeys(workbench, leaving.status === 'blocked');
  useEffect(
    () => lookOn(`task:${workbench.task.task}`, { changed: () => void workbench.look() }),
    [workbench],
  );
  useUse(workbench);
  useEffect(() => {
    // A key that opens a dialog is followed by what is typed into it.
    const timer = setTimeout(
      () =>
        Promise.all([import('./Dialogs.tsx'), import('./Find.tsx'), import('./Leave.tsx')]).catch(() => {}),
      500,
    );
    return () => clearTimeout(timer);
  }, []);
  const title = useMemo(
    () =>
      say('workbench.page_title', {
        at: workbench.numberOf(active),
        of: workbench.numberOf(workbench.positions.at(-1) ?? 0),
        number: String(job.order_number),
      }),
    [say, workbench, active, job],
  );
  if (workbench.positions.length === 0) return <NoSegments />;
  return (
    <main className={css.workbench} data-ready data-preview={preview} translate="no">
      <title>{title}</title>
      <Header />
      <Banners />
      <Suspense>{finding && <Find />}</Suspense>
      <div className={css.columns}>
        <Grid />
        <Suspense>{preview && <Preview />}</Suspense>
        <Suspense fallback={<aside className={css.panel} />}>
          <Panel />
        </Suspense>
      </div>
      <KeyBar />
      <Suspense>{dialog && <Dialogs dialog={dialog} />}</Suspense>
      <Suspense>
        {leaving.status === 'blocked' && <Leave onStay={leaving.reset} onLeave={leaving.proceed} />}
      </Suspense>
    </main>
  );
}

/** A job without text: there is nothing to do but to say so. */
function NoSegments() {
  const workbench = useWorkbench();
  const dialog = usePage((page) => page.dialog);
  const readOnly = usePage((page) => page.readOnly);
  const say = useSay();
  if (workbench.task.access === 'record') {
    return (
      <main className={css.nothing} data-ready>
        <p>{say(`workbench.read_only.${readOnly ?? 'record'}`)}</p>
      </main>
    );
  }
  return (
    <main className={css.nothing} data-ready>
      <p>{say('workbench.no_text')}</p>
      <Button variant="filled" onClick={() => workbench.update({ dialog: { dialog: 'report' } })}>
        {say('workbench.report')}
      </Button>
      <Suspense>{dialog && <Dialogs dialog={dialog} />}</Suspense>
    </main>
  );
}

function Banners() {
  const workbench = useWorkbench();
  const say = useSay();
  const readOnly = usePage((page) => page.readOnly);
  const late = usePage((page) => page.late);
  const lease = usePage((page) => page.lease);
  const filled = usePage((page) => page.filled);
  const saving = usePage((page) => page.saving);
  const [error, setError] = useState<Error>();
  if (readOnly) {
    return (
      <div className={css.banner}>
        <Notice
          tone={readOnly === 'lost' || readOnly === 'over' ? 'warning' : 'info'}
          action={readOnly === 'not_claimed' && <Claim />}
        >
          {say(`workbench.read_only.${readOnly}`)}
          {saving.state === 'lost' &&
            saving.waiting > 0 &&
            ` ${say('workbench.kept', { count: saving.waiting })}`}
        </Notice>
      </div>
    );
  }
  return (
    <>
      {late && lease && (
        <div className={css.banner}>
          <Notice
            tone="warning"
            action={
              !lease.extended && (
                <Button size="xs" onClick={() => workbench.extend().catch(setError)}>
                  {say('workbench.extend')}
                </Button>
              )
            }
          >
            {say('workbench.late', { at: new Date(lease.limit_until) })}
          </Notice>
          {error && <FailureNotice error={error} />}
        </div>
      )}
      {filled && (
        <div className={css.banner}>
          <Notice
            tone="info"
            action={
              <>
                <Button size="xs" onClick={() => workbench.unfill()}>
                  {say('workbench.unfill')}
                </Button>
                <Button size="xs" variant="subtle" onClick={() => workbench.close('filled')}>
                  {say('ui.close')}
                </Button>
              </>
            }
          >
            {say('workbench.filled', { count: filled.before.length })}
          </Notice>
        </div>
      )}
    </>
  );
}

function Claim() {
  const workbench = useWorkbench();
  const say = useSay();
  const [error, setError] = useState<Error>();
  const navigate = useNavigate();
  if (workbench.task.status !== 'open' && workbench.task.status !== 'claimed') return null;
  return (
    <>
      {error && <span>{error.message}</span>}
      <Button
        size="xs"
        variant="filled"
        onClick={() =>
          call('claimTask', { body: { task: workbench.task.task } }).then(
            () => location.reload(),
            (failed: Error) => setError(failed),
          )
        }
      >
        {say('workbench.claim')}
      </Button>
      <Button size="xs" onClick={() => void navigate({ to: paths.queue })}>
        {say('workbench.back')}
      </Button>
    </>
  );
}

/** One listener for all keys: what a key does is said in `keys.ts`. */
function useKeys(workbench: Workbench, asked: boolean): void {
  useEffect(() => {
    function press(event: KeyboardEvent): void {
      if (asked || workbench.page.dialog || workbench.page.codes) return;
      const action = actionOf(event, placeOf(event.target), mac);
      if (!action || !act(workbench, action, event)) return;
      event.preventDefault();
      event.stopPropagation();
    }
    document.addEventListener('keydown', press, { capture: true });
    return () => document.removeEventListener('keydown', press, { capture: true });
  }, [workbench, asked]);
}

function placeOf(target: EventTarget | null): Place {
  if (!(target instanceof HTMLElement)) return 'outside';
  if (target.role === 'row') return 'row';
  if (target.isContentEditable || target.dataset.plain !== undefined) return 'target';
  return /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName) ? 'field' : 'outside';
}

/**
 * Nobody leaves while something is unsent without being asked; what is unsent stays in the browser in any case. A way
 * within the app waits for what is on its way to the server, and asks only where it cannot get there.
 */
function useLeaving(workbench: Workbench) {
  useEffect(() => {
    const leave = (event: BeforeUnloadEvent) => {
      if (workbench.unsent) event.preventDefault();
    };
    const hide = () => workbench.visible(document.visibilityState === 'visible');
    const online = () => workbench.online();
    window.addEventListener('beforeunload', leave);
    window.addEventListener('online', online);
    const kept = keepFirst(async () => !workbench.unsent || workbench.sent());
    document.addEventListener('visibilitychange', hide);
    return () => {
      kept();
      window.removeEventListener('beforeunload', leave);
      window.removeEventListener('online', online);
      document.removeEventListener('visibilitychange', hide);
    };
  }, [workbench]);
  return useBlocker({
    shouldBlockFn: async () => workbench.unsent && !(await workbench.sent()),
    enableBeforeUnload: false,
    withResolver: true,
  });
}

/** Time counts while the page is used. */
function useUse(workbench: Workbench): void {
  useEffect(() => {
    const used = () => workbench.used();
    const events = ['keydown', 'pointerdown', 'wheel', 'input', 'focusin'] as const;
    for (const event of events) document.addEventListener(event, used, { capture: true, passive: true });
    return () => {
      for (const event of events) document.removeEventListener(event, used, { capture: true });
    };
  }, [workbench]);
}
