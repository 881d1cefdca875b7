/**
 * The list of the active segment's codes in the order of the source. The editor can move a code to the caret,
 * or jump to it. When the list opens, the next code that the editor has to place is selected (`nextCode`).
 */
import { type KeyboardEvent, useEffect, useLayoutEffect, useRef, useState } from 'react';
import { useTranslate } from '../../i18n.tsx';
import { isCharacter } from '../actions/keys.ts';
import { useWorkbench } from '../session/context.tsx';
import css from '../styles/workbench.module.css';
import { Chip } from '../text/Pieces.tsx';
import { type Code, keyOf } from '../text/pieces.ts';

export default function CodeList({ typed }: { typed: boolean }) {
  const workbench = useWorkbench();
  const t = useTranslate();
  const list = useRef<HTMLDivElement>(null);
  const position = workbench.page.active;
  const [codes] = useState(() => workbench.editor.codes());
  // The caret does not move while the list is open, so the next code stays the same.
  const [chosen, setChosen] = useState(() => {
    const next = workbench.editor.nextCode();
    return Math.max(0, next === undefined ? 0 : codes.findIndex((code) => keyOf(code) === keyOf(next)));
  });

  useLayoutEffect(() => {
    const caret = workbench.editor.caret();
    const { style, offsetWidth, offsetHeight } = list.current!;
    if (!caret) return;
    const below = caret.bottom + offsetHeight + 16 < innerHeight;
    style.setProperty('left', `${Math.max(8, Math.min(caret.left, innerWidth - offsetWidth - 8))}px`);
    style.setProperty('top', `${below ? caret.bottom + 6 : Math.max(8, caret.top - offsetHeight - 6)}px`);
  }, [workbench]);
  useEffect(() => list.current!.focus(), []);

  function take(code: Code, jump: boolean): void {
    if (typed) workbench.editor.deleteTrigger();
    if (jump) workbench.editor.jumpTo(code);
    else workbench.editor.placeCode(code);
    close();
  }

  function close(): void {
    workbench.close('codes');
    workbench.editor.focus();
  }

  function press(event: KeyboardEvent): void {
    const { key } = event;
    const by = { ArrowDown: 1, ArrowUp: -1 }[key];
    const numbered = /^\d$/.test(key)
      ? codes.findIndex((code) => workbench.labelOf(code).replace('/', '').startsWith(key))
      : -1;
    if (by !== undefined) setChosen((chosen + by + codes.length) % codes.length);
    else if (key === 'Enter' && codes[chosen]) take(codes[chosen], event.shiftKey);
    else if (key === 'Escape' || key === 'Tab') close();
    else if (numbered !== -1) setChosen(numbered);
    else {
      // The text has the focus again, so the browser writes a typed character into it: "<" may be a part of the text.
      if (isCharacter(event.nativeEvent)) close();
      return;
    }
    event.preventDefault();
    event.stopPropagation();
  }

  return (
    <div
      ref={list}
      className={css.codes}
      role="listbox"
      tabIndex={0}
      aria-label={t('workbench.codes.title')}
      aria-activedescendant={codes[chosen] ? `code-${chosen}` : undefined}
      onKeyDown={press}
      onBlur={() => workbench.close('codes')}
    >
      {codes.length === 0 && <p>{t('workbench.codes.none')}</p>}
      {codes.map((code, index) => {
        const described = workbench.describeCode(position, code);
        return (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the list has the focus and the keys
          <div
            key={keyOf(code)}
            id={`code-${index}`}
            role="option"
            tabIndex={-1}
            aria-selected={index === chosen}
            aria-label={described.label}
            onMouseDown={(event) => event.preventDefault()}
            onClick={(event) => take(code, event.shiftKey)}
          >
            <Chip code={code} {...described} />
            <code dir="ltr">{described.title}</code>
          </div>
        );
      })}
      <p className={css.codesHint}>{t('workbench.codes.hint')}</p>
    </div>
  );
}
