/**
 * Short messages at the edge of the window, which screen readers announce. A message that needs an answer is
 * a dialog instead.
 */
import { CloseButton } from '@mantine/core';
import { IconAlertTriangle, IconCheck } from '@tabler/icons-react';
import { useSyncExternalStore } from 'react';
import { useTranslate } from '../i18n.tsx';
import css from './Toast.module.css';

interface Toast {
  id: number;
  text: string;
  tone: 'success' | 'danger';
}

const SHOWN_MILLISECONDS = 6_000;
const listeners = new Set<() => void>();
let toasts: readonly Toast[] = [];
let announced = '';
let lastId = 0;

function change(next: readonly Toast[]): void {
  toasts = next;
  for (const notify of listeners) notify();
}

function watch(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

const dismiss = (id: number) => change(toasts.filter((toast) => toast.id !== id));

/** Shows and announces a message. Success messages disappear after 6 seconds. */
export function toast(text: string, tone: Toast['tone'] = 'success'): void {
  const id = ++lastId;
  announced = text;
  change([...toasts.slice(-2), { id, text, tone }]);
  if (tone === 'success') setTimeout(() => dismiss(id), SHOWN_MILLISECONDS);
}

/** Announces a message to screen readers without showing it. */
export function announce(text: string): void {
  announced = text;
  change(toasts);
}

export function Toasts() {
  const t = useTranslate();
  const shown = useSyncExternalStore(watch, () => toasts);
  const announcement = useSyncExternalStore(watch, () => announced);
  return (
    <>
      <div className="visually-hidden" role="status" aria-live="polite">
        {announcement}
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
            <CloseButton size="sm" aria-label={t('ui.close')} onClick={() => dismiss(id)} />
          </div>
        ))}
      </div>
    </>
  );
}
