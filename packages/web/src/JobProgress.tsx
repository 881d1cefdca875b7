/** The progress of a job: how many of its segments an engine has drafted, or editors have confirmed. */
import type { JobProgress as Known } from './api/generated.ts';
import { useTranslate } from './i18n.tsx';
import type { DraftingProgress } from './live-updates.ts';
import { Progress } from './ui/Progress.tsx';

interface Job {
  status: string;
  /** The progress when the job was last read. */
  progress: Known | null;
}

const DRAFTED = ['new', 'machine_translate_in_progress'];

/** Returns whether a job has progress to show, because its work has started or will start. */
export function hasProgress({ status, progress }: Job): boolean {
  return progress !== null || DRAFTED.includes(status);
}

/** Shows the progress of a job. @param drafted the latest drafting progress from live updates */
export function JobProgress({ job, drafted }: { job: Job; drafted: DraftingProgress | undefined }) {
  const t = useTranslate();
  const reported =
    drafted === undefined || !DRAFTED.includes(job.status)
      ? undefined
      : { work: 'drafting' as const, done: drafted.drafted, segments: drafted.segments };
  // The larger number is the latest one, because progress only grows. The API answer may be older than the live
  // update.
  const known =
    reported !== undefined && reported.done >= (job.progress?.done ?? 0) ? reported : job.progress;
  const { work, done, segments } = known ?? { work: 'drafting' as const, done: 0, segments: 0 };
  return (
    <Progress label={t('job.progress')} done={done} of={segments}>
      {known === null ? t('job.progress.waiting') : t(`job.progress.${work}`, { done, segments })}
    </Progress>
  );
}
