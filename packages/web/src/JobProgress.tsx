/** The progress of a job: drafted by an engine or confirmed by its editors. */
import type { JobProgress as Known } from './api/generated.ts';
import { useTranslate } from './i18n.tsx';
import type { DraftingProgress } from './live-updates.ts';
import { Progress } from './ui/Progress.tsx';

interface Job {
  status: string;
  /** The progress when the job was read. */
  progress: Known | null;
}

const DRAFTED = ['new', 'machine_translate_in_progress'];

/** Returns whether there is progress to show: work has started or will start. */
export function hasProgress({ status, progress }: Job): boolean {
  return progress !== null || DRAFTED.includes(status);
}

/** @param drafted the drafting progress that live updates have reported since */
export function JobProgress({ job, drafted }: { job: Job; drafted: DraftingProgress | undefined }) {
  const t = useTranslate();
  const reported =
    drafted === undefined || !DRAFTED.includes(job.status)
      ? undefined
      : { work: 'drafting' as const, done: drafted.drafted, segments: drafted.segments };
  // Progress only grows, and the answer may be older than the live update.
  const known =
    reported !== undefined && reported.done >= (job.progress?.done ?? 0) ? reported : job.progress;
  const { work, done, segments } = known ?? { work: 'drafting' as const, done: 0, segments: 0 };
  return (
    <Progress label={t('job.progress')} done={done} of={segments}>
      {known === null ? t('job.progress.waiting') : t(`job.progress.${work}`, { done, segments })}
    </Progress>
  );
}
