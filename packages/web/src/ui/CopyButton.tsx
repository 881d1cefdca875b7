import { ActionIcon, Tooltip } from '@mantine/core';
import { IconCheck, IconCopy } from '@tabler/icons-react';
import { useEffect, useState } from 'react';
import { useSay } from '../words.tsx';
import css from './Copy.module.css';
import { announce, toast } from './Toast.tsx';

const SHOWN_MILLISECONDS = 2_000;

/** @param what its name, for those who do not see what stands beside the button */
export function CopyButton({ text, what }: { text: string; what: string }) {
  const say = useSay();
  const [copied, setCopied] = useState(false);
  useEffect(() => {
    if (!copied) return;
    const timer = setTimeout(() => setCopied(false), SHOWN_MILLISECONDS);
    return () => clearTimeout(timer);
  }, [copied]);
  async function copy(): Promise<void> {
    if (!(await copyText(text))) return toast(say('ui.copy_failed'), 'danger');
    setCopied(true);
    announce(say('ui.copied', { what }));
  }
  return (
    <Tooltip label={say('ui.copy')}>
      <ActionIcon size={32} aria-label={say('ui.copy_what', { what })} onClick={() => void copy()}>
        {copied ? <IconCheck size={16} /> : <IconCopy size={16} />}
      </ActionIcon>
    </Tooltip>
  );
}

/** Without https the browser has no clipboard for pages; a selection can be copied everywhere. */
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

/** Something to be copied, in one line. */
export function CopyLine({ text, what }: { text: string; what: string }) {
  return (
    <div className={css.line}>
      <code dir="ltr">{text}</code>
      <CopyButton text={text} what={what} />
    </div>
  );
}

/** Several lines to be pasted somewhere. */
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
