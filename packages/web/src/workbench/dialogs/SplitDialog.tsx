/** The dialog that splits a segment at the caret in its source. */
import { Button, Textarea } from '@mantine/core';
import { type KeyboardEvent, useCallback, useState } from 'react';
import { useTranslate } from '../../i18n.tsx';
import { Dialog, DialogActions } from '../../ui/Dialog.tsx';
import { isWordStart } from '../actions/selection.ts';
import { directionOf, localeOf, useWorkbench } from '../session/context.tsx';
import type { Dialog as Opened } from '../session/state.ts';
import { plainText } from '../text/pieces.ts';
import css from './dialogs.module.css';

/** Returns the start of the word at an offset, or of the next word if only white space follows. */
function wordStartAt(text: string, offset: number): number {
  let at = offset;
  while (/\s/.test(text[at] ?? '')) at++;
  while (at > 0 && at < text.length && !isWordStart(text, at)) at--;
  return at;
}

export function SplitDialog({ dialog }: { dialog: Opened & { dialog: 'split' } }) {
  const workbench = useWorkbench();
  const t = useTranslate();
  const { position } = dialog;
  const { job } = workbench.task;
  const text = plainText(workbench.segment(position).segment.source);
  const [at, setAt] = useState(() => wordStartAt(text, dialog.at));
  const attributes = { lang: localeOf(job.source_language), dir: directionOf(job.source_language) };
  const parts = [text.slice(0, at), text.slice(at)].map((part) => part.trim());
  const isDivided = isWordStart(text, at) && parts.every((part) => /\p{L}/u.test(part));
  const begin = useCallback(
    (field: HTMLTextAreaElement | null) => {
      field?.setSelectionRange(dialog.at, dialog.at);
      // A read-only field would show no caret in some browsers.
      field?.addEventListener('beforeinput', (event) => event.preventDefault());
    },
    [dialog.at],
  );

  function split(): void {
    if (!isDivided) return;
    workbench.close('dialog');
    void workbench.session.split(position, at);
  }

  function press(event: KeyboardEvent): void {
    if (event.key !== 'Enter' || event.nativeEvent.isComposing) return;
    event.preventDefault();
    split();
  }

  return (
    <Dialog opened title={t('workbench.split.title')} onClose={() => workbench.close('dialog')}>
      <Textarea
        ref={begin}
        label={t('workbench.split.place')}
        value={text}
        autosize
        maxRows={8}
        inputMode="none"
        spellCheck={false}
        translate="no"
        data-autofocus
        {...attributes}
        onChange={() => {}}
        onSelect={({ currentTarget: { selectionStart } }) => setAt(wordStartAt(text, selectionStart))}
        onKeyDown={press}
      />
      <ol className={css.parts} translate="no" {...attributes}>
        {parts.map((part, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: its number is its key
          <li key={index}>{part}</li>
        ))}
      </ol>
      <DialogActions>
        <Button onClick={() => workbench.close('dialog')}>{t('ui.cancel')}</Button>
        <Button variant="filled" disabled={!isDivided} onClick={split}>
          {t('workbench.split')}
        </Button>
      </DialogActions>
    </Dialog>
  );
}
