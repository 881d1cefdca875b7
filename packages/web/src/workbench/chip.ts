/** Draws a code as a chip in the editor. `Pieces.tsx` draws the same outside it. */
import { type Code, type CodeDescription, labelOf } from './pieces.ts';
import css from './workbench.module.css';

export function drawChip(code: Code, { title, label }: CodeDescription): HTMLElement {
  const chip = document.createElement('span');
  chip.className = css.chip!;
  chip.dataset.kind = code.kind;
  chip.title = title;
  chip.setAttribute('role', 'img');
  chip.setAttribute('aria-label', label);
  // The label is left to right in any text; only the chip's shape is mirrored.
  const name = document.createElement('bdi');
  name.dir = 'ltr';
  name.textContent = labelOf(code);
  chip.append(name);
  return chip;
}
