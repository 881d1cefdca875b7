/**
 * The text field for the target of the active segment. It shows codes as chips or, in plain text, as tokens.
 */
import { useEffect, useLayoutEffect, useRef, useState } from 'react';
import { useTranslate } from '../../i18n.tsx';
import { settingOf, usePage, useSegment, useWorkbench } from '../session/context.tsx';
import css from '../styles/workbench.module.css';
import { type Code, codesOf, keyOf, labelOf, shownCode } from '../text/pieces.ts';
import { readTokens, tokenOf, withTokens } from '../text/tokens.ts';
import { useOverlays } from './overlays-context.ts';

export function Target({ position }: { position: number }) {
  const plain = usePage((page) => page.plain);
  return plain ? <PlainTarget position={position} /> : <RichTarget position={position} />;
}

function useAttributes(position: number) {
  const { job } = useWorkbench().task;
  const { segment } = useSegment(position);
  const t = useTranslate();
  const { lang, dir } = settingOf(job.target_language, segment);
  return {
    lang,
    dir,
    'aria-label': t('workbench.target_of', { number: position + 1 }),
  };
}

function RichTarget({ position }: { position: number }) {
  const workbench = useWorkbench();
  const { CodeList, Completion } = useOverlays();
  const holder = useRef<HTMLDivElement>(null);
  const { lang, dir, 'aria-label': label } = useAttributes(position);
  useLayoutEffect(
    () =>
      workbench.editor.mount(holder.current!, position, {
        role: 'textbox',
        'aria-multiline': 'true',
        'aria-label': label,
        class: css.live!,
        translate: 'no',
        spellcheck: 'true',
        lang,
        dir,
      }),
    [workbench, position, label, lang, dir],
  );
  const { findings } = useSegment(position);
  useEffect(() => {
    // While the checks have not run on a changed text, the marks of the earlier findings move with their words.
    if (findings) workbench.editor.highlight(findings.flatMap(({ range }) => range ?? []));
  }, [workbench, findings]);
  const codes = usePage((page) => page.codes);
  return (
    <>
      <div ref={holder} className={css.holder} />
      <Completion position={position} field={holder} />
      {codes && <CodeList typed={codes.typed} />}
    </>
  );
}

/** Parses the field on blur, because a token may be incomplete while the user types. */
function PlainTarget({ position }: { position: number }) {
  const workbench = useWorkbench();
  const t = useTranslate();
  const { target, segment } = useSegment(position);
  const [text, setText] = useState<string>();
  const [problem, setProblem] = useState<string>();
  const field = useRef<HTMLTextAreaElement>(null);
  const editable = usePage(() => workbench.canEdit(position));
  const attributes = useAttributes(position);
  const shown = text ?? withTokens(target, segment.source);

  // A shortcut that moves to another segment unmounts the field without a blur event.
  const onUnmount = useRef(() => {});
  onUnmount.current = () => apply(text);
  useEffect(() => () => onUnmount.current(), []);

  function apply(typed: string | undefined): void {
    if (typed === undefined) return;
    const label = (code: Code) => labelOf(shownCode(code, segment.source));
    const { pieces, missing, doubled, unknown } = readTokens(typed, segment.source);
    const wrong = [
      ...missing.map((code) => t('workbench.token.missing', { label: label(code) })),
      ...doubled.map((code) => t('workbench.token.doubled', { label: label(code) })),
      ...unknown.map((label) => t('workbench.token.unknown', { label })),
    ];
    setProblem(wrong.length === 0 ? undefined : wrong.join(' '));
    workbench.setTarget(position, pieces);
    setText(undefined);
  }

  return (
    <div className={css.holder}>
      <textarea
        ref={field}
        className={css.plain}
        data-plain
        spellCheck
        translate="no"
        readOnly={!editable}
        aria-describedby={`tokens-${position}`}
        rows={Math.max(1, shown.split('\n').length, Math.ceil(shown.length / 60))}
        {...attributes}
        value={shown}
        onChange={(event) => setText(event.target.value)}
        onBlur={() => apply(text)}
      />
      <p
        id={`tokens-${position}`}
        className={css.tokens}
        data-problem={problem !== undefined}
        role="status"
        dir="auto"
      >
        {problem ?? t('workbench.token.hint')}
      </p>
      <Legend position={position} />
    </div>
  );
}

/** Lists what each token of the segment stands for. */
function Legend({ position }: { position: number }) {
  const workbench = useWorkbench();
  const { source } = useSegment(position).segment;
  const codes = codesOf(source);
  if (codes.length === 0) return null;
  return (
    <ul className={css.legend}>
      {codes.map((code) => (
        <li key={keyOf(code)} dir="ltr">
          <code>{tokenOf(shownCode(code, source))}</code>{' '}
          <bdi>{workbench.describeCode(position, code).title}</bdi>
        </li>
      ))}
    </ul>
  );
}
