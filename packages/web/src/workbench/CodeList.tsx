/** The codes of the active segment: one is moved to the caret, or jumped to. */
import { type KeyboardEvent, useEffect, useLayoutEffect, useRef, useState } from 'react';
import { useSay } from '../words.tsx';
import { useWorkbench } from './context.tsx';
import { Chip } from './Pieces.tsx';
import { type Code, keyOf } from './pieces.ts';
import css from './workbench.module.css';

export default function CodeList({ typed }: { typed: boolean }) {
  const workbench = useWorkbench();
  const say = useSay();
  const list = useRef<HTMLDivElement>(null);
  const position = workbench.page.active;
  const [codes] = useState(() => workbench.live.codes());
  const [chosen, choose] = useState(0);

  useLayoutEffect(() => {
    const caret = workbench.live.caret();
    const { style, offsetWidth, offsetHeight } = list.current!;
    if (!caret) return;
    const below = caret.bottom + offsetHeight + 16 < innerHeight;
    style.setProperty('left', `${Math.max(8, Math.min(caret.left, innerWidth - offsetWidth - 8))}px`);
    style.setProperty('top', `${below ? caret.bottom + 6 : Math.max(8, caret.top - offsetHeight - 6)}px`);
  }, [workbench]);
  useEffect(() => list.current!.focus(), []);

  function take(code: Code, jump: boolean): void {
    if (typed) workbench.live.untype();
    if (jump) workbench.live.jumpTo(code);
    else workbench.live.placeCode(code);
    close();
  }

  function close(): void {
    workbench.close('codes');
    workbench.live.focus();
  }

  function press(event: KeyboardEvent): void {
    const { key } = event;
    const by = { ArrowDown: 1, ArrowUp: -1 }[key];
    if (by !== undefined) choose((chosen + by + codes.length) % codes.length);
    else if (key === 'Enter' && codes[chosen]) take(codes[chosen], event.shiftKey);
    else if (key === 'Escape' || key === 'Tab') close();
    else if (/^\d$/.test(key)) {
      const at = codes.findIndex((code) => String(code.number).startsWith(key));
      if (at !== -1) choose(at);
    } else return;
    event.preventDefault();
    event.stopPropagation();
  }

  return (
    <div
      ref={list}
      className={css.codes}
      role="listbox"
      tabIndex={0}
      aria-label={say('workbench.codes.title')}
      aria-activedescendant={codes[chosen] ? `code-${chosen}` : undefined}
      onKeyDown={press}
      onBlur={() => workbench.close('codes')}
    >
      {codes.length === 0 && <p>{say('workbench.codes.none')}</p>}
      {codes.map((code, index) => {
        const said = workbench.chip(position, code);
        return (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the list has the focus and the keys
          <div
            key={keyOf(code)}
            id={`code-${index}`}
            role="option"
            tabIndex={-1}
            aria-selected={index === chosen}
            aria-label={said.label}
            onMouseDown={(event) => event.preventDefault()}
            onClick={(event) => take(code, event.shiftKey)}
          >
            <Chip code={code} {...said} />
            <code dir="ltr">{said.title}</code>
          </div>
        );
      })}
      <p className={css.codesHint}>{say('workbench.codes.hint')}</p>
    </div>
  );
}
