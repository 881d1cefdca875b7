/** How far the work on a job is: drafted by the machine, or confirmed by its editors. */
import { useIntl } from 'react-intl';
import type { JobProgress as Known } from './api/generated.ts';
import type { Drafted } from './live.ts';
import { Progress } from './ui/Progress.tsx';
import { useSay } from './words.tsx';

interface Job {
  status: string;
  /** As it was when the job was read. */
  progress: Known | null;
}

const DRAFTED = ['new', 'machine_translate_in_progress'];

/** Whether there is anything to be shown: work is under way, or stands before it. */
export function hasProgress({ status, progress }: Job): boolean {
  return progress !== null || DRAFTED.includes(status);
}

/** @param drafted what the machine has said since the job was read */
export function JobProgress({ job, drafted }: { job: Job; drafted: Drafted | undefined }) {
  const say = useSay();
  const intl = useIntl();
  const said =
    drafted === undefined || !DRAFTED.includes(job.status)
      ? undefined
      : { work: 'drafting' as const, done: drafted.drafted, segments: drafted.segments };
  // What is under way only grows: an answer may be older than what the stream has said.
  const known = said !== undefined && said.done >= (job.progress?.done ?? 0) ? said : job.progress;
  const { work, done, segments } = known ?? { work: 'drafting' as const, done: 0, segments: 0 };
  return (
    <Progress label={say('job.progress')} done={done} of={segments}>
      {known === null
        ? say('job.progress.waiting')
        : say(`job.progress.${work}`, {
            done: intl.formatNumber(done),
            segments: intl.formatNumber(segments),
          })}
    </Progress>
  );
}
