import { useEffect, useLayoutEffect, useState } from 'react';
import { useTranslate } from '../../i18n.tsx';
import { Caps } from '../actions/Caps.tsx';
import { hintOf } from '../actions/keys.ts';
import {
  directionOf,
  localeOf,
  mac,
  usePage,
  useSegment,
  useWhole,
  useWorkbench,
} from '../session/context.tsx';
import type { Match, Segment } from '../session/task.ts';
import { useVoteName } from '../session/vote-name.ts';
import shared from '../styles/workbench.module.css';
import { Pieces } from '../text/Pieces.tsx';
import { type Code, type Piece, partsOf, plainText, samePieces, withPart } from '../text/pieces.ts';
import { Changes, Difference } from './Changes.tsx';
import css from './panel.module.css';
import { Section } from './Section.tsx';

export function Suggestions({ position }: { position: number }) {
  const workbench = useWorkbench();
  const t = useTranslate();
  const voteName = useVoteName();
  const { segment, target } = useSegment(position);
  const { job } = workbench.task;
  const suggestions = useSuggestions(position);
  const describe = (code: Code) => workbench.describeCode(position, code);
  const sourceOf = ({ part }: Suggestion) =>
    plainText(part === undefined ? segment.source : (partsOf(segment.source)?.[part - 1] ?? [])).trim();
  return (
    <Section title={t('workbench.suggestions')}>
      {suggestions.every((one) => one === undefined) && (
        <p className={shared.muted}>{t('workbench.suggestions.none')}</p>
      )}
      <ol className={css.suggestions}>
        {suggestions.map(
          (suggestion, index) =>
            suggestion && (
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
                  {index < 5 && workbench.canEdit(position) && (
                    <Caps caps={hintOf(`use${(index + 1) as 1 | 2 | 3 | 4 | 5}`, mac)} />
                  )}
                </div>
                <button
                  type="button"
                  className={css.suggestion}
                  lang={localeOf(job.target_language)}
                  dir={segment.kept ? 'auto' : directionOf(job.target_language)}
                  translate="no"
                  disabled={!workbench.canEdit(position)}
                  onClick={() => {
                    workbench.setTarget(position, wholeOf(suggestion, segment, target));
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
                    <Difference
                      from={plainText(suggestion.source)}
                      to={sourceOf(suggestion)}
                      language={job.source_language}
                    />
                  </p>
                )}
              </li>
            ),
        )}
      </ol>
      {workbench.task.kind === 'edit' && <Changes position={position} />}
    </Section>
  );

  function nameOf({ vote, draftOrigin, origin, editor = '', tone, part }: Suggestion): string {
    if (vote) return voteName(vote);
    if (draftOrigin && origin === undefined) return t(`workbench.origin.${draftOrigin}`);
    const from = t('workbench.match.from', { origin: origin ?? '', editor });
    const name = part === undefined ? from : `${t('workbench.match.part', { part })} · ${from}`;
    return tone === undefined || tone === job.tone
      ? name
      : `${name} · ${t('workbench.tone', { tone: t('tone', { tone }) })}`;
  }
}

interface Suggestion {
  kind: 'match' | 'draft' | 'vote';
  target: readonly Piece[];
  source?: Match['source'];
  score?: number;
  /** Where a draft comes from. */
  draftOrigin?: Segment['origin'];
  origin?: Match['origin'];
  /** The name of the editor who confirmed it in this document or an open job. */
  editor?: string | undefined;
  /** The editors who confirmed the text in other tasks or jobs. */
  vote?: NonNullable<Segment['vote']>;
  tone?: string | undefined;
  /** The part of a split segment that the target translates, counted from 1; undefined for the whole segment. */
  part?: number | undefined;
}

/** Returns the target of the segment with a suggestion. */
function wholeOf({ part, target }: Suggestion, { source }: Segment, now: readonly Piece[]): readonly Piece[] {
  return part === undefined ? target : withPart(now, source, part, target);
}

/**
 * Returns the draft, the text that other editors confirmed and the matches, and registers them for the shortcuts. The
 * draft is first because it is known at once. A suggestion that arrives later gets the next free key, so each key keeps
 * its suggestion. The place of a withdrawn suggestion is undefined.
 */
function useSuggestions(position: number): readonly (Suggestion | undefined)[] {
  const workbench = useWorkbench();
  const { segment, target } = useSegment(position);
  const whole = useWhole();
  const taught = usePage((page) => page.taught);
  const [matches, setMatches] = useState(() => workbench.receivedMatches(position));
  // biome-ignore lint/correctness/useExhaustiveDependencies: after a confirmed text, the matches are asked for again
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
  }, [workbench, position, whole, taught]);
  const { draft, origin: draftOrigin, vote } = segment;
  const isDraft = vote?.state === 'filled';
  // A match with the text of the draft is shown as the draft, because two cards with one text help nobody.
  const isSame = ({ part, target }: Match) => part === undefined && draft && samePieces(target, draft);
  const drafted = matches.find(isSame);
  const suggestions = useInOrder([
    ...(draft
      ? [{ ...drafted, kind: 'draft' as const, target: draft, draftOrigin, ...(isDraft && { vote }) }]
      : []),
    ...(vote && !isDraft ? [{ kind: 'vote' as const, target: vote.target, vote }] : []),
    ...matches.flatMap((match): Suggestion[] => (isSame(match) ? [] : [{ ...match, kind: 'match' }])),
  ]);
  // A layout effect, so that the key of a suggestion works as soon as the suggestion is visible.
  useLayoutEffect(() => {
    workbench.setSuggestions(
      position,
      suggestions.map((one) => one && wholeOf(one, segment, target)),
    );
  });
  return suggestions;
}

/**
 * Returns all suggestions so far in the order in which they arrived, including those that are no longer passed. In the
 * place of a text that other editors no longer agree on, it returns undefined.
 */
function useInOrder(suggestions: readonly Suggestion[]): readonly (Suggestion | undefined)[] {
  const [known, setKnown] = useState<readonly Suggestion[]>([]);
  // A suggestion stays the same one when more is known about where its text comes from.
  const keyOf = ({ kind, target, part }: Suggestion) => JSON.stringify([kind, target, part]);
  const isSame = (one: Suggestion, other: Suggestion) => keyOf(one) === keyOf(other);
  const added = suggestions.filter((one) => !known.some((other) => isSame(one, other)));
  const all = [...known.map((one) => suggestions.find((other) => isSame(one, other)) ?? one), ...added];
  if (added.length > 0) setKnown(all);
  return all.map((one) => (one.kind === 'vote' && !suggestions.includes(one) ? undefined : one));
}
