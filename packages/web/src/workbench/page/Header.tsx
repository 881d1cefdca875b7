/** The header: job, progress, saving, active time, and the actions that finish the task. */
import { Button } from '@mantine/core';
import { IconArrowLeft, IconClock, IconClockPause, IconEye, IconHelp } from '@tabler/icons-react';
import { type RefObject, useEffect, useRef } from 'react';
import { useIntl } from 'react-intl';
import { useTranslate } from '../../i18n.tsx';
import { paths } from '../../paths.ts';
import { Link } from '../../ui/Link.tsx';
import { pressAction } from '../actions/actions.ts';
import { ariaKeys } from '../actions/keys.ts';
import { useOverlays } from '../rows/overlays-context.ts';
import { keepFocus, mac, useMatching, usePage, useWorkbench } from '../session/context.tsx';
import css from '../styles/workbench.module.css';
import { CompletionSwitch, FilterButton, FindingsButton } from './HeaderButtons.tsx';

export function Header() {
  const { ViewSwitch } = useOverlays();
  const workbench = useWorkbench();
  const t = useTranslate();
  const intl = useIntl();
  const { task } = workbench;
  const { job } = task;
  const readOnly = usePage((page) => page.readOnly);
  const preview = usePage((page) => page.preview);
  const nameOf = (language: string) => languageName(intl.locale, language);
  return (
    <header className={css.header}>
      <Link
        to={paths.queue}
        className={css.back}
        aria-label={t('workbench.back')}
        title={t('workbench.back')}
      >
        <IconArrowLeft size={18} aria-hidden />
      </Link>
      <h1 className={css.title} title={t('workbench.job', { number: String(job.order_number) })}>
        {job.brand && (
          <>
            <bdi>{job.brand}</bdi> <span aria-hidden>·</span>{' '}
          </>
        )}
        <bdi>{job.name ?? job.uid}</bdi>
      </h1>
      <span className={css.pair}>
        {nameOf(job.source_language)} <span aria-hidden>→</span>
        <span className="visually-hidden">{t('workbench.into')}</span> {nameOf(job.target_language)}
      </span>
      <span className={css.badge}>{t(`workbench.format.${job.format}`)}</span>
      {job.tone && <span className={css.badge}>{t('tone', { tone: job.tone })}</span>}
      {task.kind === 'review' && (
        <span className={css.badge} data-tone="info">
          {t('workbench.review')}
        </span>
      )}
      {task.returned && (
        <span className={css.badge} data-tone="warning">
          {t('workbench.returned')}
        </span>
      )}
      <span className={css.spacer} />
      <Deadline />
      <Progress />
      <UnsureCount />
      <SaveState />
      <ActiveTime />
      <FindingsButton />
      <FilterButton />
      <ViewSwitch />
      <Button
        size="xs"
        variant="subtle"
        px={8}
        aria-pressed={preview}
        aria-keyshortcuts={ariaKeys('preview', mac)}
        title={`${t('workbench.key.preview')} (F4)`}
        aria-label={t('workbench.key.preview')}
        onMouseDown={keepFocus}
        onClick={() => pressAction(workbench, 'preview')}
      >
        <IconEye size={18} aria-hidden />
      </Button>
      {readOnly === undefined && <Finish />}
    </header>
  );
}

function Finish() {
  const workbench = useWorkbench();
  const t = useTranslate();
  const open = (dialog: 'release' | 'skip' | 'report' | 'return' | 'submit') =>
    workbench.update({ dialog: { dialog } });
  const review = workbench.task.kind === 'review';
  const menu = useMenu();
  return (
    <div className={css.finish}>
      <details ref={menu} className={css.menu}>
        <summary>{t('workbench.more')}</summary>
        <div>
          <button type="button" onClick={() => open('release')}>
            {t('workbench.release')}
          </button>
          <button type="button" onClick={() => open('skip')}>
            {t('workbench.skip')}
          </button>
          <button type="button" onClick={() => open('report')}>
            {t('workbench.report')}
          </button>
          <CompletionSwitch />
        </div>
      </details>
      {review && (
        <Button size="sm" onClick={() => open('return')}>
          {t('workbench.return')}
        </Button>
      )}
      <Button size="sm" variant="filled" onClick={() => open('submit')}>
        {t(review ? 'workbench.approve' : 'workbench.submit')}
      </Button>
    </div>
  );
}

