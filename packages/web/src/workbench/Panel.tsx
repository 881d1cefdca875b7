/** Beside the grid: what is known about the active segment. Instructions and tone are always there. */
import { Button, Textarea, TextInput } from '@mantine/core';
import { IconAlertTriangle, IconCheck, IconCircleX } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useEffect, useId, useRef, useState } from 'react';
import { FailureNotice } from '../ui/Failure.tsx';
import { When } from '../ui/When.tsx';
import { useSay } from '../words.tsx';
import { concordance, history } from './api.ts';
import { Caps } from './Caps.tsx';
import { type Finding, keyOfFinding } from './checking.ts';
import { directionOf, localeOf, mac, usePage, useSegment, useWhole, useWorkbench } from './context.tsx';
import { diff } from './diff.ts';
import { hintOf } from './keys.ts';
import { Pieces } from './Pieces.tsx';
import css from './panel.module.css';
import { type Code, plainText, samePieces } from './pieces.ts';
import { useSentence } from './sentences.ts';
import type { Match } from './task.ts';
import shared from './workbench.module.css';

export default function Panel() {
  const say = useSay();
  const active = usePage((page) => page.active);
  const [opened, open] = useState(false);
  return (
    <aside className={shared.panel} aria-label={say('workbench.panel')} data-opened={opened}>
      <button type="button" className={css.sheet} aria-expanded={opened} onClick={() => open(!opened)}>
        {say('workbench.panel')}
      </button>
      <div className={css.sections}>
        <Instructions />
        {active >= 0 && <OfSegment key={active} position={active} />}
      </div>
    </aside>
  );
}

function OfSegment({ position }: { position: number }) {
  const asked = usePage((page) => page.concordance);
  const { segment } = useSegment(position);
  const { access } = useWorkbench().task;
  const whole = useWhole();
  const say = useSay();
  return (
    <>
      {segment.mine && <Checks position={position} />}
      {whole ? (
        <Glossary position={position} />
      ) : (
        <p className={shared.muted}>{say('workbench.while_held')}</p>
      )}
      <Suggestions position={position} />
      {whole && asked !== undefined && <Concordance words={asked} />}
      <Issues position={position} />
      {whole && <Comments position={position} />}
      {(whole || access === 'record') && <History position={position} />}
    </>
  );
}

function Section({ title, extra, children }: { title: string; extra?: ReactNode; children: ReactNode }) {
  const id = useId();
  return (
    <section className={css.section} aria-labelledby={id}>
      <div className={css.sectionHead}>
        <h2 id={id}>{title}</h2>
        {extra}
      </div>
      {children}
    </section>
  );
}

function Instructions() {
  const { job } = useWorkbench().task;
  const say = useSay();
  const lines = [
    ...(job.brand ? [say('workbench.brand', { brand: job.brand })] : []),
    ...(job.tone ? [say('workbench.tone', { tone: job.tone })] : []),
    ...(job.topics.length > 0 ? [job.topics.join(', ')] : []),
  ];
  return (
    <Section title={say('workbench.instructions')}>
      <div className={css.card}>
        {job.instructions.length === 0 && (
          <p className={shared.muted}>{say('workbench.instructions.none')}</p>
        )}
        {job.instructions.map(({ from, text }) => (
          <p key={from} dir="auto" className={css.instruction}>
            {job.instructions.length > 1 && <small>{say(`workbench.instructions.${from}`)}</small>}
            {text}
          </p>
        ))}
        {lines.length > 0 && <small className={shared.muted}>{lines.join(' · ')}</small>}
      </div>
    </Section>
  );
}

