/** The times of a subtitle on the timeline of the flow view, with its reading speed and its longest line. */
import { useIntl } from 'react-intl';
import { useTranslate } from '../../i18n.tsx';
import { useWorkbench } from '../session/context.tsx';
import type { SegmentState } from '../session/state.ts';
import css from './flow.module.css';

/** Pauses of at least this length are shown, in milliseconds. */
const SHOWN_PAUSE = 1_000;
/** The height of the bar of a subtitle on the timeline. */
const PIXELS_PER_SECOND = 14;

/** The class of the element around the rows of subtitles. */
export const subtitlesClass = css.subtitles;

export function CueTime({ state }: { state: SegmentState }) {
  const workbench = useWorkbench();
  const t = useTranslate();
  const intl = useIntl();
  const { segment } = state;
  const { from, to, cues } = segment.time!;
  const before = workbench.positions[workbench.indexOf(segment.position) - 1];
  const end = before === undefined ? 0 : (workbench.segment(before).segment.time?.to ?? 0);
  const figures = workbench.subtitleFigures(segment.position)!;
  const bar = Math.min(96, Math.max(6, ((to - from) / 1_000) * PIXELS_PER_SECOND));
  return (
    <div className={css.time} style={{ '--bar': `${bar}px` } as object}>
      {from - end >= SHOWN_PAUSE && (
        <span className={css.pause}>
          {t('workbench.flow.pause', { seconds: intl.formatNumber(round((from - end) / 1_000)) })}
        </span>
      )}
      <span className={css.start}>
        <bdi dir="ltr">{clock(from)}</bdi>
      </span>
      <span className={css.end}>
        <bdi dir="ltr">{clock(to)}</bdi>
        {cues !== undefined && cues > 1 && ` · ${t('workbench.flow.cues', { count: cues })}`}
      </span>
      <span className={css.figures}>
        <span data-over={figures.speed > figures.mostSpeed}>
          {t('workbench.flow.speed', { speed: figures.speed })}
        </span>
        <span data-over={figures.line > figures.mostLine}>
          {t('workbench.flow.line', { line: figures.line })}
        </span>
      </span>
    </div>
  );
}

const round = (seconds: number) => Math.round(seconds * 10) / 10;

/** Writes a time as subtitle programs do, to a tenth of a second: `1:02:03.4` or `02:03.4`. */
function clock(milliseconds: number): string {
  const tenths = Math.floor(milliseconds / 100);
  const two = (value: number) => String(value).padStart(2, '0');
  const hours = Math.floor(tenths / 36_000);
  const rest = `${two(Math.floor(tenths / 600) % 60)}:${two(Math.floor(tenths / 10) % 60)}.${tenths % 10}`;
  return hours > 0 ? `${hours}:${rest}` : rest;
}
