/** Short news at the edge of the window, read out politely. What needs an answer is a dialog or stands in the page. */
import { CloseButton } from '@mantine/core';
import { IconAlertTriangle, IconCheck } from '@tabler/icons-react';
import { useSyncExternalStore } from 'react';
import { useSay } from '../words.tsx';
import css from './Toast.module.css';

interface Toast {
  id: number;
  text: string;
  tone: 'success' | 'danger';
}

const SHOWN_MILLISECONDS = 6_000;
const listeners = new Set<() => void>();
let toasts: readonly Toast[] = [];
let spoken = '';
let last = 0;

function change(next: readonly Toast[]): void {
  toasts = next;
  for (const tell of listeners) tell();
}

function watch(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

const dismiss = (id: number) => change(toasts.filter((toast) => toast.id !== id));

/** Shows a sentence for a while, and has it read out. Callable from anywhere. */
export function toast(text: string, tone: Toast['tone'] = 'success'): void {
  const id = ++last;
  spoken = text;
  change([...toasts.slice(-2), { id, text, tone }]);
  if (tone === 'success') setTimeout(() => dismiss(id), SHOWN_MILLISECONDS);
}

/** Has a sentence read out that nobody needs to see. */
export function announce(text: string): void {
  spoken = text;
  change(toasts);
}

export function Toasts() {
  const say = useSay();
  const shown = useSyncExternalStore(watch, () => toasts);
  const heard = useSyncExternalStore(watch, () => spoken);
  return (
    <>
      <div className="visually-hidden" role="status" aria-live="polite">
        {heard}
      </div>
      <div className={css.toasts}>
        {shown.map(({ id, text, tone }) => (
          <div key={id} className={css.toast} data-tone={tone}>
            {tone === 'success' ? (
              <IconCheck size={18} aria-hidden />
            ) : (
              <IconAlertTriangle size={18} aria-hidden />
            )}
            <span>{text}</span>
            <CloseButton size="sm" aria-label={say('ui.close')} onClick={() => dismiss(id)} />
          </div>
        ))}
      </div>
    </>
  );
}
