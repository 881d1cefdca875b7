/** The differences of the target to the draft and, in a review, to the target that the reviewer saw last. */
import { useTranslate } from '../../i18n.tsx';
import { directionOf, localeOf, useSegment, useWorkbench } from '../session/context.tsx';
import shared from '../styles/workbench.module.css';
import { diff } from '../text/diff.ts';
import { type Piece, plainText, samePieces } from '../text/pieces.ts';
import css from './panel.module.css';
import { Section } from './Section.tsx';

/** Shows the differences in a separate section, for a reviewer. */
export function ReviewChanges({ position }: { position: number }) {
  const t = useTranslate();
  const { segment, target, lastSeen } = useSegment(position);
  const { draft } = segment;
  return (
    <>
      {lastSeen && (
        <Section title={t('workbench.changes.looked')}>
          <TargetDifference from={lastSeen} to={target} />
        </Section>
      )}
      {draft && !(lastSeen && samePieces(draft, lastSeen)) && (
        <Section title={t('workbench.changes')}>
          {samePieces(draft, target) ? (
            <p className={shared.muted}>{t('workbench.changes.none')}</p>
          ) : (
            <TargetDifference from={draft} to={target} />
          )}
        </Section>
      )}
    </>
  );
}

/** Shows the difference to the draft, folded, for an editor. */
export function Changes({ position }: { position: number }) {
  const t = useTranslate();
  const { segment, target } = useSegment(position);
  if (!segment.draft || samePieces(segment.draft, target)) return null;
  return (
    <details className={css.changes}>
      <summary>{t('workbench.changes')}</summary>
      <TargetDifference from={segment.draft} to={target} />
    </details>
  );
}

function TargetDifference({ from, to }: { from: readonly Piece[]; to: readonly Piece[] }) {
  const language = useWorkbench().task.job.target_language;
  return (
    <p
      className={`${shared.diff} ${css.difference}`}
      lang={localeOf(language)}
      dir={directionOf(language)}
      translate="no"
    >
      <Difference from={plainText(from)} to={plainText(to)} language={language} />
    </p>
  );
}

export function Difference({ from, to, language }: { from: string; to: string; language: string }) {
  let at = 0;
  return diff(from, to, localeOf(language)).map(({ text, change }) => {
    at += text.length;
    const key = `${change} ${at}`;
    if (change === 'added') return <ins key={key}>{text}</ins>;
    if (change === 'removed') return <del key={key}>{text}</del>;
    return <span key={key}>{text}</span>;
  });
}