function Checks({ position }: { position: number }) {
  const workbench = useWorkbench();
  const say = useSay();
  const sentence = useSentence();
  const state = useSegment(position);
  const asked = usePage((page) => page.asked === position);
  useEffect(() => {
    // What nobody has typed at yet is looked at once the row is there.
    if (state.findings) return;
    const timer = setTimeout(() => workbench.findings(position), 300);
    return () => clearTimeout(timer);
  }, [workbench, position, state.findings]);
  const findings = state.findings ?? [];
  const open = (finding: Finding) => !state.acknowledged.includes(keyOfFinding(finding));
  return (
    <Section title={say('workbench.checks')}>
      {state.findings && findings.length === 0 && (
        <p className={css.passed}>
          <IconCheck size={16} aria-hidden /> {say('workbench.checks.none')}
        </p>
      )}
      <ul className={css.findings}>
        {findings.map((finding) => (
          <li
            key={`${keyOfFinding(finding)} ${finding.range?.start}`}
            data-severity={finding.severity}
            data-open={open(finding)}
          >
            {finding.severity === 'error' ? (
              <IconCircleX size={16} aria-hidden />
            ) : (
              <IconAlertTriangle size={16} aria-hidden />
            )}
            <span>
              <span className="visually-hidden">{say(`workbench.severity.${finding.severity}`)}: </span>
              {sentence(finding)}
            </span>
          </li>
        ))}
      </ul>
      {asked && findings.some(({ severity }) => severity === 'error') && (
        <p className={css.blocked}>{say('workbench.checks.blocked')}</p>
      )}
      {asked && findings.every(({ severity }) => severity === 'warning') && findings.length > 0 && (
        <div className={css.acknowledge}>
          <p>{say('workbench.checks.acknowledge')}</p>
          <Button size="xs" onClick={() => workbench.confirm()}>
            {say('workbench.checks.accept')} <Caps caps={hintOf('confirm', mac)} />
          </Button>
        </div>
      )}
    </Section>
  );
}

function Glossary({ position }: { position: number }) {
  const workbench = useWorkbench();
  const say = useSay();
  const { segment, target } = useSegment(position);
  const { job } = workbench.task;
  const { wanted, forbidden } = workbench.glossary.compare(segment.source, target);
  const terms = [...new Map(wanted.map((one) => [`${one.term.source} ${one.term.target}`, one])).values()];
  return (
    <Section title={say('workbench.glossary')}>
      {terms.length + forbidden.length === 0 && (
        <p className={shared.muted}>{say('workbench.glossary.none')}</p>
      )}
      <ul className={css.terms}>
        {terms.map(({ term, there }) => (
          <li key={`${term.source} ${term.target}`} data-there={there}>
            <span
              className={there ? shared.termThere : shared.term}
              lang={localeOf(job.source_language)}
              dir="auto"
            >
              {term.source}
            </span>
            <button
              type="button"
              lang={localeOf(job.target_language)}
              dir={directionOf(job.target_language)}
              title={say('workbench.glossary.insert')}
              onClick={() => {
                workbench.live.insertText(term.doNotTranslate ? term.source : term.target);
                workbench.live.focus();
              }}
            >
              {term.doNotTranslate ? term.source : term.target}
            </button>
            {there && (
              <span className={css.thereMark}>
                <IconCheck size={14} aria-hidden />
                <span className="visually-hidden">{say('workbench.glossary.there')}</span>
              </span>
            )}
            {term.doNotTranslate && <small>{say('workbench.glossary.keep')}</small>}
            {term.note && <small dir="auto">{term.note}</small>}
          </li>
        ))}
        {forbidden.map(({ term, range }) => (
          <li key={`${term.target} ${range.start}`} data-forbidden>
            <s dir="auto">{term.target}</s>
            <small>{say('workbench.glossary.forbidden')}</small>
          </li>
        ))}
      </ul>
    </Section>
  );
}

function Suggestions({ position }: { position: number }) {
  const workbench = useWorkbench();
  const say = useSay();
  const { segment } = useSegment(position);
  const { job } = workbench.task;
  const suggestions = useSuggestions(position);
  const chip = (code: Code) => workbench.chip(position, code);
  const source = plainText(segment.source);
  return (
    <Section title={say('workbench.suggestions')}>
      {suggestions.length === 0 && <p className={shared.muted}>{say('workbench.suggestions.none')}</p>}
      <ol className={css.suggestions}>
        {suggestions.map((suggestion, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: its number is its key
          <li key={index} className={css.card}>
            <div className={css.suggestionHead}>
              <span>{nameOf(suggestion)}</span>
              {suggestion.score !== undefined && (
                <span className={shared.badge} data-tone={suggestion.score >= 100 ? 'success' : 'info'}>
                  {suggestion.score > 100 ? say('workbench.match.context') : `${suggestion.score} %`}
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
                workbench.live.focus();
              }}
            >
              <Pieces pieces={suggestion.target} chip={chip} />
            </button>
            {suggestion.source && (suggestion.score ?? 100) < 100 && (
              <p
                className={`${shared.diff} ${css.difference}`}
                lang={localeOf(job.source_language)}
                dir={directionOf(job.source_language)}
              >
                <span className="visually-hidden">{say('workbench.match.difference')} </span>
                <Difference from={plainText(suggestion.source)} to={source} language={job.source_language} />
              </p>
            )}
          </li>
        ))}
      </ol>
      <Changes position={position} />
    </Section>
  );

  function nameOf({ kind, origin, tone }: Suggestion): string {
    if (kind === 'draft') return say(`workbench.origin.${segment.origin}`);
    const name =
      origin === '' ? say('workbench.origin.memory') : say('workbench.match.from', { origin: origin! });
    return tone === undefined || tone === job.tone ? name : `${name} · ${say('workbench.tone', { tone })}`;
  }
}

