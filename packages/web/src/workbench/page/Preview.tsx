/** Shows the document as it would be delivered now. A click on a text goes to its segment. */
import { TRAITS } from '@dragoman/documents/formats';
import { useQuery } from '@tanstack/react-query';
import { useState, useSyncExternalStore } from 'react';
import { useTranslate } from '../../i18n.tsx';
import { FailureNotice } from '../../ui/Failure.tsx';
import { useOverlays } from '../rows/overlays-context.ts';
import { preview } from '../session/api.ts';
import { directionOf, localeOf, scriptOf, usePage, useWhole, useWorkbench } from '../session/context.tsx';
import type { Workbench } from '../session/workbench.ts';
import shared from '../styles/workbench.module.css';
import { plainText } from '../text/pieces.ts';
import { cuesOf, speedOf } from '../text/subtitles.ts';
import css from './preview.module.css';

const SIDES = ['source', 'target'] as const;
type Side = (typeof SIDES)[number];

export default function Preview() {
  const workbench = useWorkbench();
  const { HtmlPage } = useOverlays();
  const t = useTranslate();
  const [side, setSide] = useState<Side>('target');
  const [unreadable, setUnreadable] = useState(false);
  const { flow } = TRAITS[workbench.task.job.format];
  // The server assembles the document only for the holder of the claim.
  const whole = useWhole();
  const assembled = whole && side === 'target' && !unreadable;
  return (
    <section className={css.preview} aria-label={t('workbench.preview')}>
      <div className={css.previewHead}>
        <h2>{t('workbench.preview')}</h2>
        <fieldset className={css.sides} aria-label={t('workbench.preview.side')}>
          {SIDES.map((one) => (
            <button key={one} type="button" aria-pressed={one === side} onClick={() => setSide(one)}>
              {t(`workbench.preview.${one}`)}
            </button>
          ))}
        </fieldset>
      </div>
      {!whole && <p className={shared.muted}>{t('workbench.preview.part')}</p>}
      {assembled && flow === 'page' ? (
        <HtmlPage
          title={t('workbench.preview')}
          onChoose={(position) => goTo(workbench, position)}
          onUnreadable={() => setUnreadable(true)}
        />
      ) : assembled && flow === 'cues' ? (
        <Subtitles />
      ) : (
        <Units side={side} />
      )}
    </section>
  );
}

/** Goes to a segment. On a narrow screen, the preview replaces the rows, so it is closed first. */
function goTo(workbench: Workbench, position: number): void {
  if (matchMedia('(max-width: 56rem)').matches) workbench.update({ preview: false });
  workbench.activate(position, 'text');
}

/** Scrolls to the text of the active segment. It is the `ref` of the text's element. */
const follow = (place: HTMLElement | null) => place?.scrollIntoView({ block: 'center' });

function Subtitles() {
  const workbench = useWorkbench();
  const t = useTranslate();
  const { task, job } = workbench.task;
  const active = usePage((page) => page.active);
  const savedAt = usePage((page) => (page.saving.state === 'saved' ? (page.saving.at ?? 0) : -1));
  const { data, error, refetch } = useQuery(preview(task, savedAt));
  if (error) return <FailureNotice error={error} onRetry={() => void refetch()} />;
  if (!data) return <p className={shared.muted}>{t('workbench.preview.loading')}</p>;
  return (
    <ol className={css.cues}>
      {cuesOf(data.text).map((cue) => {
        const speed = speedOf(cue);
        const segment = workbench.positions.find((position) => {
          const { time } = workbench.segment(position).segment;
          return time !== undefined && time.from <= cue.from && time.to >= cue.to;
        });
        return (
          <li key={cue.number} ref={segment === active ? follow : undefined} data-active={segment === active}>
            <button type="button" onClick={() => segment !== undefined && goTo(workbench, segment)}>
              <small dir="ltr">{cue.timing}</small>
              <span
                className={css.cueText}
                lang={localeOf(job.target_language)}
                dir={directionOf(job.target_language)}
                translate="no"
              >
                {cue.text}
              </span>
              <small data-fast={speed > 17}>{t('workbench.preview.speed', { speed })}</small>
            </button>
          </li>
        );
      })}
    </ol>
  );
}

/**
 * Shows the sources or the targets of the segments as paragraphs, including targets that are not saved yet.
 */
function Units({ side }: { side: Side }) {
  const workbench = useWorkbench();
  const { job } = workbench.task;
  useSyncExternalStore(
    (listener) => workbench.watch('text', listener),
    () => workbench.textVersion,
  );
  const active = usePage((page) => page.active);
  const language = side === 'source' ? job.source_language : job.target_language;
  const units = Map.groupBy(workbench.positions, (position) => workbench.segment(position).segment.unit);
  return (
    <div
      className={css.document}
      lang={localeOf(language)}
      dir={directionOf(language)}
      data-script={scriptOf(language)}
      translate="no"
    >
      {[...units].map(([unit, positions]) => (
        <p key={unit}>
          {positions.map((position) => {
            const { segment, target } = workbench.segment(position);
            return (
              <button
                key={position}
                ref={position === active ? follow : undefined}
                type="button"
                data-active={position === active}
                onClick={() => goTo(workbench, position)}
              >
                {plainText(side === 'source' ? segment.source : target)}{' '}
              </button>
            );
          })}
        </p>
      ))}
    </div>
  );
}
