/** Find and replace in the whole task, including rows that are not rendered. */
import { Button, TextInput } from '@mantine/core';
import { useEffect, useRef, useState, useSyncExternalStore } from 'react';
import { useTranslate } from '../../i18n.tsx';
import { usePage, useWorkbench } from '../session/context.tsx';
import css from '../styles/workbench.module.css';
import { countMatches, replaceAll } from './search.ts';

export default function Find() {
  const workbench = useWorkbench();
  const t = useTranslate();
  const { query, replacing } = usePage((page) => page.find!);
  const active = usePage((page) => page.active);
  const field = useRef<HTMLInputElement>(null);
  // Counts the matches again when a text changes.
  const textVersion = useSyncExternalStore(
    (listener) => workbench.watch('text', listener),
    () => workbench.textVersion,
  );
  const found = countMatches(workbench, query);
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
    workbench.activate(there.position, 'search');
  }

  return (
    <search
      className={css.find}
      data-texts={textVersion}
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
        data-field="find"
        aria-label={t('workbench.find')}
        placeholder={t('workbench.find')}
        value={query}
        onChange={(event) => workbench.update({ find: { query: event.target.value, replacing } })}
        onKeyDown={(event) => {
          if (event.key !== 'Enter' || event.nativeEvent.isComposing) return;
          event.preventDefault();
          go(event.shiftKey ? -1 : 1);
        }}
      />
      <span className={css.muted} role="status">
        {query !== '' && t('workbench.find.count', { count, segments: found.length })}
      </span>
      <Button size="xs" disabled={found.length === 0} onClick={() => go(-1)}>
        {t('workbench.find.previous')}
      </Button>
      <Button size="xs" disabled={found.length === 0} onClick={() => go(1)}>
        {t('workbench.find.next')}
      </Button>
      {replacing && <Replace onReplaced={() => go(1)} />}
      <span className={css.spacer} />
      <Button
        size="xs"
        variant="subtle"
        onClick={() => {
          workbench.update({ focus: 'text' });
          workbench.close('find');
        }}
      >
        {t('ui.close')}
      </Button>
    </search>
  );
}

function Replace({ onReplaced }: { onReplaced: () => void }) {
  const workbench = useWorkbench();
  const t = useTranslate();
  const query = usePage((page) => page.find!.query);
  const active = usePage((page) => page.active);
  const [by, setBy] = useState('');
  return (
    <>
      <TextInput
        size="xs"
        aria-label={t('workbench.replace')}
        placeholder={t('workbench.replace')}
        value={by}
        onChange={(event) => setBy(event.target.value)}
      />
      <Button
        size="xs"
        disabled={query === '' || !workbench.canEdit(active)}
        onClick={() => {
          replaceAll(workbench, query, by, [active]);
          onReplaced();
        }}
      >
        {t('workbench.replace.one')}
      </Button>
      <Button size="xs" disabled={query === ''} onClick={() => replaceAll(workbench, query, by)}>
        {t('workbench.replace.all')}
      </Button>
    </>
  );
}
