/**
 * Shows the document as it would be delivered now. A customer's HTML is shown in a frame that runs no scripts, has no
 * origin and loads nothing.
 */
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { type RefObject, useEffect, useRef, useState, useSyncExternalStore } from 'react';
import { useTranslate } from '../i18n.tsx';
import { FailureNotice } from '../ui/Failure.tsx';
import { preview } from './api.ts';
import { directionOf, localeOf, scriptOf, usePage, useWhole, useWorkbench } from './context.tsx';
import { plainText } from './pieces.ts';
import css from './preview.module.css';
import { framed } from './preview-frame.ts';
import { cuesOf, speedOf } from './subtitles.ts';
import shared from './workbench.module.css';

const SIDES = ['source', 'target'] as const;
type Side = (typeof SIDES)[number];

export default function Preview() {
  const workbench = useWorkbench();
  const t = useTranslate();
  const [side, setSide] = useState<Side>('target');
  const { format } = workbench.task.job;
  // The server assembles the document only for the holder of the claim.
  const whole = useWhole();
  const section = useRef<HTMLElement>(null);
  useFollowing(section);
  const isAssembled = whole && side === 'target' && (format === 'html' || format === 'srt');
  return (
    <section ref={section} className={css.preview} aria-label={t('workbench.preview')}>
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
      {isAssembled ? <Assembled /> : <Units side={side} />}
    </section>
  );
}

/**
 * Keeps the active segment visible in the preview. A customer's HTML does not scroll, because it has no marks that show
 * where a segment starts.
 */
function useFollowing(section: RefObject<HTMLElement | null>): void {
  const active = usePage((page) => page.active);
  useEffect(() => {
    const follow = () => {
      const place = section.current!.querySelector('[data-active=true]');
      place?.scrollIntoView({ block: 'center' });
      return place !== null;
    };
    if (follow() || active < 0) return;
    // The preview does not contain the segment yet, because the server is still assembling the document.
    const observer = new MutationObserver(() => follow() && observer.disconnect());
    observer.observe(section.current!, { childList: true, subtree: true });
    return () => observer.disconnect();
  }, [section, active]);
}

/** The document that the server assembles from saved texts. */
function Assembled() {
  const workbench = useWorkbench();
  const t = useTranslate();
  const { task, job } = workbench.task;
  const savedAt = usePage((page) => (page.saving.state === 'saved' ? (page.saving.at ?? 0) : -1));
  const { data, error, refetch } = useQuery({
    ...preview(task, savedAt),
    placeholderData: keepPreviousData,
    enabled: savedAt >= 0,
  });
  if (error) return <FailureNotice error={error} onRetry={() => void refetch()} />;
  if (!data) return <p className={shared.muted}>{t('workbench.preview.loading')}</p>;
  if (data.format === 'srt') return <Subtitles text={data.text} />;
  const language = job.target_language;
  return (
    <iframe
      className={css.frame}
      title={t('workbench.preview')}
      sandbox=""
      referrerPolicy="no-referrer"
      srcDoc={framed(data.text, localeOf(language), directionOf(language), data.mark) as string}
    />
  );
}

function Subtitles({ text }: { text: string }) {
  const workbench = useWorkbench();
  const t = useTranslate();
  const { job } = workbench.task;
  const active = usePage((page) => page.active);
  return (
    <ol className={css.cues}>
      {cuesOf(text).map((cue) => {
        const speed = speedOf(cue);
        const segment = workbench.positions.find((position) => {
          const { time } = workbench.segment(position).segment;
          return time !== undefined && time.from <= cue.from && time.to >= cue.to;
        });
        return (
          <li key={cue.number} data-active={segment === active}>
            <button
              type="button"
              onClick={() => segment !== undefined && workbench.activate(segment, 'text')}
            >
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

/** Shows the texts as paragraphs, including texts that are not saved yet. */
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
                type="button"
                data-active={position === active}
                onClick={() => workbench.activate(position, 'text')}
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
