import { ActionIcon, Tooltip } from '@mantine/core';
import { IconCheck, IconCopy } from '@tabler/icons-react';
import { useEffect, useState } from 'react';
import { useTranslate } from '../i18n.tsx';
import css from './Copy.module.css';
import { announce, toast } from './Toast.tsx';

const SHOWN_MILLISECONDS = 2_000;

/** A button that copies a text. @param what the name of the copied text, for screen readers */
export function CopyButton({ text, what }: { text: string; what: string }) {
  const t = useTranslate();
  const [copied, setCopied] = useState(false);
  useEffect(() => {
    if (!copied) return;
    const timer = setTimeout(() => setCopied(false), SHOWN_MILLISECONDS);
    return () => clearTimeout(timer);
  }, [copied]);
  async function copy(): Promise<void> {
    if (!(await copyText(text))) return toast(t('ui.copy_failed'), 'danger');
    setCopied(true);
    announce(t('ui.copied', { what }));
  }
  return (
    <Tooltip label={t('ui.copy')}>
      <ActionIcon size={32} aria-label={t('ui.copy_what', { what })} onClick={() => void copy()}>
        {copied ? <IconCheck size={16} /> : <IconCopy size={16} />}
      </ActionIcon>
    </Tooltip>
  );
}

/**
 * Copies a text. Where the Clipboard API is missing, because browsers offer it only over https, the text is
 * selected and copied.
 */
async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const field = document.createElement('textarea');
    field.value = text;
    field.className = 'visually-hidden';
    document.body.append(field);
    field.select();
    const done = document.execCommand('copy');
    field.remove();
    return done;
  }
}

/** A line of text with a button that copies it. */
export function CopyLine({ text, what }: { text: string; what: string }) {
  return (
    <div className={css.line}>
      <code dir="ltr">{text}</code>
      <CopyButton text={text} what={what} />
    </div>
  );
}

/** A block of lines with a button that copies them. */
export function CopyBlock({ text, what }: { text: string; what: string }) {
  return (
    <figure className={css.block} aria-label={what}>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, also by keyboard */}
      <pre dir="ltr" tabIndex={0}>
        {text}
      </pre>
      <CopyButton text={text} what={what} />
    </figure>
  );
}
