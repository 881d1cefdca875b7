/** A chip as an element. `Pieces.tsx` draws the same where nothing is edited. */
import { type Code, labelOf } from './pieces.ts';
import css from './workbench.module.css';

/** @param said `title`: what it stands for; `label`: what it is called by whoever cannot see it. */
export function drawChip(code: Code, said: { title: string; label: string }): HTMLElement {
  const chip = document.createElement('span');
  chip.className = css.chip!;
  chip.dataset.kind = code.kind;
  chip.title = said.title;
  chip.setAttribute('role', 'img');
  chip.setAttribute('aria-label', said.label);
  // The name reads from left to right in any text; the shape is mirrored with the text that it stands in.
  const name = document.createElement('bdi');
  name.dir = 'ltr';
  name.textContent = labelOf(code);
  chip.append(name);
  return chip;
}