/** What the editor made of the draft. */
function Changes({ position }: { position: number }) {
  const { job } = useWorkbench().task;
  const say = useSay();
  const { segment, target } = useSegment(position);
  if (!segment.draft || samePieces(segment.draft, target)) return null;
  return (
    <details className={css.changes}>
      <summary>{say('workbench.changes')}</summary>
      <p
        className={`${shared.diff} ${css.difference}`}
        lang={localeOf(job.target_language)}
        dir={directionOf(job.target_language)}
      >
        <Difference from={plainText(segment.draft)} to={plainText(target)} language={job.target_language} />
      </p>
    </details>
  );
}

function Difference({ from, to, language }: { from: string; to: string; language: string }) {
  let at = 0;
  return diff(from, to, localeOf(language)).map(({ text, change }) => {
    at += text.length;
    const key = `${change} ${at}`;
    if (change === 'added') return <ins key={key}>{text}</ins>;
    if (change === 'removed') return <del key={key}>{text}</del>;
    return <span key={key}>{text}</span>;
  });
}

export interface Suggestion {
  kind: 'match' | 'draft';
  target: Match['target'];
  source?: Match['source'];
  score?: number;
  origin?: string;
  tone?: string | undefined;
}

/** Matches first, the draft last; asked for once a segment. */
export function useSuggestions(position: number): readonly Suggestion[] {
  const workbench = useWorkbench();
  const { segment } = useSegment(position);
  const whole = useWhole();
  const [matches, setMatches] = useState<readonly Match[]>([]);
  useEffect(() => {
    if (!whole) return;
    let gone = false;
    // Whoever passes quickly over segments asks for none of them.
    const timer = setTimeout(() => {
      workbench.matches(position).then(
        (found) => !gone && setMatches(found),
        () => {},
      );
    }, 150);
    return () => {
      gone = true;
      clearTimeout(timer);
    };
  }, [workbench, position, whole]);
  const suggestions = [
    ...matches.map((match): Suggestion => ({ ...match, kind: 'match' })),
    ...(segment.draft ? [{ kind: 'draft', target: segment.draft } as const] : []),
  ];
  useEffect(() => {
    workbench.suggestions = suggestions.map(({ target }) => target);
  });
  return suggestions;
}

function Concordance({ words }: { words: string }) {
  const workbench = useWorkbench();
  const say = useSay();
  const [asked, ask] = useState(words);
  const { data, error, isFetching } = useQuery(concordance(workbench.task.task, asked));
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => {
    ask(words);
    field.current?.focus();
    field.current?.select();
  }, [words]);
  return (
    <Section title={say('workbench.concordance')}>
      <TextInput
        ref={field}
        aria-label={say('workbench.concordance.words')}
        defaultValue={words}
        key={words}
        onKeyDown={(event) => {
          if (event.key === 'Enter' && !event.nativeEvent.isComposing) ask(event.currentTarget.value.trim());
          if (event.key === 'Escape') workbench.close('concordance');
        }}
      />
      {error && <FailureNotice error={error} />}
      {data && data.entries.length === 0 && !isFetching && (
        <p className={shared.muted}>{say('workbench.concordance.none')}</p>
      )}
      <dl className={css.entries}>
        {data?.entries.map((entry) => (
          <div key={`${entry.source} ${entry.target}`}>
            <dt dir="auto">{entry.source}</dt>
            <dd dir="auto">{entry.target}</dd>
          </div>
        ))}
      </dl>
    </Section>
  );
}

