/** Adds documents: files that are chosen or dropped anywhere on the page, and pasted texts. */
import { Button, Textarea } from '@mantine/core';
import { IconFileUpload } from '@tabler/icons-react';
import { useEffect, useRef, useState } from 'react';
import { useIntl } from 'react-intl';
import type { DocumentOptions } from '../api/generated.ts';
import { useTranslate } from '../i18n.tsx';
import { addFiles, addText } from './document-list.ts';
import css from './Translate.module.css';

export function AddDocuments({ options }: { options: DocumentOptions }) {
  const t = useTranslate();
  const input = useRef<HTMLInputElement>(null);
  const [text, setText] = useState('');
  const isDragged = useDrop((files) => void addFiles(files, options));
  const extensions = options.formats.flatMap((one) => one.extensions);
  return (
    <div className={css.add}>
      <div className={css.drop} data-dragged={isDragged}>
        <IconFileUpload size={28} aria-hidden />
        <p className={css.call}>{t('account.translate.drop')}</p>
        <Button variant="filled" onClick={() => input.current?.click()}>
          {t('account.translate.choose')}
        </Button>
        <p className={css.hint}>
          <FileTypes options={options} />
        </p>
        <input
          ref={input}
          hidden
          type="file"
          multiple
          accept={extensions.map((one) => `.${one}`).join()}
          onChange={({ currentTarget }) => {
            void addFiles([...(currentTarget.files ?? [])], options);
            // An input with a value fires no event when the user chooses the same file again.
            currentTarget.value = '';
          }}
        />
      </div>
      <form
        className={css.paste}
        onSubmit={(event) => {
          event.preventDefault();
          if (text.trim() === '') return;
          addText(text);
          setText('');
        }}
      >
        <Textarea
          label={t('account.translate.paste')}
          rows={4}
          dir="auto"
          value={text}
          onChange={(event) => setText(event.currentTarget.value)}
        />
        <Button type="submit" disabled={text.trim() === ''}>
          {t('account.translate.add')}
        </Button>
      </form>
    </div>
  );
}

/** Names the accepted types of files and the size limit. */
function FileTypes({ options }: { options: DocumentOptions }) {
  const t = useTranslate();
  const size = useSizeLimit();
  const types = options.formats.map(({ extensions }) => `.${extensions[0]}`).join(', ');
  // The Unicode isolate keeps each dot before its extension in right-to-left text.
  return t('account.translate.types', { types: `\u2066${types}\u2069`, size: size(options) });
}

/** Returns the function that writes the size limit of a file as text. */
export function useSizeLimit(): (options: Pick<DocumentOptions, 'max_bytes'>) => string {
  const intl = useIntl();
  return ({ max_bytes }) =>
    intl.formatNumber(max_bytes / 1024 ** 2, { style: 'unit', unit: 'megabyte', maximumFractionDigits: 1 });
}

/** Accepts files that are dropped anywhere on the page. Returns whether files are dragged over it. */
function useDrop(onDrop: (files: File[]) => void): boolean {
  const [isDragged, setDragged] = useState(false);
  const take = useRef(onDrop);
  useEffect(() => {
    take.current = onDrop;
  });
  useEffect(() => {
    const isFile = ({ dataTransfer }: DragEvent) => dataTransfer?.types.includes('Files') ?? false;
    const over = (event: DragEvent) => {
      if (!isFile(event)) return;
      // By default, the browser would open the dropped file instead of the page.
      event.preventDefault();
      setDragged(true);
    };
    const leave = ({ relatedTarget }: DragEvent) => relatedTarget === null && setDragged(false);
    const drop = (event: DragEvent) => {
      if (!isFile(event)) return;
      event.preventDefault();
      setDragged(false);
      take.current([...event.dataTransfer!.files]);
    };
    addEventListener('dragover', over);
    addEventListener('dragleave', leave);
    addEventListener('drop', drop);
    return () => {
      removeEventListener('dragover', over);
      removeEventListener('dragleave', leave);
      removeEventListener('drop', drop);
    };
  }, []);
  return isDragged;
}
