import { Button, Textarea } from '@mantine/core';
import { useEffect, useRef, useState } from 'react';
import { useTranslate } from '../../i18n.tsx';
import { FailureNotice } from '../../ui/Failure.tsx';
import { When } from '../../ui/When.tsx';
import { hintOf } from '../actions/keys.ts';
import { mac, usePage, useSegment, useWorkbench } from '../session/context.tsx';
import shared from '../styles/workbench.module.css';
import css from './panel.module.css';
import { Section } from './Section.tsx';

export function Comments({ position }: { position: number }) {
  const workbench = useWorkbench();
  const t = useTranslate();
  useSegment(position);
  const commenting = usePage((page) => page.commenting);
  const [text, setText] = useState(() => workbench.unsentComments.get(position) ?? '');
  const [sending, setSending] = useState(false);
  const [error, setError] = useState<Error>();
  const field = useRef<HTMLTextAreaElement>(null);
  useEffect(() => {
    if (commenting) field.current?.focus();
  }, [commenting]);
  const here = workbench.comments.filter((one) => one.position === position || one.position === undefined);
  function write(written: string): void {
    setText(written);
    workbench.unsentComments.set(position, written);
  }
  async function send(): Promise<void> {
    if (text.trim() === '' || sending) return;
    setSending(true);
    setError(undefined);
    // The focus moves at once, because text typed after the comment belongs to the translation.
    workbench.focusActive();
    workbench.unsentComments.delete(position);
    try {
      await workbench.session.comment(text.trim(), position);
      setText('');
    } catch (failed) {
      setError(failed as Error);
      workbench.unsentComments.set(position, text);
      // If the editor has moved to another segment, the error below is not visible, so a notice is shown.
      if (workbench.page.active !== position)
        workbench.update({ notice: { type: 'comment-unsent', number: workbench.numberOf(position) } });
    } finally {
      setSending(false);
    }
  }
  return (
    <Section
      title={t('workbench.comments')}
      extra={
        !commenting && (
          <Button
            size="compact-xs"
            variant="subtle"
            title={hintOf('comment', mac).join('+')}
            onClick={() => workbench.update({ commenting: true })}
          >
            {t('workbench.comments.write')}
          </Button>
        )
      }
    >
      {here.length === 0 && !commenting && <p className={shared.muted}>{t('workbench.comments.none')}</p>}
      <ul className={css.comments}>
        {here.map((comment) => (
          <li key={comment.comment} className={css.card}>
            <p dir="auto">{comment.text}</p>
            <small className={shared.muted}>
              {comment.by} · <When at={comment.created_at} />
              {comment.position === undefined && ` · ${t('workbench.comments.job')}`}
            </small>
          </li>
        ))}
      </ul>
      {commenting && (
        <div className={css.write}>
          <Textarea
            ref={field}
            data-field="comment"
            aria-label={t('workbench.comments.text')}
            autosize={false}
            rows={3}
            maxLength={2000}
            readOnly={sending}
            value={text}
            onChange={(event) => write(event.target.value)}
            onKeyDown={(event) => {
              if (event.nativeEvent.isComposing) return;
              if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) void send();
              if (event.key === 'Escape') {
                workbench.update({ commenting: false });
                workbench.focusActive();
              }
            }}
          />
          {error && <FailureNotice error={error} />}
          <Button size="xs" loading={sending} onClick={() => void send()}>
            {t('workbench.comments.send')}
          </Button>
        </div>
      )}
    </Section>
  );
}
