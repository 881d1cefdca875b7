import { Button } from '@mantine/core';
import type { ReactNode } from 'react';
import { useTranslate } from '../../i18n.tsx';
import { Dialog, DialogActions } from '../../ui/Dialog.tsx';
import { directionOf, localeOf, useWorkbench } from '../session/context.tsx';
import shared from '../styles/workbench.module.css';
import { diff, type Part } from '../text/diff.ts';
import { Chip } from '../text/Pieces.tsx';
import { type Code, codeOf, keyOf, type Piece } from '../text/pieces.ts';
import css from './dialogs.module.css';

/**
 * Shows the editor's and the server's text of a segment. The editor chooses one of them, or combines both.
 */
export function Conflict({ position }: { position: number }) {
  const workbench = useWorkbench();
  const t = useTranslate();
  const { job } = workbench.task;
  const { target } = workbench.segment(position);
  const theirs = workbench.serverVersion(position);
  if (!theirs) return null;
  const language = { lang: localeOf(job.target_language), dir: directionOf(job.target_language) };
  const codes = new SignedCodes();
  const parts = diff(codes.write(theirs.target), codes.write(target), language.lang);
  const draw = (text: string) =>
    codes
      .read(text)
      .map((part) =>
        typeof part === 'string' ? (
          part
        ) : (
          <Chip key={keyOf(part)} code={part} {...workbench.describeCode(position, part)} />
        ),
      );
  return (
    <Dialog
      opened
      wide
      title={t('workbench.conflict.title', { number: workbench.numberOf(position) })}
      onClose={() => workbench.close('dialog')}
    >
      <p>{t('workbench.conflict.text')}</p>
      <div className={css.versions}>
        <section>
          <h3>{t('workbench.conflict.mine')}</h3>
          <p {...language} translate="no" className={shared.diff}>
            <Version parts={parts} without="removed" draw={draw} />
          </p>
          <Button data-autofocus onClick={() => workbench.resolve(position, target)}>
            {t('workbench.conflict.take_mine')}
          </Button>
        </section>
        <section>
          <h3>{t('workbench.conflict.theirs')}</h3>
          <p {...language} translate="no" className={shared.diff}>
            <Version parts={parts} without="added" draw={draw} />
          </p>
          <Button onClick={() => workbench.resolve(position, theirs.target)}>
            {t('workbench.conflict.take_theirs')}
          </Button>
        </section>
      </div>
      <DialogActions>
        <Button onClick={() => workbench.resolve(position, [...theirs.target, { text: ' ' }, ...target])}>
          {t('workbench.conflict.merge')}
        </Button>
      </DialogActions>
    </Dialog>
  );
}

interface VersionProps {
  parts: readonly Part[];
  without: 'added' | 'removed';
  draw: (text: string) => ReactNode;
}

/** One of two texts, with its difference from the other. */
function Version({ parts, without, draw }: VersionProps) {
  let at = 0;
  return parts
    .filter(({ change }) => change !== without)
    .map(({ text, change }) => {
      at += text.length;
      if (change === 'added') return <ins key={at}>{draw(text)}</ins>;
      if (change === 'removed') return <del key={at}>{draw(text)}</del>;
      return <span key={at}>{draw(text)}</span>;
    });
}

/** Writes each code as one private-use character, so that a moved tag is a difference of two texts. */
class SignedCodes {
  readonly #codes: Code[] = [];

  write(pieces: readonly Piece[]): string {
    return pieces
      .map((piece) => {
        const code = codeOf(piece);
        if (!code) return (piece as { text: string }).text;
        let at = this.#codes.findIndex((one) => keyOf(one) === keyOf(code));
        if (at === -1) at = this.#codes.push(code) - 1;
        return String.fromCodePoint(FIRST_SIGN + at);
      })
      .join('');
  }

  /** Converts a text that `write` returned back to characters and codes. */
  read(text: string): (string | Code)[] {
    return [...text].map((sign) => this.#codes[sign.codePointAt(0)! - FIRST_SIGN] ?? sign);
  }
}

/** The first code point of Supplementary Private Use Area-A. */
const FIRST_SIGN = 0xf0000;
