/**
 * Draws a code as a chip, a small label in the line of text, in the text field. `Pieces.tsx` draws the same
 * chip elsewhere.
 */
import css from '../styles/workbench.module.css';
import type { Code, CodeDescription } from '../text/pieces.ts';

export function drawChip(code: Code, { name, title, label }: CodeDescription): HTMLElement {
  const chip = document.createElement('span');
  chip.className = css.chip!;
  chip.dataset.kind = code.kind;
  chip.title = title;
  chip.setAttribute('role', 'img');
  chip.setAttribute('aria-label', label);
  // The label is written left to right in every text. Only the shape of the chip is mirrored.
  const text = document.createElement('bdi');
  text.dir = 'ltr';
  text.textContent = name;
  chip.append(text);
  return chip;
}