function Issues({ position }: { position: number }) {
  const workbench = useWorkbench();
  const say = useSay();
  const { issues } = useSegment(position);
  const review = workbench.task.kind === 'review';
  const readOnly = usePage((page) => page.readOnly !== undefined);
  if (!review && issues.length === 0) return null;
  return (
    <Section
      title={say('workbench.issues')}
      extra={
        review &&
        !readOnly && (
          <Button
            size="compact-xs"
            variant="subtle"
            title={hintOf('issue', mac).join('+')}
            onClick={() => workbench.askIssue()}
          >
            {say('workbench.issues.mark')}
          </Button>
        )
      }
    >
      {issues.length === 0 && <p className={shared.muted}>{say('workbench.issues.none')}</p>}
      <ul className={css.comments}>
        {issues.map((issue) => (
          <li key={issue.issue} className={css.card}>
            <b>{say(`workbench.category.${issue.category}`)}</b> · {say(`workbench.mqm.${issue.severity}`)}
            {issue.note && <p dir="auto">{issue.note}</p>}
            <small className={shared.muted}>{issue.by}</small>
            {review && !readOnly && (
              <Button size="compact-xs" variant="subtle" onClick={() => void workbench.unmarkIssue(issue)}>
                {say('workbench.issues.remove')}
              </Button>
            )}
          </li>
        ))}
      </ul>
    </Section>
  );
}

function Comments({ position }: { position: number }) {
  const workbench = useWorkbench();
  const say = useSay();
  useSegment(position);
  const commenting = usePage((page) => page.commenting);
  const [text, setText] = useState('');
  const [error, setError] = useState<Error>();
  const field = useRef<HTMLTextAreaElement>(null);
  useEffect(() => {
    if (commenting) field.current?.focus();
  }, [commenting]);
  const here = workbench.comments.filter((one) => one.position === position || one.position === undefined);
  async function send(): Promise<void> {
    if (text.trim() === '') return;
    try {
      await workbench.comment(text.trim(), position);
      setText('');
      setError(undefined);
    } catch (failed) {
      setError(failed as Error);
    }
  }
  return (
    <Section
      title={say('workbench.comments')}
      extra={
        !commenting && (
          <Button
            size="compact-xs"
            variant="subtle"
            title={hintOf('comment', mac).join('+')}
            onClick={() => workbench.update({ commenting: true })}
          >
            {say('workbench.comments.write')}
          </Button>
        )
      }
    >
      {here.length === 0 && !commenting && <p className={shared.muted}>{say('workbench.comments.none')}</p>}
      <ul className={css.comments}>
        {here.map((comment) => (
          <li key={comment.comment} className={css.card}>
            <p dir="auto">{comment.text}</p>
            <small className={shared.muted}>
              {comment.by} · <When at={comment.created_at} />
              {comment.position === undefined && ` · ${say('workbench.comments.job')}`}
            </small>
          </li>
        ))}
      </ul>
      {commenting && (
        <div className={css.write}>
          <Textarea
            ref={field}
            aria-label={say('workbench.comments.text')}
            autosize={false}
            rows={3}
            maxLength={2000}
            value={text}
            onChange={(event) => setText(event.target.value)}
            onKeyDown={(event) => {
              if (event.nativeEvent.isComposing) return;
              if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) void send();
              if (event.key === 'Escape') {
                workbench.update({ commenting: false });
                workbench.live.focus();
              }
            }}
          />
          {error && <FailureNotice error={error} />}
          <Button size="xs" onClick={() => void send()}>
            {say('workbench.comments.send')}
          </Button>
        </div>
      )}
    </Section>
  );
}

function History({ position }: { position: number }) {
  const workbench = useWorkbench();
  const say = useSay();
  const { segment } = useSegment(position);
  const [opened, open] = useState(false);
  const { data, error } = useQuery({
    ...history(workbench.task.task, position, segment.revision),
    enabled: opened,
  });
  const chip = (code: Code) => workbench.chip(position, code);
  return (
    <details className={css.section} onToggle={(event) => open(event.currentTarget.open)}>
      <summary className={css.sectionHead}>
        <h2>{say('workbench.history')}</h2>
      </summary>
      {error && <FailureNotice error={error} />}
      {data?.entries.length === 0 && <p className={shared.muted}>{say('workbench.history.none')}</p>}
      <ul className={css.comments}>
        {data?.entries.map((entry) => (
          <li key={`${entry.revision} ${entry.created_at}`} className={css.card}>
            <p dir={directionOf(workbench.task.job.target_language)} translate="no">
              <Pieces pieces={entry.target} chip={chip} />
            </p>
            <small className={shared.muted}>
              {say(`workbench.history.${entry.kind}`, { by: entry.by })} · <When at={entry.created_at} />
            </small>
          </li>
        ))}
      </ul>
    </details>
  );
}
