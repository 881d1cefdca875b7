/** The button and the shortcut (Ctrl+K, on a Mac ⌘K) that open the command palette of operators. */
import { Button } from '@mantine/core';
import { IconSearch } from '@tabler/icons-react';
import { type ComponentType, useCallback, useEffect, useState } from 'react';
import type { PaletteProps } from './console/Palette.tsx';
import { useTranslate } from './i18n.tsx';
import css from './SignedInLayout.module.css';
import { loadChunk } from './upgrade.ts';

const loadPalette = () => import('./console/Palette.tsx');
const SHORTCUT = /Mac|iP/.test(navigator.platform) ? '⌘K' : 'Ctrl+K';

export function CommandPalette(props: Pick<PaletteProps, 'pages' | 'onChoose'>) {
  const t = useTranslate();
  const [{ opened, openings }, setState] = useState({ opened: false, openings: 0 });
  const [Palette, setPalette] = useState<ComponentType<PaletteProps>>();
  const open = useCallback(
    () => setState((state) => (state.opened ? state : { opened: true, openings: state.openings + 1 })),
    [],
  );
  const close = useCallback(() => setState((state) => ({ ...state, opened: false })), []);
  useEffect(() => {
    // The code is loaded ahead, so that no letter that is typed after the shortcut is lost.
    loadPalette().then(
      (loaded) => setPalette(() => loaded.default),
      () => {},
    );
  }, []);
  useEffect(() => {
    if (!opened || Palette !== undefined) return;
    loadChunk(loadPalette).then((loaded) => setPalette(() => loaded.default), close);
  }, [opened, Palette, close]);
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (!isShortcut(event)) return;
      // Firefox would move the focus to its own search field.
      event.preventDefault();
      // Another open dialog may have unsaved input.
      if (document.querySelector('[aria-modal="true"]:not(:has([data-palette]))') === null) open();
    };
    document.addEventListener('keydown', press);
    return () => document.removeEventListener('keydown', press);
  }, [open]);
  return (
    <>
      <Button
        classNames={{ root: css.search!, label: css.searchLabel! }}
        leftSection={<IconSearch size={16} aria-hidden />}
        rightSection={<kbd>{SHORTCUT}</kbd>}
        onClick={open}
      >
        {t('palette.open')}
      </Button>
      {Palette !== undefined && <Palette {...props} opened={opened} opening={openings} onClose={close} />}
    </>
  );
}

/** A keyboard without Latin letters has another letter on the key K. */
function isShortcut({ key, code, ctrlKey, metaKey, altKey, shiftKey }: KeyboardEvent): boolean {
  if (altKey || shiftKey || ctrlKey === metaKey) return false;
  return key.toLowerCase() === 'k' || (code === 'KeyK' && !/^[a-z]$/i.test(key));
}