/** Closes a menu when the pointer is pressed or the focus moves outside of it, for example into a dialog that it opened. */
function useMenu(): RefObject<HTMLDetailsElement | null> {
  const menu = useRef<HTMLDetailsElement>(null);
  useEffect(() => {
    const leave = ({ target }: Event) => {
      if (menu.current?.open && !menu.current.contains(target as Node)) menu.current.open = false;
    };
    for (const event of ['pointerdown', 'focusin']) document.addEventListener(event, leave);
    return () => {
      for (const event of ['pointerdown', 'focusin']) document.removeEventListener(event, leave);
    };
  }, []);
  return menu;
}

function Progress() {
  const workbench = useWorkbench();
  const t = useTranslate();
  const review = workbench.task.kind === 'review';
  const done = usePage((page) => (review ? page.seen : page.confirmed));
  const total = workbench.total;
  const label = t(review ? 'workbench.progress_seen' : 'workbench.progress');
  return (
    <span className={css.progress}>
      <progress max={Math.max(1, total)} value={done} aria-label={label} />
      <span title={label}>{`${done} / ${total}`}</span>
    </span>
  );
}

/** Shows how many segments are marked as unsure. A press goes to the next one. */
function UnsureCount() {
  const workbench = useWorkbench();
  const t = useTranslate();
  const count = useMatching('unsure');
  if (count === 0) return null;
  const label = t('workbench.unsure.next', { count });
  return (
    <button
      type="button"
      className={css.unsureCount}
      aria-label={label}
      title={label}
      onClick={() => workbench.stepTo(({ unsure }) => unsure)}
    >
      <IconHelp size={16} aria-hidden /> {count}
    </button>
  );
}

function SaveState() {
  const workbench = useWorkbench();
  const t = useTranslate();
  const intl = useIntl();
  const saving = usePage((page) => page.saving);
  const words = () => {
    switch (saving.state) {
      case 'saved':
        return saving.at === undefined
          ? t('workbench.saved')
          : t('workbench.saved_at', { at: intl.formatTime(saving.at, { timeStyle: 'short' }) });
      case 'saving':
        return t('workbench.saving');
      case 'offline':
      case 'lost':
        return t(`workbench.${saving.state}`, { count: saving.waiting });
      case 'conflict':
      case 'refused':
        return t(`workbench.${saving.state}`, { number: workbench.numberOf(saving.positions[0]!) });
    }
  };
  if (saving.state !== 'conflict' && saving.state !== 'refused') {
    return (
      <span className={css.saving} data-state={saving.state}>
        {words()}
      </span>
    );
  }
  const [position] = saving.positions;
  return (
    <button
      type="button"
      className={css.saving}
      data-state={saving.state}
      onClick={() => {
        if (saving.state === 'conflict')
          workbench.update({ dialog: { dialog: 'conflict', position: position! } });
        else workbench.activate(position!, 'text');
      }}
    >
      {words()}
    </button>
  );
}

function ActiveTime() {
  const t = useTranslate();
  const seconds = usePage((page) => Math.floor(page.effort.totalMs / 1_000));
  const paused = usePage((page) => page.effort.since === undefined);
  const two = (value: number) => String(value).padStart(2, '0');
  const hours = Math.floor(seconds / 3_600);
  const time = `${hours > 0 ? `${hours}:` : ''}${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)}`;
  return (
    <span
      className={css.time}
      data-paused={paused}
      title={t(paused ? 'workbench.time_paused' : 'workbench.time')}
    >
      {paused ? <IconClockPause size={16} aria-hidden /> : <IconClock size={16} aria-hidden />}
      <span className="visually-hidden">{t(paused ? 'workbench.time_paused' : 'workbench.time')}</span>
      <span>{time}</span>
    </span>
  );
}

function Deadline() {
  const workbench = useWorkbench();
  const t = useTranslate();
  const intl = useIntl();
  const { deadline } = workbench.task.job;
  const day = intl.formatDate(deadline, {
    day: 'numeric',
    month: 'short',
    hour: 'numeric',
    minute: '2-digit',
  });
  return (
    <time className={css.deadline} dateTime={deadline}>
      {t('workbench.deadline', { at: day })}
    </time>
  );
}

export function languageName(locale: string, language: string): string {
  try {
    return new Intl.DisplayNames(locale, { type: 'language' }).of(language.replace('_', '-')) ?? language;
  } catch {
    return language;
  }
}
