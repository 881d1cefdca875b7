import { useEffect, useState } from 'react';
import { useTranslate } from '../../i18n.tsx';
import { Caps } from '../Caps.tsx';
import { directionOf, localeOf, mac, useSegment, useWhole, useWorkbench } from '../context.tsx';
import { hintOf } from '../keys.ts';
import { Pieces } from '../Pieces.tsx';
import { type Code, plainText } from '../pieces.ts';
import type { Match } from '../task.ts';
import shared from '../workbench.module.css';
import { Changes, Difference } from './Changes.tsx';
import css from './panel.module.css';
import { Section } from './Section.tsx';

export function Suggestions({ position }: { position: number }) {
  const workbench = useWorkbench();
  const t = useTranslate();
  const { segment } = useSegment(position);
  const { job } = workbench.task;
  const suggestions = useSuggestions(position);
  const describe = (code: Code) => workbench.describeCode(position, code);
  const source = plainText(segment.source);
  return (
    <Section title={t('workbench.suggestions')}>
      {suggestions.length === 0 && <p className={shared.muted}>{t('workbench.suggestions.none')}</p>}
      <ol className={css.suggestions}>
        {suggestions.map((suggestion, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: its number is its key
          <li key={index} className={css.card}>
            <div className={css.suggestionHead}>
              <span>{nameOf(suggestion)}</span>
              {suggestion.score !== undefined && (
                <span className={shared.badge} data-tone={suggestion.score >= 100 ? 'success' : 'info'}>
                  {suggestion.score > 100 ? t('workbench.match.context') : `${suggestion.score} %`}
                </span>
              )}
              <span className={shared.spacer} />
              {index < 5 && <Caps caps={hintOf(`use${(index + 1) as 1 | 2 | 3 | 4 | 5}`, mac)} />}
            </div>
            <button
              type="button"
              className={css.suggestion}
              lang={localeOf(job.target_language)}
              dir={segment.kept ? 'auto' : directionOf(job.target_language)}
              translate="no"
              disabled={!workbench.canEdit(position)}
              onClick={() => {
                workbench.setTarget(position, suggestion.target);
                workbench.editor.focus();
              }}
            >
              <Pieces pieces={suggestion.target} describe={describe} />
            </button>
            {suggestion.source && (suggestion.score ?? 100) < 100 && (
              <p
                className={`${shared.diff} ${css.difference}`}
                lang={localeOf(job.source_language)}
                dir={directionOf(job.source_language)}
              >
                <span className="visually-hidden">{t('workbench.match.difference')} </span>
                <Difference from={plainText(suggestion.source)} to={source} language={job.source_language} />
              </p>
            )}
          </li>
        ))}
      </ol>
      {workbench.task.kind === 'edit' && <Changes position={position} />}
    </Section>
  );

  function nameOf({ kind, origin, tone }: Suggestion): string {
    if (kind === 'draft') return t(`workbench.origin.${segment.origin}`);
    const name =
      origin === '' ? t('workbench.origin.memory') : t('workbench.match.from', { origin: origin! });
    return tone === undefined || tone === job.tone
      ? name
      : `${name} · ${t('workbench.tone', { tone: t('tone', { tone }) })}`;
  }
}

interface Suggestion {
  kind: 'match' | 'draft';
  target: Match['target'];
  source?: Match['source'];
  score?: number;
  origin?: string;
  tone?: string | undefined;
}

/**
 * Returns the draft, then the matches, and registers them for the shortcuts. The draft is first because it is
 * known at once. A match that arrives later gets the next free key, so no key changes its suggestion.
 */
function useSuggestions(position: number): readonly Suggestion[] {
  const workbench = useWorkbench();
  const { segment } = useSegment(position);
  const whole = useWhole();
  const [matches, setMatches] = useState(() => workbench.receivedMatches(position));
  useEffect(() => {
    if (!whole) return;
    let unmounted = false;
    // The delay prevents requests for segments that the editor only passes.
    const timer = setTimeout(() => {
      workbench.matches(position).then(
        (found) => {
          if (unmounted) return;
          setMatches(found);
          workbench.prepareNext(position);
        },
        () => {},
      );
    }, 150);
    return () => {
      unmounted = true;
      clearTimeout(timer);
    };
  }, [workbench, position, whole]);
  const suggestions = [
    ...(segment.draft ? [{ kind: 'draft', target: segment.draft } as const] : []),
    ...matches.map((match): Suggestion => ({ ...match, kind: 'match' })),
  ];
  useEffect(() => {
    workbench.suggestions = suggestions.map(({ target }) => target);
  });
  return suggestions;
}
