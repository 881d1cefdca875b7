/** Find and replace in the whole task: rows that are not drawn are found as well. */
import { Button, TextInput } from '@mantine/core';
import { useEffect, useRef, useState, useSyncExternalStore } from 'react';
import { useSay } from '../words.tsx';
import { usePage, useWorkbench } from './context.tsx';
import css from './workbench.module.css';

export default function Find() {
  const workbench = useWorkbench();
  const say = useSay();
  const { wanted, replacing } = usePage((page) => page.find!);
  const active = usePage((page) => page.active);
  const [by, setBy] = useState('');
  const field = useRef<HTMLInputElement>(null);
  // Counted anew when a text changes.
  const texts = useSyncExternalStore(
    (listener) => workbench.watch('text', listener),
    () => workbench.texts,
  );
  const found = workbench.count(wanted);
  const count = found.reduce((sum, one) => sum + one.count, 0);
  useEffect(() => {
    field.current?.focus();
    field.current?.select();
  }, []);

  function go(by: -1 | 1): void {
    const next =
      by === 1
        ? found.find(({ position }) => position > active)
        : found.findLast(({ position }) => position < active);
    const there = next ?? found.at(by === 1 ? 0 : -1);
    if (!there) return;
    workbench.activate(there.position, 'row');
    field.current?.focus();
  }

  return (
    <search
      className={css.find}
      data-texts={texts}
      onKeyDown={(event) => {
        if (event.nativeEvent.isComposing) return;
        if (event.key === 'Escape') {
          event.preventDefault();
          workbench.update({ focus: 'text' });
          workbench.close('find');
        }
      }}
    >
      <TextInput
        ref={field}
        size="xs"
        aria-label={say('workbench.find')}
        placeholder={say('workbench.find')}
        value={wanted}
        onChange={(event) => workbench.update({ find: { wanted: event.target.value, replacing } })}
        onKeyDown={(event) => {
          if (event.key !== 'Enter' || event.nativeEvent.isComposing) return;
          event.preventDefault();
          go(event.shiftKey ? -1 : 1);
        }}
      />
      <span className={css.muted} role="status">
        {say('workbench.find.count', { count, segments: found.length })}
      </span>
      <Button size="xs" disabled={found.length === 0} onClick={() => go(-1)}>
        {say('workbench.find.previous')}
      </Button>
      <Button size="xs" disabled={found.length === 0} onClick={() => go(1)}>
        {say('workbench.find.next')}
      </Button>
      {replacing && (
        <>
          <TextInput
            size="xs"
            aria-label={say('workbench.replace')}
            placeholder={say('workbench.replace')}
            value={by}
            onChange={(event) => setBy(event.target.value)}
          />
          <Button
            size="xs"
            disabled={wanted === '' || !workbench.canEdit(active)}
            onClick={() => {
              workbench.replaceAll(wanted, by, [active]);
              go(1);
            }}
          >
            {say('workbench.replace.one')}
          </Button>
          <Button size="xs" disabled={wanted === ''} onClick={() => workbench.replaceAll(wanted, by)}>
            {say('workbench.replace.all')}
          </Button>
        </>
      )}
      <span className={css.spacer} />
      <Button
        size="xs"
        variant="subtle"
        onClick={() => {
          workbench.update({ focus: 'text' });
          workbench.close('find');
        }}
      >
        {say('ui.close')}
      </Button>
    </search>
  );
}
